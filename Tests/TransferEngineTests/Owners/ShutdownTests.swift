import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// How a stop is performed.
@Suite struct ShutdownTests {
  private func drainings(_ run: RunFixture) -> [Int] {
    run.notices.compactMap { if case .draining(let requests) = $0 { requests } else { nil } }
  }

  @Test func aDrainWaitsForRunningRequestsUntilItsTimeIsOver() throws {
    let run = try RunFixture { $0.drainMs = 30_000 }
    try run.add("a", "b")
    run.settle()
    #expect(run.server.waiting == 2)
    run.loop.shutdown.ask(.drain)
    run.settle()
    #expect(run.server.waiting == 2 && drainings(run) == [2])
    run.answer(201)
    #expect(try run.states().sorted() == ["active", "done"])
    run.clock.advance(ms: 30_000)
    run.settle()
    #expect(run.server.waiting == 0, "the other one is interrupted")
    #expect(try run.states().sorted() == ["done", "pending"])
    #expect(try run.attempts().sorted() == ["part interrupted engine.interrupted", "part ok"])
    #expect(try run.loop.end.isReached())
    #expect(run.loop.stop.cause == .drained)
  }

  /// Four connections and six files: two requests are prepared and never sent.
  @Test func requestsThatWaitForAConnectionAreReleasedUnsent() throws {
    let run = try RunFixture()
    try run.add("a", "b", "c", "d", "e", "f")
    run.settle()
    #expect(run.server.waiting == 4)
    run.loop.shutdown.ask(.drain)
    run.settle()
    #expect(try run.states().sorted() == ["active", "active", "active", "active", "pending", "pending"])
    for _ in 0..<4 { run.answer(201) }
    #expect(run.server.received.count == 4)
    #expect(try run.states().sorted() == ["done", "done", "done", "done", "pending", "pending"])
  }

  @Test func anImmediateStopInterruptsThem() throws {
    let run = try RunFixture()
    try run.add("a")
    run.settle()
    run.loop.shutdown.ask(.drain)
    run.loop.shutdown.ask(.now)
    run.loop.shutdown.ask(.drain)
    run.settle()
    #expect(run.server.waiting == 0 && run.loop.stop.cause == .interrupted)
    #expect(try run.states() == ["pending"])
    #expect(drainings(run).count == 1, "a weaker stop afterwards changes nothing")
  }

  @Test func filesOfUnreachableHostsAreLeft() throws {
    let run = try RunFixture()
    run.loop.shutdown.giveUp(on: ["one"])
    #expect(run.loop.stop.sequence.level == .drain && run.loop.stop.cause == .unreachable)
    #expect(run.loop.tally.end(run.loop.stop.cause).unreachable == ["one"])
  }

  @Test func theFirstTroubleWithTheDiskDrainsTheRun() throws {
    let run = try RunFixture()
    try run.add("a")
    run.settle()
    let full = TransferError(.storeFull, "write", cause: "disk is full")
    run.loop.shutdown.diskTroubled(full)
    run.loop.shutdown.diskTroubled(TransferError(.storeIO, "write", cause: "I/O error"))
    #expect(run.loop.stop.sequence.diskTrouble == full)
    #expect(run.notices.count { if case .diskTrouble = $0 { true } else { false } } == 1)
    run.settle()
    #expect(run.server.waiting == 1, "its result is recorded when there is space again")
    run.answer(201)
    #expect(try run.states() == ["done"])
  }

  /// The rows belong to another run now: nothing is released, and only the connections end.
  @Test func withoutItsLedgerTheRunOnlyEndsItsRequests() throws {
    let run = try RunFixture()
    try run.add("a")
    run.settle()
    run.loop.stop.fail(TransferError(.leaseLost, "write", cause: "another engine has the ledger"))
    run.loop.shutdown.goOn()
    #expect(run.server.waiting == 0)
    #expect(run.loop.files.all.values.allSatisfy { $0.machine.ending == nil } && run.loop.commits.isEmpty)
    #expect(try run.states() == ["active"])
  }
}
