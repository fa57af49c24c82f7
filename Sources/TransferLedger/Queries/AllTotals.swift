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

  func allFailures() throws -> [FailureRow] { try db.rows(Self.allFailures, row: Self.failure) }

  static let allFailures: StaticString = """
    WITH ended AS (
      SELECT cause code, count(*) files, max(id) example, min(finished_at) first, max(finished_at) last FROM file
      WHERE state IN ('failed', 'unknown')
        AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
      GROUP BY cause),
    met AS (
      SELECT error_code code, count(*) attempts, max(id) example, min(started_at) first,
        max(coalesce(ended_at, started_at)) last
      FROM attempt WHERE error_code IS NOT NULL GROUP BY error_code)
    SELECT e.code, e.blame, e.hint, coalesce(ended.files, 0), coalesce(met.attempts, 0),
      coalesce(min(ended.first, met.first), ended.first, met.first),
      coalesce(max(ended.last, met.last), ended.last, met.last),
      coalesce(one.path, (SELECT f.path FROM attempt a JOIN file f ON f.id = a.file_id WHERE a.id = met.example)),
      coalesce(one.message, (SELECT a.message FROM attempt a WHERE a.id = met.example))
    FROM error_code e
      LEFT JOIN ended ON ended.code = e.code
      LEFT JOIN met ON met.code = e.code
      LEFT JOIN file one ON one.id = ended.example
    WHERE ended.code IS NOT NULL OR met.code IS NOT NULL
    ORDER BY 4 DESC, 5 DESC, 1
    """

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
