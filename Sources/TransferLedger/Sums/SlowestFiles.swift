import TransferModel

extension LedgerReader {
  /// The number of its slowest files that a sum keeps.
  static var slowestKept: Int { 3 }

  /// Files that were started and have ended, longest first.
  public func slowestFiles(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    guard limit <= Self.slowestKept, let scope = SumScope(filter) else { return try slowestOfAll(filter, limit: limit) }
    let found = try slowestCandidates(scope, limit).sorted { ($1.ms, $0.id) < ($0.ms, $1.id) }.prefix(limit)
    let ids = found.map { FileID(rawValue: $0.id) }
    let rows = try files(.files(ids), after: 0, limit: limit)
    return ids.compactMap { id in rows.first { $0.id == id } }
  }

  private typealias Candidate = (ms: Int64, id: Int64)

  private func slowestCandidates(_ scope: SumScope, _ limit: Int) throws -> [Candidate] {
    let read = { (row: SQLRow) in (ms: row.int64(0), id: row.int64(1)) }
    switch scope {
    case .everything:
      let known = try db.rows(
        """
        SELECT p.value ->> 0, p.value ->> 1 FROM file_sum s, json_each(s.slowest) p ORDER BY 1 DESC, 2 LIMIT ?1
        """, .int(limit), row: read)
      let rest = try db.rows(
        """
        SELECT finished_at - started_at, id FROM file
        WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
          AND state IN ('failed', 'cancelled', 'superseded') AND started_at IS NOT NULL
        ORDER BY 1 DESC, 2 LIMIT ?1
        """, .int(limit), row: read)
      return try known + rest + slowest(doneSums(), limit)
    case .batches(let batches):
      let ids = SQLValue.text(try jsonText(batches))
      let known = try db.rows(
        """
        SELECT p.value ->> 0, p.value ->> 1 FROM file_sum s, json_each(s.slowest) p
        WHERE s.batch_id IN (SELECT value FROM json_each(?2)) ORDER BY 1 DESC, 2 LIMIT ?1
        """, .int(limit), ids, row: read)
      let rest = try db.rows(
        """
        SELECT finished_at - started_at, id FROM file
        WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
          AND state IN ('failed', 'cancelled', 'superseded') AND started_at IS NOT NULL
          AND batch_id IN (SELECT value FROM json_each(?2))
        ORDER BY 1 DESC, 2 LIMIT ?1
        """, .int(limit), ids, row: read)
      return try known + rest + batches.flatMap { try slowest(doneSums(of: $0), limit) }
    }
  }

  /// The slowest of the done files that no sum covers.
  private func slowest(_ done: DoneSums, _ limit: Int) throws -> [Candidate] {
    let read = { (row: SQLRow) in (ms: row.int64(0), id: row.int64(1)) }
    return try done.stretches.flatMap { stretch in
      switch stretch {
      case .batches(let after, let before):
        try db.rows(
          """
          SELECT finished_at - started_at, id FROM file
          WHERE state = 'done' AND batch_id > ?1 AND batch_id < ?2 AND started_at IS NOT NULL ORDER BY 1 DESC, 2 LIMIT ?3
          """, .integer(after), .integer(before), .int(limit), row: read)
      case .files(let batch, let after, let before):
        try db.rows(
          """
          SELECT finished_at - started_at, id FROM file
          WHERE state = 'done' AND batch_id = ?1 AND id > ?2 AND id < ?3 AND started_at IS NOT NULL
          ORDER BY 1 DESC, 2 LIMIT ?4
          """, .integer(batch), .integer(after), .integer(before), .int(limit), row: read)
      }
    }
  }
}
