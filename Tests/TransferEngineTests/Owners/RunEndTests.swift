import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// When a run is finished, and why it leaves files.
@Suite struct RunEndTests {
  @Test func aRunWithoutFilesEndsAfterItsFirstClaim() throws {
    let run = try RunFixture()
    #expect(try !run.loop.end.isReached(), "nothing was claimed yet")
    run.settle()
    #expect(try run.loop.end.isReached())
    #expect(run.loop.stop.cause == nil)
  }

  @Test func whatWasAddedMeanwhileIsClaimed() throws {
    let run = try RunFixture()
    run.settle()
    try run.add("a")
    #expect(try !run.loop.end.isReached())
    run.settle()
    #expect(run.server.waiting == 1)
    #expect(try !run.loop.end.isReached(), "its request is running")
    run.answer(201)
    #expect(try run.states() == ["done"])
    #expect(try run.loop.end.isReached())
  }

  /// A pause that the server asked for, of an hour.
  @Test func whatIsDueLaterThanTheRunWaitsIsLeft() throws {
    let run = try RunFixture { $0.patienceMs = 600_000 }
    try run.add("a")
    run.settle()
    run.answer(503)
    #expect(try run.loop.end.isReached())
    #expect(run.loop.stop.cause == .notDue)
    #expect(try run.states() == ["pending http.503"])
  }

  @Test func whatIsDueSoonerIsAwaited() throws {
    let run = try RunFixture { $0.patienceMs = 7_200_000 }
    try run.add("a")
    run.settle()
    run.answer(503)
    #expect(try !run.loop.end.isReached())
    #expect(run.loop.stop.cause == nil)
    let due = try #require(try run.dueInMs())
    #expect(due >= 3_600_000)
    run.clock.advance(ms: due)
    run.settle()
    #expect(run.server.received == ["http://one/a", "http://one/a"])
  }

  @Test func aStopEndsTheRunAlthoughFilesAreReady() throws {
    let run = try RunFixture()
    try run.add("a")
    run.loop.shutdown.ask(.drain)
    #expect(try run.loop.end.isReached())
    #expect(try run.states() == ["pending"] && run.server.received.isEmpty)
  }

  /// Another run would otherwise send requests to a host that asked for a pause.
  @Test func aRunEndsAfterTheFilesOfPausingHostsArePostponed() throws {
    let run = try RunFixture()
    try run.add("a")
    run.settle()
    run.answer(503)
    try run.add("b")
    run.loop.shutdown.ask(.drain)
    #expect(try !run.loop.end.isReached(), "b is being postponed")
    run.settle()
    #expect(try !run.hasReadyFiles())
    #expect(try run.loop.end.isReached())
  }

  @Test func theReasonIsThatOfTheFilesThatAreLeft() throws {
    let run = try RunFixture()
    let end = run.loop.end
    func left(_ ready: Int, paused: Int = 0, settling: Int = 0) -> WorkLeft {
      WorkLeft(ready: ready, waiting: 0, active: 0, paused: paused, settling: settling, aborts: 0)
    }
    #expect(end.whyLeft(left(0)) == nil)
    #expect(end.whyLeft(left(0, paused: 1)) == .paused)
    #expect(end.whyLeft(left(0, settling: 1)) == .settling)
    #expect(end.whyLeft(left(0, paused: 1, settling: 1)) == .paused)
    #expect(end.whyLeft(left(1, paused: 1, settling: 1)) == nil, "ready files have no reason of their own")
  }

  /// Paused files would not have been sent anyway.
  @Test func filesThatDoNotFitAreLeftByTheLimit() throws {
    let run = try RunFixture { $0.maxBytes = 5 }
    try run.add("a")
    run.settle()
    try run.loop.limits.tellLeftOut()
    let left = WorkLeft(ready: 1, waiting: 0, active: 0, paused: 1, settling: 0, aborts: 0)
    #expect(run.loop.end.whyLeft(left) == .limit)
  }
}
