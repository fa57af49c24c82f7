import Testing
import TransferModel

@testable import TransferLedger

/// A query about a done file is no try of it.
@Suite struct TryTests {
  private let f: LedgerFixture

  /// Three files: the first took two requests, each of the others one. Then the first two are queried, in vain.
  init() throws {
    f = try LedgerFixture()
    try LogTests.send(f, 3)
    f.clock.advance(ms: 86_400_000)
    let run = try f.startRun()
    for file in [FileID(rawValue: 1), FileID(rawValue: 2)] {
      let attempt = try f.ledger.write { try $0.beginQuestion(file, run, .verify) }
      f.clock.advance(ms: 5)
      _ = try f.ledger.write { try $0.endQuestion(attempt, of: file, run, result(.retry), nil) }
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  private func tries() throws -> [Int64] {
    try f.ledger.read { try $0.files(RowFilter(), after: 0, limit: 10).map(\.attempts) }
  }

  private func found(_ counts: ClosedRange<Int64>) throws -> [Int64] {
    var filter = RowFilter()
    filter.attemptCount = counts
    return try f.ledger.read { try $0.files(filter, after: 0, limit: 10).map(\.id.rawValue) }
  }

  @Test func itDoesNotCountInTheAttemptsOfAFile() throws {
    #expect(try tries() == [2, 1, 1])
    #expect(try found(2...10) == [1] && found(1...1) == [2, 3] && found(3...10) == [])
  }

  @Test func itIsNoRetry() throws {
    let one = try f.ledger.read { try $0.retries(RowFilter()) }
    #expect(one.retries == 1)
    var windowed = RowFilter()
    windowed.untilMs = .max
    #expect(try f.ledger.read { try $0.retries(windowed) }.retries == 1)
  }

  /// Attempts and retries of the summary, of batches, of periods and of hosts; of everything, of the batch, and of a
  /// window, which are added up in different ways.
  private func figures() throws -> Set<[Int64]> {
    var windowed = RowFilter()
    windowed.untilMs = .max
    return try f.ledger.read { reader in
      var found: Set<[Int64]> = []
      for filter in [RowFilter(), .batch(BatchID(rawValue: 1)), windowed] {
        let flows =
          try reader.periods(.day, filter).map(\.flow) + reader.batchHistories(filter).map(\.flow)
          + reader.hosts(filter).map(\.flow)
        // The day of the queries has no attempt of its own.
        for flow in flows where flow.attempts > 0 { found.insert([flow.attempts, Int64(flow.retries)]) }
        let errors = flows.reduce(0) { $0 + Int64($1.errors) }
        #expect(errors == 3, "the one that was repeated, in three reports")
        found.insert([try reader.attemptTotals(filter).attempts, Int64(try reader.totals(filter).retries)])
      }
      let rows = try reader.batches(RowFilter(), after: 0, limit: 9, withAttempts: true)
      return found.union(rows.map { [4, Int64($0.totals.retries)] })
    }
  }

  @Test func itCountsInNoFigureOfAttempts() throws {
    #expect(try figures() == [[4, 1]])
    let row = try #require(try f.ledger.read { try $0.attemptSumRows(of: 0) }.first)
    #expect(row.counts == [3, 1, 0, 0, 0, 0])
  }

  @Test func aPruneDoesNotCountItEither() throws {
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.prune(before: f.clock.wallMs)
    #expect(try tries() == [2, 1, 1] && found(2...10) == [1])
    #expect(try f.texts("SELECT sum(attempts), sum(retry), sum(after_end) FROM v_pruned") == ["6 1 2"])
    #expect(try figures() == [[4, 1]])
    #expect(try f.findings() == [])
  }
}
