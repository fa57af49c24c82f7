import Testing
import TransferModel

@testable import TransferLedger

/// An abort is no attempt to transfer its file.
@Suite struct AbortTryTests {
  private let f: LedgerFixture

  init() throws { f = try LedgerFixture() }

  /// A file that is done after one request. Its first session was given up, and aborted with two requests.
  private func send() throws {
    let file = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "up", expiresAtMs: nil)
      try tx.giveUpSession(file, run)
      let work = try #require(try tx.claimAborts(run, limit: 1).first)
      let again = try tx.nextAbort(work, run, after: result(.retry))
      try tx.endAbort(again, run, ok, .aborted)
      try tx.sendAll(file, run)
      _ = try tx.completeFile(file, run, proof)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  private func found(_ counts: ClosedRange<Int64>) throws -> Int {
    var filter = RowFilter()
    filter.attemptCount = counts
    return try f.ledger.read { try $0.files(filter, after: 0, limit: 10).count }
  }

  private func tries() throws -> [Int64] {
    try f.ledger.read { try $0.files(RowFilter(), after: 0, limit: 10).map(\.attempts) }
  }

  @Test func itIsNeitherATryNorARetry() throws {
    try send()
    #expect(
      try f.texts("SELECT operation, outcome FROM attempt ORDER BY id") == ["abort retry", "abort ok", "part ok"])
    #expect(try tries() == [1])
    #expect(try found(1...1) == 1 && found(2...10) == 0)
    var windowed = RowFilter()
    windowed.untilMs = .max
    for filter in [RowFilter(), windowed] {
      #expect(try f.ledger.read { try $0.retries(filter) }.retries == 0)
    }
  }

  @Test func itCountsInNoFigureOfAttempts() throws {
    try send()
    let figures = try AttemptFigures(f.ledger)
    #expect(figures.counts == [[1, 0, 0]] && figures.batchRetries == [0])
    let row = try #require(try f.ledger.read { try $0.attemptSumRows(of: 0) }.first)
    #expect(row.counts == [1, 0, 0, 0, 0, 0])
  }

  @Test func aPruneDoesNotCountItEither() throws {
    try send()
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.prune(before: f.clock.wallMs)
    #expect(try f.texts("SELECT attempts FROM pruned_file") == ["1"])
    #expect(try f.texts("SELECT sum(attempts), sum(ok), sum(after_end) FROM v_pruned") == ["3 1 2"])
    let figures = try AttemptFigures(f.ledger)
    #expect(figures.counts == [[1, 0, 0]] && figures.batchRetries == [0])
    #expect(try tries() == [1])
    #expect(try found(1...1) == 1 && found(2...10) == 0)
    #expect(try f.findings() == [])
  }

  /// A download that failed: nothing of it is on the server.
  private func failDownload(_ run: RunID) throws -> AbortWork {
    let (file, _, attempt) = try f.beginDownload(run)
    return try f.ledger.write { tx in
      _ = try tx.closeAttempt(attempt, run, result(.fatal))
      _ = try tx.failFile(file, run, code: .http403, message: "no", keepsSession: false)
      return try #require(try tx.claimAborts(run, limit: 1).first)
    }
  }

  @Test func theRemovalOfAPartialFileIsNoRequest() throws {
    let run = try f.startRun()
    let work = try failDownload(run)
    #expect(work.direction == .download && work.attempt == nil)
    try f.ledger.write { try $0.endAbort(work, run, AttemptResult(outcome: .ok), .aborted) }
    #expect(try f.texts("SELECT operation, outcome FROM attempt") == ["create fatal"])
    #expect(try f.texts("SELECT state FROM session") == ["aborted"])
    #expect(try f.findings() == [])
  }

  @Test func aRemovalThatFailsIsRecordedWithItsCause() throws {
    let run = try f.startRun()
    let work = try failDownload(run)
    let failed = AttemptResult(outcome: .fatal, code: .localIO, message: "no such folder")
    try f.ledger.write { try $0.endAbort(work, run, failed, .gone) }
    #expect(
      try f.texts("SELECT operation, outcome, message FROM attempt ORDER BY id") == [
        "create fatal cut", "abort fatal no such folder",
      ])
    #expect(try f.texts("SELECT state FROM session") == ["gone"])
    #expect(try f.findings() == [])
  }
}
