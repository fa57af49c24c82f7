import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// The active files.
@Suite struct FilesInWorkTests {
  /// A claimed file whose only body may be sent again in `ms`.
  private func waiting(ms: Int64, _ run: RunFixture) throws -> FileWork {
    let destination = try run.loop.batches.destination(of: try run.add("a"))
    var claimed = try #require(try run.claim().first)
    claimed.waitingUntil = [run.clock.wallMs + ms]
    return FileWork(claimed, to: destination, run.engine, isLossy: false)
  }

  @Test func filesAndRequestsCountForTheirHostUntilTheyEnd() throws {
    let run = try RunFixture()
    try run.add("a", "b")
    run.settle()
    let host = run.loop.hosts.host("one")
    #expect(run.loop.files.count == 2 && host.files == 2 && host.requests == 2)
    run.answer(201)
    #expect(run.loop.files.count == 1 && host.files == 1 && host.requests == 1)
    run.answer(403)
    #expect(run.loop.files.isEmpty && host.files == 0 && host.requests == 0)
  }

  /// After a crash there is then no doubt about requests that were never sent.
  @Test func unrepeatableRequestsAreBegunWhenAConnectionIsFree() throws {
    let names = (0..<6).map { "f\($0)" }
    let (run, once) = (try RunFixture(), try RunFixture())
    try run.add(names)
    try once.add(names, to: "once")
    run.settle()
    once.settle()
    #expect(run.loop.requests.all.count == 6 && once.loop.requests.all.count == 4)
    once.answer(201)
    #expect(once.loop.requests.all.count == 4 && once.server.received.count == 5)
  }

  @Test func aFileThatOnlyWaitsForLongWaitsInTheLedger() throws {
    let run = try RunFixture()
    run.loop.files.add(try waiting(ms: 5_000, run))
    #expect(run.loop.files.waitingCount == 1 && run.loop.files.waitMs(nowMs: run.clock.wallMs) == 5_000)
    run.settle()
    #expect(run.loop.files.isEmpty && run.loop.files.waitingCount == 0)
    #expect(try run.states().map { $0.prefix(7) } == ["pending"])
    #expect(try run.dueInMs() == 5_000)
  }

  @Test func aFileThatIsDueSoonStaysActive() throws {
    let run = try RunFixture()
    run.loop.files.add(try waiting(ms: 1_500, run))
    run.settle()
    #expect(run.loop.files.count == 1 && run.server.received.isEmpty)
    run.clock.advance(ms: 1_500)
    run.settle()
    #expect(run.server.received == ["http://one/a"])
  }

  /// The remaining space of the disk is for results: the next run releases the file.
  @Test func aForgottenFileStaysAsItIsInTheLedger() throws {
    let run = try RunFixture()
    run.loop.files.add(try waiting(ms: 1_500, run))
    run.settle()
    run.loop.files.forget(FileID(rawValue: 1))
    #expect(run.loop.files.isEmpty && run.loop.hosts.host("one").files == 0 && run.loop.files.waitingCount == 0)
    run.settle()
    #expect(try run.states() == ["active"])
  }

  @Test func aFileThatTheLedgerRefusedFailsWithTheReason() throws {
    let run = try RunFixture()
    let work = try waiting(ms: 1_500, run)
    run.loop.files.add(work)
    run.settle()
    work.refusal = "it was refused"
    run.loop.files.endRefused(work)
    run.settle()
    #expect(run.loop.files.isEmpty && run.loop.hosts.host("one").files == 0)
    #expect(try run.states().map { $0.prefix(6) } == ["failed"])
    let reasons = run.notices.compactMap { if case .failed(_, let failure) = $0 { failure.message } else { nil } }
    #expect(reasons == ["it was refused"])
  }
}
