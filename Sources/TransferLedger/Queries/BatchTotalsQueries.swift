import TransferModel

extension LedgerReader {
  /// Fills in the sums of these batches: three statements for all of them, each served by `file_batch`.
  func withTotals(_ rows: [BatchRow]) throws -> [BatchRow] {
    let ids = SQLValue.text("[" + rows.map { "\($0.id.rawValue)" }.joined(separator: ",") + "]")
    var byID = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    try addFiles(to: &byID, ids)
    try addChunks(to: &byID, ids)
    try addAttempts(to: &byID, ids)
    return rows.compactMap { byID[$0.id] }
  }

  private func addFiles(to batches: inout [BatchID: BatchRow], _ ids: SQLValue) throws {
    let rows = try db.rows(
      """
      SELECT f.batch_id, f.state, count(*), coalesce(sum(f.size), 0),
        sum(f.state = 'failed' AND f.cause = 'integrity.mismatch'), sum(f.state = 'done' AND
          (SELECT r.confirmation = 'none' FROM receipt r WHERE r.file_id = f.id))
      FROM file f
      WHERE f.batch_id IN (SELECT value FROM json_each(?1)) AND f.state <> 'superseded'
      GROUP BY f.batch_id, f.state
      """, ids
    ) { row in (row.id(0, BatchID.self), row.text(1), row.int(2), row.int64(3), row.int(4), row.int(5)) }
    for (id, state, count, bytes, mismatched, unverified) in rows {
      batches[id]?.totals.add(
        state: state, count: count, bytes: bytes, mismatched: mismatched, unverified: unverified)
    }
  }

  private func addChunks(to batches: inout [BatchID: BatchRow], _ ids: SQLValue) throws {
    let rows = try db.rows(
      """
      SELECT f.batch_id, sum(c.length) FROM file f JOIN chunk c ON c.file_id = f.id
      WHERE f.batch_id IN (SELECT value FROM json_each(?1)) AND f.state <> 'superseded' AND c.state = 'done'
      GROUP BY f.batch_id
      """, ids
    ) { row in (row.id(0, BatchID.self), row.int64(1)) }
    for (id, bytes) in rows { batches[id]?.totals.bytesAcked = bytes }
  }

  private func addAttempts(to batches: inout [BatchID: BatchRow], _ ids: SQLValue) throws {
    let rows = try db.rows(
      """
      SELECT f.batch_id, sum(a.bytes_sent), sum(a.outcome = 'retry'), min(a.started_at), max(a.ended_at)
      FROM file f JOIN attempt a ON a.file_id = f.id
      WHERE f.batch_id IN (SELECT value FROM json_each(?1))
      GROUP BY f.batch_id
      """, ids
    ) { row in (row.id(0, BatchID.self), row.int64(1), row.int(2), row.int64OrNil(3), row.int64OrNil(4)) }
    for (id, bytes, retries, first, last) in rows {
      batches[id]?.totals.bytesSent = bytes
      batches[id]?.totals.retries = retries
      batches[id]?.startedMs = first
      batches[id]?.finishedMs = last
    }
  }
}

extension FileTotals {
  mutating func add(state: String, count: Int, bytes: Int64, mismatched: Int, unverified: Int) {
    if let state = FileState(rawValue: state) { byState[state, default: 0] += count }
    self.bytes += bytes
    self.mismatched += mismatched
    self.unverified += unverified
  }
}
