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

  /// The day of the queries has no attempt of its own.
  private func expectFigures() throws {
    let figures = try AttemptFigures(f.ledger)
    #expect(figures.counts.subtracting([[0, 0, 0]]) == [[4, 1, 1]] && figures.batchRetries == [1])
  }

  @Test func itCountsInNoFigureOfAttempts() throws {
    try expectFigures()
    let row = try #require(try f.ledger.read { try $0.attemptSumRows(of: 0) }.first)
    #expect(row.counts == [3, 1, 0, 0, 0, 0])
  }

  @Test func aPruneDoesNotCountItEither() throws {
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.prune(before: f.clock.wallMs)
    #expect(try tries() == [2, 1, 1] && found(2...10) == [1])
    #expect(try f.texts("SELECT sum(attempts), sum(retry), sum(after_end) FROM v_pruned") == ["6 1 2"])
    try expectFigures()
    #expect(try f.findings() == [])
  }
}
