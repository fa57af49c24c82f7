import TransferModel

/// Which attempts are added up.
enum SumScope {
  case everything
  /// All files of some batches.
  case batches([Int64])

  /// nil for any other filter: its attempts are added up individually.
  init?(_ filter: RowFilter) {
    if filter.isEverything {
      self = .everything
    } else if let batches = filter.wholeBatches {
      self = .batches(batches)
    } else {
      return nil
    }
  }
}

extension LedgerReader {
  /// Sums over the attempts that the filter selects; a time window selects the attempts that overlap it. Uses stored
  /// sums, adds the remaining attempts individually, and includes deleted attempts as far as their sums allow.
  func attemptSums(_ filter: RowFilter) throws -> AttemptSums {
    var sums = try storedSums(filter)
    for row in try prunedSums(filter) { sums.add(row) }
    return sums
  }

  /// Sums over the attempts that were not deleted.
  private func storedSums(_ filter: RowFilter) throws -> AttemptSums {
    guard let scope = SumScope(filter), let gaps = try gapsWorthReading(scope) else { return try eachAttempt(filter) }
    var sums = AttemptSums()
    try addKnown(to: &sums, scope)
    for gap in gaps { try addGap(gap, to: &sums, scope) }
    return sums
  }

  /// Numbers of attempts that no sum holds; nil if there are so many that those of a batch are better found through its
  /// files.
  private func gapsWorthReading(_ scope: SumScope) throws -> [ClosedRange<Int64>]? {
    let gaps = try attemptGaps()
    if case .batches = scope, try areMany(gaps) { return nil }
    return gaps
  }
  static var gapAtMost: Int { 65_536 }

  /// Whether the gaps hold many attempts. Numbers have holes, so the attempts are counted, except in short gaps.
  func areMany(_ gaps: [ClosedRange<Int64>]) throws -> Bool {
    var count = 0
    for gap in gaps where count <= Self.gapAtMost {
      count +=
        gap.count <= 1 << SumBlock.shift
        ? gap.count
        : try db.first(
          "SELECT count(*) FROM (SELECT 1 FROM attempt WHERE id BETWEEN ?1 AND ?2 LIMIT ?3)",
          .integer(gap.lowerBound), .integer(gap.upperBound), .int(Self.gapAtMost + 1)
        ) { $0.int(0) } ?? 0
    }
    return count > Self.gapAtMost
  }

  func attemptGaps() throws -> [ClosedRange<Int64>] {
    let newest = try db.first("SELECT max(id) FROM attempt") { $0.int64OrNil(0) } ?? nil
    guard let newest else { return [] }
    return SumBlock.gaps(between: try summedBlocks(), newest: newest)
  }

  /// In order. Skips from block to block: each has a row for every batch with attempts in it.
  func summedBlocks() throws -> [Int64] { try db.rows(Self.summedBlocks) { $0.int64(0) } }

  static let summedBlocks: StaticString = """
    WITH RECURSIVE summed (block) AS (
      SELECT min(block) FROM attempt_sum
      UNION ALL SELECT (SELECT min(block) FROM attempt_sum WHERE block > summed.block) FROM summed
      WHERE summed.block IS NOT NULL)
    SELECT block FROM summed WHERE block IS NOT NULL
    """

  private func addKnown(to sums: inout AttemptSums, _ scope: SumScope) throws {
    let add = { (row: SQLRow) in sums.addWithoutErrors(AttemptSumRow(row)) }
    let errors: [(code: String, hits: FailureHits)]
    switch scope {
    case .everything:
      _ = try db.rows(
        """
        SELECT batch_id, block, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at, last_at, errors,
          latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff FROM attempt_sum
        """, row: add)
      errors = try db.rows(
        """
        SELECT e.key, sum(e.value ->> 0), max(e.value ->> 1), min(e.value ->> 2), max(e.value ->> 3)
        FROM attempt_sum s, json_each(s.errors) e GROUP BY e.key
        """, row: Self.hits)
    case .batches(let batches):
      let ids = SQLValue.text(try jsonText(batches))
      _ = try db.rows(
        """
        SELECT batch_id, block, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at, last_at, errors,
          latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff FROM attempt_sum WHERE batch_id IN (SELECT value FROM json_each(?1))
        """, ids, row: add)
      errors = try db.rows(
        """
        SELECT e.key, sum(e.value ->> 0), max(e.value ->> 1), min(e.value ->> 2), max(e.value ->> 3)
        FROM attempt_sum s, json_each(s.errors) e WHERE s.batch_id IN (SELECT value FROM json_each(?1)) GROUP BY e.key
        """, ids, row: Self.hits)
    }
    for (code, hits) in errors { sums.add(hits, of: code) }
  }

  private func addGap(_ gap: ClosedRange<Int64>, to sums: inout AttemptSums, _ scope: SumScope) throws {
    let add = { (row: SQLRow) in sums.add(SummedAttempt(row)) }
    let (low, high) = (SQLValue.integer(gap.lowerBound), SQLValue.integer(gap.upperBound))
    switch scope {
    case .everything:
      _ = try db.rows(
        """
        SELECT a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
          a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND EXISTS (SELECT 1 FROM file f
            WHERE f.id = a.file_id AND f.state = 'done' AND a.started_at > f.finished_at)
        FROM attempt a WHERE a.id BETWEEN ?1 AND ?2
        """, low, high, row: add)
    case .batches(let batches):
      _ = try db.rows(
        """
        SELECT a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
          a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
            AND a.started_at > f.finished_at
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        WHERE a.id BETWEEN ?1 AND ?2 AND +f.batch_id IN (SELECT value FROM json_each(?3))
        """, low, high, .text(try jsonText(batches)), row: add)
    }
  }

  /// Adds up the attempts individually. Without a time window, they are found through their files.
  private func eachAttempt(_ filter: RowFilter) throws -> AttemptSums {
    var sums = AttemptSums()
    let add = { (row: SQLRow) in sums.add(SummedAttempt(row)) }
    if filter.sinceMs == nil, filter.untilMs == nil {
      _ = try db.rows(
        """
        SELECT a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
          {after its end}
        FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE {attempts by file}
        """, filter, row: add)
    } else {
      _ = try db.rows(
        """
        SELECT a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
          {after its end}
        FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE {attempts}
        """, filter, row: add)
    }
    return sums
  }

  /// The columns of `row`: error code, count, newest, first, last.
  static func hits(_ row: SQLRow) -> (code: String, hits: FailureHits) {
    let hits = FailureHits(
      count: row.int64(1), example: row.int64(2), firstMs: row.int64OrNil(3), lastMs: row.int64OrNil(4))
    return (row.text(0), hits)
  }
}
