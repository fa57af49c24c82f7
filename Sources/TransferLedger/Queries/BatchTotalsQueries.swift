import TransferModel

extension LedgerReader {
  /// Fills in the totals of these batches. Totals over attempts are only computed `withAttempts`; otherwise they are 0.
  func withTotals(_ rows: [BatchRow], withAttempts: Bool) throws -> [BatchRow] {
    var byID = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    for (id, states) in try statesByBatch(rows.map(\.id.rawValue)) { byID[id]?.totals = FileTotals(states) }
    if withAttempts {
      let ids = SQLValue.text("[" + rows.map { "\($0.id.rawValue)" }.joined(separator: ",") + "]")
      try addAttempts(to: &byID, ids)
      for sums in try db.rows(Self.prunedAttempts, ids, row: { BatchAttempts(sum: $0) }) { sums.add(to: &byID) }
      let untold = try db.rows(Self.untoldByBatch, ids) { ($0.id(0, BatchID.self), $0.int64(1)) }
      for (id, bytes) in untold { byID[id]?.totals.bytesUntold +|= bytes }
      let reused = try db.rows(Self.reusedByBatch, ids) { ($0.id(0, BatchID.self), $0.int64(1)) }
      for (id, bytes) in reused { byID[id]?.totals.bytesReused +|= bytes }
      let pruned = try db.rows(Self.prunedBytes, ids) { ($0.id(0, BatchID.self), $0.int64(1), $0.int64(2)) }
      for (id, untold, reused) in pruned {
        byID[id]?.totals.bytesUntold +|= untold
        byID[id]?.totals.bytesReused +|= reused
      }
    }
    return rows.compactMap { byID[$0.id] }
  }

  /// Adds the stored sums and the attempts that no sum holds. If there are many of the latter, all attempts of these
  /// batches are found through their files instead.
  private func addAttempts(to batches: inout [BatchID: BatchRow], _ ids: SQLValue) throws {
    let gaps = try attemptGaps()
    guard try !areMany(gaps) else {
      for sums in try db.rows(Self.attemptsByFiles, ids, row: { BatchAttempts($0) }) { sums.add(to: &batches) }
      return
    }
    for sums in try db.rows(Self.knownAttempts, ids, row: { BatchAttempts(sum: $0) }) { sums.add(to: &batches) }
    for gap in gaps {
      let rest = try db.rows(
        Self.attemptsInGap, ids, .integer(gap.lowerBound), .integer(gap.upperBound), row: { BatchAttempts($0) })
      for sums in rest { sums.add(to: &batches) }
    }
  }

  private static let prunedAttempts: StaticString = """
    SELECT batch_id, bytes_transferred, retry, first_at, active FROM pruned_sum
    WHERE batch_id IN (SELECT value FROM json_each(?1))
    """
  private static let prunedBytes: StaticString = """
    SELECT n.value, (SELECT coalesce(sum(bytes_untold), 0) FROM pruned_sum WHERE batch_id = n.value),
      (SELECT coalesce(sum(q.bytes_reused), 0) FROM file f CROSS JOIN pruned_file q ON q.file_id = f.id
        WHERE f.batch_id = n.value)
    FROM json_each(?1) n WHERE EXISTS (SELECT 1 FROM pruned_sum WHERE batch_id = n.value)
    """
  private static let knownAttempts: StaticString = """
    SELECT batch_id, bytes_transferred, retry, first_at, active FROM attempt_sum
    WHERE batch_id IN (SELECT value FROM json_each(?1))
    """
  private static let attemptsInGap: StaticString = """
    SELECT f.batch_id, sum(a.bytes_transferred), sum(a.outcome = 'retry' AND NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at)),
      min(a.started_at) FILTER (WHERE NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at)),
      max(a.ended_at) FILTER (WHERE NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at))
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.id BETWEEN ?2 AND ?3 AND +f.batch_id IN (SELECT value FROM json_each(?1)) GROUP BY f.batch_id
    """
  private static let attemptsByFiles: StaticString = """
    SELECT f.batch_id, sum(a.bytes_transferred), sum(a.outcome = 'retry' AND NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at)),
      min(a.started_at) FILTER (WHERE NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at)),
      max(a.ended_at) FILTER (WHERE NOT (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at))
    FROM file f JOIN attempt a ON a.file_id = f.id
    WHERE f.batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY f.batch_id
    """
}

/// What the attempts of a batch sent, and when.
private struct BatchAttempts {
  let batch: BatchID
  let bytesTransferred: Int64
  let retries: Int
  let firstMs, lastMs: Int64?

  init(_ row: SQLRow) {
    (batch, bytesTransferred, retries) = (row.id(0), row.int64(1), row.int(2))
    (firstMs, lastMs) = (row.int64OrNil(3), row.int64OrNil(4))
  }

  /// A stored sum: the fourth column is the start of its first attempt, the fifth the times in flight.
  init(sum row: SQLRow) {
    (batch, bytesTransferred, retries) = (row.id(0), row.int64(1), row.int(2))
    let span = PackedIslands(row.bytes(4), from: row.int64(3)).span
    (firstMs, lastMs) = (span?.startMs, span?.endMs)
  }

  func add(to batches: inout [BatchID: BatchRow]) {
    guard var row = batches[batch] else { return }
    row.totals.bytesTransferred +|= bytesTransferred
    row.totals.retries += retries
    row.startedMs = [row.startedMs, firstMs].compactMap(\.self).min()
    row.finishedMs = [row.finishedMs, lastMs].compactMap(\.self).max()
    batches[batch] = row
  }
}

extension LedgerReader {
  static let untoldByBatch: StaticString = """
    SELECT f.batch_id, sum(o.bytes_transferred_at_most - o.bytes_transferred)
    FROM v_cut_off o JOIN file f ON f.id = o.file_id
    WHERE o.attempt_id IN (SELECT id FROM attempt WHERE error_code = 'engine.crashed'
      UNION ALL SELECT id FROM attempt WHERE outcome = 'open')
      AND +f.batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY f.batch_id
    """
}

extension LedgerReader {
  /// Reused chunks are few and have their own index.
  static let reusedByBatch: StaticString = """
    SELECT f.batch_id, sum(c.reused) FROM chunk c INDEXED BY chunk_reused CROSS JOIN file f ON f.id = c.file_id
    WHERE c.reused IS NOT NULL AND f.state <> 'superseded' AND +f.batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY f.batch_id
    """
}

extension FileTotals {
  mutating func add(state: String, count: Int, bytes: Int64, mismatched: Int, unverified: Int, unsized: Int) {
    if let state = FileState(rawValue: state) {
      byState[state, default: 0] += count
      if FileState.left.contains(state) { self.unsized += unsized }
    }
    self.bytes +|= bytes
    self.mismatched += mismatched
    self.unverified += unverified
  }
}
