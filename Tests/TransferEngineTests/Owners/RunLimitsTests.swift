import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// The limits of a run in time and bytes. Each file has one body of ten bytes, unless another size is given.
@Suite struct RunLimitsTests {
  private func tooLong(_ run: RunFixture) -> [Int64] {
    run.notices.compactMap { if case .tooLong(_, let size, _, _) = $0 { size } else { nil } }
  }

  @Test func theRunDrainsWhenItsTimeIsOver() throws {
    let run = try RunFixture { $0.maxDurationMs = 10_000 }
    let limits = run.loop.limits
    #expect(limits.waitMs() == 10_000)
    run.clock.advance(ms: 9_999)
    limits.apply()
    #expect(!run.loop.stop.isStopping && limits.waitMs() == 1)
    run.clock.advance(ms: 1)
    limits.apply()
    #expect(run.loop.stop.sequence.level == .drain && run.loop.stop.cause == .limit)
    #expect(limits.waitMs() == .max, "a stop has its own times")
  }

  @Test func withoutLimitsNothingEndsTheRun() throws {
    let run = try RunFixture()
    run.clock.advance(ms: 1_000_000_000)
    run.loop.limits.apply()
    #expect(!run.loop.stop.isStopping && run.loop.limits.waitMs() == .max)
  }

  /// Ten of fifteen bytes are used up: the second file does not fit into the rest.
  @Test func theRunEndsWhenNothingMoreFits() throws {
    let run = try RunFixture { $0.maxBytes = 15 }
    try run.add("a", "b")
    run.settle()
    #expect(run.server.received.count == 1)
    run.loop.limits.apply()
    #expect(!run.loop.stop.isStopping, "a running body is waited for")
    run.answer(201)
    run.loop.limits.apply()
    #expect(run.loop.stop.cause == .limit)
    run.settle()
    #expect(try run.states().sorted() == ["done", "pending"])
    try run.loop.limits.tellLeftOut()
    #expect(run.loop.limits.leavesFiles)
    #expect(tooLong(run) == [], "the next run sends it")
  }

  @Test func aFileThatNoRunWithThisLimitCanSendIsNeitherClaimedNorForgotten() throws {
    let run = try RunFixture { $0.maxBytes = 5 }
    try run.add("a")
    run.settle()
    #expect(run.loop.files.isEmpty && run.server.received.isEmpty)
    #expect(try run.loop.end.isReached())
    try run.loop.limits.tellLeftOut()
    try run.loop.limits.tellLeftOut()
    #expect(run.loop.limits.leavesFiles)
    #expect(tooLong(run) == [10], "it is reported once")
    #expect(Array(run.loop.limits.tooLong.values) == [1], "and counted once")
  }

  /// Five bytes are left: a file of ten makes room for one of five that was added after it.
  @Test func longFilesMakeRoomForOthers() throws {
    let run = try RunFixture { $0.maxBytes = 15 }
    try run.add("a", "b")
    run.settle()
    let other = try run.add("c", to: "two", size: 5)
    _ = try run.loop.batches.destination(of: other)
    run.answer(201)
    run.loop.limits.apply()
    #expect(!run.loop.stop.isStopping)
    run.settle()
    #expect(run.server.received.last == "http://two/c")
    run.answer(201)
    #expect(try run.states().sorted() == ["done", "done", "pending"])
  }

  @Test func whatIsLeftForAnotherReasonIsNotReported() throws {
    let run = try RunFixture { $0.maxBytes = 5 }
    try run.add("a")
    run.settle()
    run.loop.shutdown.ask(.drain)
    try run.loop.limits.tellLeftOut()
    #expect(!run.loop.limits.leavesFiles && tooLong(run).isEmpty)
  }
}
