import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// Which claimed files become active.
@Suite struct FileIntakeTests {
  /// The claims are those of the ledger; only what the engine does with them is its own.
  private func take(_ run: RunFixture) throws {
    run.loop.intake.claimed(.success(try run.claim()))
    run.settle()
  }

  @Test func aClaimedFileIsSent() throws {
    let run = try RunFixture()
    try run.add("a")
    try take(run)
    #expect(run.server.received == ["http://one/a"])
  }

  @Test func aClaimThatFailsEndsTheRun() throws {
    let run = try RunFixture()
    let error = TransferError(.storeIO, "claim", cause: "I/O error")
    run.loop.intake.claimed(.failure(error))
    #expect(run.loop.stop.sequence.fatal == error)
  }

  @Test func aBatchThatCannotBeSetUpDelaysNoOther() throws {
    let run = try RunFixture()
    let batch = try run.add("a", to: "unusable")
    try run.add("b")
    try take(run)
    #expect(run.loop.batches.blocked.mapValues(\.kind) == [batch: .config])
    #expect(try run.states() == ["pending", "active"] && run.server.received == ["http://one/b"])
    #expect(!run.loop.stop.isStopping)
  }

  @Test func nothingBeginsOnceTheRunStops() throws {
    let run = try RunFixture()
    try run.add("a")
    run.loop.shutdown.ask(.drain)
    try take(run)
    #expect(try run.states() == ["pending"] && run.server.received.isEmpty)
  }

  @Test func aFileOfAPausingHostWaitsForTheEndOfThePause() throws {
    let run = try RunFixture()
    try run.add("a")
    try take(run)
    run.answer(503)
    try run.add("b")
    try take(run)
    #expect(try run.states() == ["pending http.503", "pending"] && run.server.received.count == 1)
    #expect(try run.dueInMs() == 3_600_000)
  }

  /// A process with few descriptors has 16 files open.
  @Test func noMoreFilesBecomeActiveThanMayBeOpen() throws {
    let run = try RunFixture { $0.openFileLimit = 100 }
    try run.add((0..<20).map { "f\($0)" })
    try take(run)
    #expect(run.loop.files.count == 16 && !run.loop.intake.mayClaim)
    #expect(try run.states().count { $0 == "pending" } == 4)
  }

  /// It was blocked while the claim ran.
  @Test func aFileOfABlockedBatchIsReleased() throws {
    let run = try RunFixture()
    let batch = try run.add("a")
    let files = try run.claim()
    run.loop.outcomes.block(batch, TransferError(.auth, "read the credentials", cause: "there are none"))
    run.loop.intake.claimed(.success(files))
    run.settle()
    #expect(try run.states() == ["pending"] && run.server.received.isEmpty && run.loop.files.isEmpty)
  }

  @Test func aRunThatOnlyAbortsClaimsNothing() throws {
    let run = try RunFixture { $0.claimsFiles = false }
    try run.add("a")
    run.settle()
    #expect(try run.states() == ["pending"] && !run.loop.intake.mayClaim)
  }
}
