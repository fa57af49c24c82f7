/// Figures over attempts.
public struct AttemptTotals: Sendable, Hashable {
  public var attempts: Int64 = 0
  /// Attempts by outcome.
  public var byOutcome: [String: Int64] = [:]
  /// Start of the first and end of the last attempt.
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// Length of the union of the attempts' intervals: idle gaps removed.
  public var activeMs: Int64 = 0
  public var latency = LatencyFigures()

  public init() {}
}

/// Nearest-rank percentiles of the time of successful part attempts, in milliseconds.
public struct LatencyFigures: Sendable, Hashable {
  /// How many were measured; below 20 a 95th percentile says little.
  public var n: Int64 = 0
  public var p50: Int64?
  public var p95: Int64?
  public var p99: Int64?
  public var max: Int64?

  public init() {}
}

extension LedgerReader {
  /// Figures over the attempts for the files that the filter selects.
  public func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals {
    if filter.isEverything { return try allAttemptTotals() }
    var totals = AttemptTotals()
    try addOutcomes(to: &totals, filter)
    totals.activeMs = try activeMs(filter)
    totals.latency = try latency(filter)
    return totals
  }

  private func addOutcomes(to totals: inout AttemptTotals, _ filter: RowFilter) throws {
    let rows = try db.rows(
      """
      SELECT a.outcome, count(*), min(a.started_at), max(a.ended_at)
      FROM attempt a JOIN file f ON f.id = a.file_id
      WHERE {files}
      GROUP BY a.outcome
      """, filter
    ) { row in (row.text(0), row.int64(1), row.int64OrNil(2), row.int64OrNil(3)) }
    for (outcome, count, first, last) in rows {
      totals.attempts += count
      totals.byOutcome[outcome] = count
      if let first { totals.firstMs = min(totals.firstMs ?? first, first) }
      if let last { totals.lastMs = max(totals.lastMs ?? last, last) }
    }
  }

  /// Overlapping intervals are joined to islands first: the sum of islands is the time in which anything was in flight.
  private func activeMs(_ filter: RowFilter) throws -> Int64 {
    try db.first(
      """
      WITH i AS (
        SELECT a.started_at s, a.ended_at e FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE a.ended_at IS NOT NULL
          AND {files}),
      o AS (SELECT s, e, max(e) OVER (ORDER BY s, e ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) before FROM i),
      g AS (SELECT s, e, sum(before IS NULL OR s > before) OVER (ORDER BY s, e) island FROM o)
      SELECT coalesce(sum(length), 0) FROM (SELECT max(e) - min(s) length FROM g GROUP BY island)
      """, filter
    ) { $0.int64(0) } ?? 0
  }

  /// By a histogram of values, which is exact and four times as fast as ranking the rows.
  private func latency(_ filter: RowFilter) throws -> LatencyFigures {
    try db.first(
      """
      WITH h AS (
        SELECT a.total_ms x, count(*) k FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE a.operation = 'part' AND a.outcome = 'ok' AND a.total_ms IS NOT NULL
          AND {files}
        GROUP BY a.total_ms),
      c AS (SELECT x, sum(k) OVER (ORDER BY x) s, sum(k) OVER () n FROM h)
      SELECT coalesce(max(n), 0), min(CASE WHEN s * 100 >= 50 * n THEN x END),
        min(CASE WHEN s * 100 >= 95 * n THEN x END), min(CASE WHEN s * 100 >= 99 * n THEN x END), max(x) FROM c
      """, filter
    ) { Self.latencyFigures($0) } ?? LatencyFigures()
  }

  static func latencyFigures(_ row: SQLRow) -> LatencyFigures {
    var figures = LatencyFigures()
    figures.n = row.int64(0)
    (figures.p50, figures.p95) = (row.int64OrNil(1), row.int64OrNil(2))
    (figures.p99, figures.max) = (row.int64OrNil(3), row.int64OrNil(4))
    return figures
  }
}
