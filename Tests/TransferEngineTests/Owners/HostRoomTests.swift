import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// The share of each host in the engine's capacity. Four connections: 64 requests are begun ahead.
@Suite struct HostRoomTests {
  private let run: RunFixture
  private let room: HostRoom

  init() throws {
    run = try RunFixture { $0.sessionsAtOnce = 8 }
    room = run.loop.room
  }

  /// Six files for host `one`, four of which are being sent.
  private func fill() throws {
    try run.add("a", "b", "c", "d", "e", "f")
    run.settle()
  }

  @Test func aHostThatIsAloneHasEverything() throws {
    try fill()
    #expect(room.sessionsPerHost == 8)
    #expect(room.requests(for: run.loop.hosts.host("one")) == 62, "two of them wait for a connection")
    #expect(room.claimRoom == 62 && room.fullHosts.isEmpty)
  }

  @Test func twoHostsShare() throws {
    try fill()
    try run.add("g", to: "two")
    run.clock.advance(ms: 1_000)
    run.settle()
    #expect(room.sessionsPerHost == 4)
    #expect(room.requests(for: run.loop.hosts.host("one")) == HostShares.share(of: 64, among: 2) - 2)
    #expect(room.claimRoom == HostShares.share(of: 64, among: 2) - 2, "whichever host the next file is for")
  }

  @Test func nothingIsClaimedForAPausingHost() throws {
    try run.add("a")
    run.settle()
    run.answer(503)
    _ = try run.loop.batches.destination(of: try run.add("b"))
    #expect(room.fullHosts == ["one"] && room.hostsWithoutRoom == ["one"])
    #expect(try !room.hasClaimableFiles())
    run.clock.advance(ms: 3_600_000)
    #expect(room.fullHosts.isEmpty && room.hostsWithoutRoom.isEmpty)
    #expect(try room.hasClaimableFiles())
  }

  @Test func aPausingHostLeavesItsShareToOthers() throws {
    try run.add("a")
    run.settle()
    run.answer(503)
    try run.add("g", to: "two")
    run.clock.advance(ms: 1_000)
    run.settle()
    #expect(room.sessionsPerHost == 8)
  }
}
