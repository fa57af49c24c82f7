import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// What the end of a request means for its file.
@Suite struct RequestOutcomesTests {
  private func running(_ names: String..., to host: String = "one") throws -> RunFixture {
    let run = try RunFixture()
    try run.add(names, to: host)
    run.settle()
    return run
  }

  private func cancelAll(_ run: RunFixture) {
    for job in run.loop.requests.all.values { run.loop.outcomes.cancel(job) }
    run.settle()
  }

  @Test func aFailureThatARetryMayCureWaitsWithItsFile() throws {
    let run = try running("a")
    run.answer(500)
    #expect(try run.attempts().first == "part retry http.500")
    // Its backoff is random, and after an empty claim the next one waits for half a second.
    run.clock.advance(ms: try (run.dueInMs() ?? 0) + 500)
    run.settle()
    #expect(run.server.received == ["http://one/a", "http://one/a"])
    run.answer(201)
    #expect(try run.states() == ["done"])
    #expect(run.loop.tally.end(nil).retries == 1)
  }

  @Test func aRefusalFailsTheFile() throws {
    let run = try running("a")
    run.answer(403)
    #expect(try run.states() == ["failed http.403"])
    #expect(try run.attempts() == ["part fatal http.403"])
  }

  /// Its body may have arrived, and is sent again: that is not a failure of the file.
  @Test func anInterruptedBodyIsSentAgain() throws {
    let run = try running("a")
    cancelAll(run)
    #expect(try run.attempts().first == "part interrupted engine.interrupted")
    #expect(run.server.waiting == 1)
    run.answer(201)
    #expect(try run.states() == ["done"])
    #expect(run.loop.tally.end(nil).retries == 0)
  }

  @Test func anInterruptedBodyThatMustNotBeRepeatedIsUnknown() throws {
    let run = try running("a", to: "once")
    cancelAll(run)
    #expect(try run.attempts().map { $0.prefix(12) } == ["part unknown"])
    #expect(run.server.received.count == 1 && run.server.waiting == 0)
    #expect(try run.states()[0].hasPrefix("unknown"))
  }

  /// Four connections and five files: the fifth request was prepared, and is not sent.
  @Test func aReleasedFileLeavesWithItsUnsentRequest() throws {
    let run = try running("a", "b", "c", "d", "e")
    #expect(run.server.waiting == 4)
    let unsent = try #require(run.loop.requests.all.values.first { $0.phase == .ready })
    run.loop.outcomes.release(unsent.file, notBeforeMs: run.clock.wallMs + 60_000)
    run.settle()
    #expect(run.loop.files[unsent.file] == nil)
    #expect(try run.dueInMs() == 60_000)
    run.answer(201)
    #expect(run.server.received.count == 4, "it waits until then")
  }

  @Test func aReleasedFileMayStillComplete() throws {
    let run = try running("a")
    run.loop.outcomes.release(FileID(rawValue: 1), notBeforeMs: run.clock.wallMs + 60_000)
    run.settle()
    #expect(run.server.waiting == 1)
    #expect(try run.states() == ["active"])
    run.answer(201)
    #expect(try run.states() == ["done"])
  }

  /// Nothing has reported that the connection is dead, and the file is not at fault.
  @Test func aSleepEndsRunningRequestsWithACauseOfItsOwn() throws {
    let run = try running("a")
    run.loop.outcomes.endBySleep(ms: 60_000)
    run.settle()
    #expect(try run.attempts().first == "part interrupted engine.slept")
    #expect(run.loop.tally.end(nil).retries == 0)
  }

  @Test func aSleepEndsNoRequestThatMustNotBeRepeated() throws {
    let run = try running("a", to: "once")
    run.loop.outcomes.endBySleep(ms: 60_000)
    run.settle()
    #expect(run.server.waiting == 1)
    run.answer(201)
    #expect(try run.states() == ["done"])
  }

  @Test func aBlockedBatchReleasesItsFilesAndKeepsItsFirstError() throws {
    let run = try RunFixture()
    let (one, _) = (try run.add("a", to: "one"), try run.add("b", to: "two"))
    run.settle()
    let error = TransferError(.auth, "read the credentials", cause: "there are none")
    run.loop.outcomes.block(one, error)
    run.loop.outcomes.block(one, TransferError(.config, "read", cause: "a later reason"))
    #expect(run.loop.batches.blocked == [one: error])
    run.answer(500, from: "one")
    run.answer(201, from: "two")
    #expect(try run.states().map { $0.prefix { $0 != " " } } == ["pending", "done"], "the other batch goes on")
    #expect(run.server.received.count == 2, "nothing of it is begun again")
    #expect(try run.loop.end.isReached())
  }
}
