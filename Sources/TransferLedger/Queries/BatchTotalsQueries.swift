import TransferModel

extension LedgerReader {
  /// Fills in the sums of these batches. Those over attempts read every attempt of them, so they are only made
  /// `withAttempts`; else they are 0.
  func withTotals(_ rows: [BatchRow], withAttempts: Bool) throws -> [BatchRow] {
    var byID = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    for (id, states) in try statesByBatch(rows.map(\.id.rawValue)) { byID[id]?.totals = FileTotals(states) }
    if withAttempts {
      try addAttempts(to: &byID, .text("[" + rows.map { "\($0.id.rawValue)" }.joined(separator: ",") + "]"))
    }
    return rows.compactMap { byID[$0.id] }
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
