import TransferModel

/// What the figures over everything cost less for: without a look at the file of each attempt.
extension LedgerReader {
  func allTotals() throws -> FileTotals {
    var totals = FileTotals(try allStates())
    totals.unverified = try db.first("SELECT count(*) FROM receipt WHERE confirmation = 'none'") { $0.int(0) } ?? 0
    let sent = try db.first("SELECT coalesce(sum(bytes_sent), 0), coalesce(sum(outcome = 'retry'), 0) FROM attempt") {
      ($0.int64(0), $0.int(1))
    }
    (totals.bytesSent, totals.retries) = sent ?? (0, 0)
    return totals
  }

  func allAttemptTotals() throws -> AttemptTotals {
    var totals = AttemptTotals()
    let outcomes = try db.rows("SELECT outcome, count(*), min(started_at), max(ended_at) FROM attempt GROUP BY outcome")
    {
      (name: $0.text(0), count: $0.int64(1), first: $0.int64OrNil(2), last: $0.int64OrNil(3))
    }
    for outcome in outcomes {
      totals.attempts += outcome.count
      totals.byOutcome[outcome.name] = outcome.count
      totals.firstMs = [totals.firstMs, outcome.first].compactMap(\.self).min()
      totals.lastMs = [totals.lastMs, outcome.last].compactMap(\.self).max()
    }
    totals.activeMs = try allActiveMs()
    totals.latency = try db.first(Self.allLatency, row: Self.latencyFigures) ?? LatencyFigures()
    return totals
  }

  /// One sort, and the islands are joined on the way.
  private func allActiveMs() throws -> Int64 {
    var sum: Int64 = 0
    var island: (start: Int64, end: Int64)?
    let sql: StaticString =
      "SELECT started_at, ended_at FROM attempt WHERE ended_at IS NOT NULL ORDER BY started_at"
    _ = try db.rows(sql) { row in
      let (start, end) = (row.int64(0), row.int64(1))
      guard let last = island, start <= last.end else {
        if let island { sum += island.end - island.start }
        return island = (start, end)
      }
      island = (last.start, max(last.end, end))
    }
    return sum + (island.map { $0.end - $0.start } ?? 0)
  }

  private static let allLatency: StaticString = """
    WITH h AS (
      SELECT total_ms x, count(*) k FROM attempt
      WHERE operation = 'part' AND outcome = 'ok' AND total_ms IS NOT NULL GROUP BY total_ms),
    c AS (SELECT x, sum(k) OVER (ORDER BY x) s, sum(k) OVER () n FROM h)
    SELECT coalesce(max(n), 0), min(CASE WHEN s * 100 >= 50 * n THEN x END),
      min(CASE WHEN s * 100 >= 95 * n THEN x END), min(CASE WHEN s * 100 >= 99 * n THEN x END), max(x) FROM c
    """
}
