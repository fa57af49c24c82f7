import Testing
import TransferModel

@testable import TransferLedger

/// Each report by host counts an attempt at a mirror for the mirror, also where sums of batches are read instead of
/// rows.
@Suite struct MirrorSumTests {
  private let all: SumTests
  private var f: LedgerFixture { all.f }
  private static let mirrors = ["mirror:0", "mirror:1"]

  init() throws { all = try SumTests() }

  private var filters: [RowFilter] {
    let filters = [RowFilter(), .batch(BatchID(rawValue: 2))]
    return filters + filters.map(SumTests.plain)
  }

  private static func batch(_ filter: RowFilter) -> String {
    filter.withinBatches?.first.map { "f.batch_id = \($0)" } ?? "1"
  }

  /// What the rows themselves say.
  private func rows(_ expression: String, of host: String, _ filter: RowFilter) throws -> Int64 {
    let text = try f.texts(
      """
      SELECT coalesce(sum(\(expression)), 0) FROM attempt a JOIN file f ON f.id = a.file_id
      WHERE a.mirror = '\(host)' AND \(Self.batch(filter))
      """)
    return try #require(Int64(text[0]))
  }

  private func expectCosts(_ comment: Comment) throws {
    for filter in filters {
      let costs = try f.ledger.read { try $0.costs(filter) }
      for host in Self.mirrors {
        let sums = try #require(costs.hosts[host], comment)
        #expect(try sums.bytesUnacked == rows("a.bytes_transferred - a.bytes_acked", of: host, filter), comment)
        #expect(sums.serverMs > 0 && sums.connectMs > 0, comment)
        let backoff = costs.backoff[BackoffPlace(host: host, code: "http.503")]
        #expect(try backoff?.ms == rows("a.backoff_ms", of: host, filter), comment)
        #expect(try backoff?.attempts == rows("a.outcome = 'retry'", of: host, filter), comment)
      }
      let total = try f.texts(
        """
        SELECT sum(a.bytes_transferred - a.bytes_acked), sum(a.outcome = 'retry') FROM attempt a
        JOIN file f ON f.id = a.file_id WHERE a.outcome <> 'open' AND \(Self.batch(filter))
        """)
      let (bytes, retries) = (
        costs.hosts.values.reduce(0) { $0 + $1.bytesUnacked }, costs.backoff.values.reduce(0) { $0 + $1.attempts }
      )
      #expect(total == ["\(bytes) \(retries)"], comment)
    }
  }

  @Test func costsAreThoseOfTheMirror() throws {
    try expectCosts("no sums yet")
    try f.shell("UPDATE attempt SET outcome = 'interrupted', ended_at = started_at WHERE outcome = 'open'")
    try f.ledger.addUpHistory(until: { false })
    #expect(try f.texts("SELECT count(*) > 0 FROM attempt_sum") == ["1"])
    try expectCosts("everything was summed")
  }

  @Test func retriesLatenciesAndSpansAreThoseOfTheMirror() throws {
    for filter in filters {
      let retries = try f.ledger.read { try $0.retries(filter) }
      let latencies = try f.ledger.read { try $0.latencies(filter, by: .host) }
      var spans: [String: Int64] = [:]
      try f.ledger.read { try $0.attemptSpans(filter) { spans[$0.host, default: 0] += 1 } }
      let exported = try f.ledger.read { try $0.spans(filter, after: 0, limit: .max) }
      for host in Self.mirrors {
        let count = try rows("a.outcome = 'retry'", of: host, filter)
        #expect(count > 0 && retries.grid.filter { $0.host == host }.reduce(0) { $0 + $1.retries } == count)
        let ok = try rows("a.outcome = 'ok'", of: host, filter)
        #expect(ok > 0 && latencies[host]?[.attempt]?.n == ok && latencies[host]?[.chunk]?.n == ok)
        #expect(try spans[host] == rows("1", of: host, filter))
        #expect(try Int64(exported.count { $0.host == host }) == rows("1", of: host, filter))
      }
    }
  }

  /// Ranges, and what was continued after it had broken off.
  @Test func whatAMirrorAcceptedIsItsOwn() throws {
    try f.shell("DROP TRIGGER attempt_closed; DROP TRIGGER attempt_fixed")
    try f.shell("UPDATE attempt SET http_status = 206 WHERE outcome = 'ok'")
    try f.shell("UPDATE attempt SET bytes_acked = 1 WHERE outcome = 'retry'")
    for filter in filters {
      let accepted = try f.ledger.read { try $0.hostAcceptance(filter) }
      for host in Self.mirrors {
        let times = accepted.filter { $0.host == host }.map { "\($0.accepted) \($0.times)" }
        let ok = try rows("a.outcome = 'ok'", of: host, filter)
        #expect(times == ["ranges \(ok)", "resumption \(ok)"])
      }
    }
  }
}
