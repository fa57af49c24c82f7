import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// Files of hosts that accept no requests.
@Suite struct ClosedHostsTests {
  /// A run whose host `one` has asked for a pause of an hour.
  private func paused(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> RunFixture {
    let run = try RunFixture(change)
    try run.add("a")
    run.settle()
    run.answer(503)
    return run
  }

  /// A run with 20 files for a host that has refused five connections in a row.
  private func refused(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> RunFixture {
    let run = try RunFixture(change)
    try run.add((0..<20).map { "f\($0)" })
    run.settle()
    // Once the circuit breaker has opened, nothing more is sent.
    while run.server.waiting > 0, run.server.received.count < 20 { run.refuseConnection() }
    #expect(run.notices.contains { if case .circuitOpened(host: "one", forMs: _) = $0 { true } else { false } })
    return run
  }

  // MARK: - Pauses

  /// Another run would otherwise send it during the pause.
  @Test func whatWasNeverClaimedWaitsForTheEndOfThePauseToo() throws {
    let run = try paused()
    #expect(try run.states() == ["pending http.503"], "the file itself is released")
    try run.add("b")
    #expect(try run.hasReadyFiles())
    #expect(try run.loop.closed.postpone())
    run.settle()
    #expect(try !run.hasReadyFiles())
    #expect(try #require(try run.dueInMs()) >= 3_600_000)
    #expect(try !run.loop.closed.postpone(), "nothing is left to be postponed")
    #expect(run.server.received == ["http://one/a"])
  }

  @Test func filesOfOtherHostsAreNotPostponed() throws {
    let run = try paused()
    try run.add("b", to: "two")
    #expect(try !run.loop.closed.postpone())
    #expect(try run.hasReadyFiles())
  }

  /// Of batches that the run has not begun only the host is determined, and of each once, however often it looks.
  @Test func noBatchIsSetUpToBePostponed() throws {
    let run = try paused()
    for n in 0..<5 { try run.add("b\(n)") }
    try run.add("c", to: "two")
    try run.add("d", to: "unusable")
    #expect(try run.loop.closed.postpone())
    while !run.loop.commits.isIdle { run.handleArrived() }
    let ready = { try run.ledger.read { try $0.readyBatches(after: BatchID(rawValue: 0), limit: 100).count } }
    #expect(try ready() == 2, "those of the other hosts")
    try run.add("e")
    #expect(try run.loop.closed.postpone())
    while !run.loop.commits.isIdle { run.handleArrived() }
    #expect(try ready() == 2)
    #expect(try !run.loop.closed.postpone())
    #expect(run.server.setUps == (whole: 1, hosts: 8))
  }

  @Test func aPauseThatTheRunWaitsForPostponesNothing() throws {
    let run = try paused { $0.patienceMs = 7_200_000 }
    try run.add("b")
    #expect(try !run.loop.closed.postpone())
    #expect(try run.hasReadyFiles())
  }

  @Test func nothingIsWrittenWhenAStopIsOver() throws {
    let run = try paused()
    try run.add("b")
    run.loop.shutdown.ask(.now)
    #expect(try !run.loop.closed.postpone())
    #expect(try run.hasReadyFiles())
  }

  @Test func aPausingHostIsNotGivenUp() throws {
    let run = try paused { $0.breakerOpensBeforeGivingUp = 1 }
    #expect(run.loop.closed.allThatIsLeft() == nil)
  }

  // MARK: - Refused connections

  /// The others would hold capacity that files of other hosts need.
  @Test func aFewFilesOfARefusingHostStayToProbeIt() throws {
    let run = try refused()
    #expect(run.loop.files.count > HostRoom.probingFiles)
    run.loop.closed.release()
    run.settle()
    #expect(run.loop.files.count == HostRoom.probingFiles)
    #expect(try run.states().count { $0.hasPrefix("active") } == HostRoom.probingFiles)
  }

  @Test func aHostThatRefusesAllConnectionsIsGivenUp() throws {
    let run = try refused { $0.breakerOpensBeforeGivingUp = 1 }
    #expect(run.loop.closed.allThatIsLeft() == ["one"])
  }

  @Test func itIsTriedAsOftenAsConfigured() throws {
    let run = try refused { $0.breakerOpensBeforeGivingUp = 2 }
    #expect(run.loop.closed.allThatIsLeft() == nil)
    run.clock.advance(ms: HostGate.firstOpenMs)
    run.settle()
    run.refuseConnection()
    #expect(run.loop.closed.allThatIsLeft() == ["one"])
  }

  @Test func filesOfAnotherHostKeepTheRunGoing() throws {
    let run = try refused { $0.breakerOpensBeforeGivingUp = 1 }
    try run.add("b", to: "two")
    #expect(run.loop.closed.allThatIsLeft() == nil, "it is ready")
    run.settle()
    run.clock.advance(ms: 1_000)
    #expect(run.loop.closed.allThatIsLeft() == nil, "it is being sent")
  }
}
