import TransferModel

extension LedgerReader {
  /// The states of the files of these batches; batches without files are left out.
  func statesByBatch(_ batches: [Int64]) throws -> [BatchID: StateTotals] {
    let ids = SQLValue.text("[" + batches.map(String.init).joined(separator: ",") + "]")
    var known: [BatchID: StateTotals] = [:]
    for batch in batches {
      let done = try doneTally(try doneSums(of: batch))
      if done.count > 0 { known[BatchID(rawValue: batch), default: StateTotals()].add(.done, done) }
    }
    for sql in [Self.batchReady, Self.batchWaiting, Self.batchRunning, Self.batchRest] {
      for row in try tallies(sql, ids) {
        known[row.batch, default: StateTotals()].add(row.state, row.tally, unsized: row.unsized)
        known[row.batch]?.mismatched += row.mismatched
      }
    }
    for sql in [Self.batchPartialAcked, Self.batchRunningAcked] {
      for (batch, bytes) in try db.rows(sql, ids, row: { ($0.id(0, BatchID.self), $0.int64(1)) }) {
        known[batch]?.bytesAcked +|= bytes
      }
    }
    return known
  }

  typealias Tally = (count: Int, sum: Int64)

  private func tallies(
    _ sql: StaticString, _ ids: SQLValue
  ) throws -> [(batch: BatchID, state: FileState, tally: Tally, unsized: Int, mismatched: Int)] {
    try db.rows(sql, ids) { row throws(SQLiteError) in
      (row.id(0, BatchID.self), try row.named(1, FileState.self), row.tally(2), row.tallyNulls(2), row.int(3))
    }
  }

  static let batchReady: StaticString = """
    SELECT batch_id, 'pending', tally(size), 0 FROM file
    WHERE state = 'pending' AND not_before IS NULL AND batch_id IN (SELECT value FROM json_each(?1)) GROUP BY batch_id
    """
  static let batchWaiting: StaticString = """
    SELECT batch_id, 'pending', tally(size), 0 FROM file INDEXED BY file_waiting
    WHERE state = 'pending' AND not_before IS NOT NULL AND batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY batch_id
    """
  static let batchRunning: StaticString = """
    SELECT batch_id, state, tally(size), 0 FROM file INDEXED BY file_running
    WHERE state IN ('active', 'finishing') AND batch_id IN (SELECT value FROM json_each(?1)) GROUP BY batch_id, state
    """
  static let batchRest: StaticString = """
    SELECT batch_id, state, tally(size), sum(cause = 'integrity.mismatch' AND state = 'failed') FROM file
    WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
      AND state IN ('settling', 'paused', 'failed', 'cancelled', 'unknown', 'superseded')
      AND batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY state, batch_id
    """
  static let batchPartialAcked: StaticString = """
    SELECT f.batch_id, sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.holds IS NOT NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.state <> 'superseded'
      AND f.batch_id IN (SELECT value FROM json_each(?1)) GROUP BY f.batch_id
    """
  static let batchRunningAcked: StaticString = """
    SELECT f.batch_id, sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM file f INDEXED BY file_running CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.state IN ('active', 'finishing') AND f.batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY f.batch_id
    """
}
