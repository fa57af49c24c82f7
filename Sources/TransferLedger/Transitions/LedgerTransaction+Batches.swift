import TransferModel

extension LedgerTransaction {
  /// Changes the rows of the batches that the filter names, or that have a file which it selects. Their files follow with
  /// ``followBatch(_:)``.
  func changeBatches(_ filter: RowFilter, _ change: BatchChange) throws -> BatchOutcome {
    let batches = try LedgerSelection(db: db, filter: filter).batches()
    for batch in batches {
      let new = batch.applying(change)
      if new != batch { try replace(batch, by: new) }
    }
    return BatchOutcome(batches, change)
  }

  /// Gives these files the priority of their batch if they are not at rest, and takes away the cause of a deadline that is
  /// none any more.
  func followBatch(_ files: [FileID]) throws {
    try choose(files)
    try db.run(
      """
      UPDATE file SET priority = b.priority FROM batch b
      WHERE b.id = file.batch_id AND file.id IN (SELECT id FROM temp.chosen) AND file.priority <> b.priority
        AND file.state NOT IN ('done', 'failed', 'cancelled', 'superseded')
      """)
    try db.run(
      """
      UPDATE file SET cause = NULL FROM batch b
      WHERE b.id = file.batch_id AND file.id IN (SELECT id FROM temp.chosen) AND file.cause = 'policy.deadline'
        AND file.state IN ('pending', 'paused') AND (b.deadline_at IS NULL OR b.deadline_at > ?)
      """, .int(wallMs))
  }

  /// pending files of a batch whose deadline has passed are given that as their cause; returns how many. They stay pending:
  /// another deadline, or none, lets them go on.
  public func markOverdue(_ batch: BatchID) throws -> Int {
    let count = try db.run(
      """
      UPDATE file SET cause = 'policy.deadline'
      WHERE batch_id = ? AND state = 'pending' AND cause IS NOT 'policy.deadline'
      """, .id(batch))
    if count > 0 { try recordEvent("overdue", batch: batch, file: nil, detail: "\(count) files are not begun") }
    return count
  }

  private func replace(_ old: BatchStanding, by new: BatchStanding) throws {
    try db.run(
      "UPDATE batch SET priority = ?, rate = ?, workers = ?, deadline_at = ?, labels = ? WHERE id = ?",
      .int(new.priority), .int(new.rate), .int(new.workers), .int(new.deadlineMs), .text(try jsonText(new.labels)),
      .id(new.id))
    try recordEvent("set", batch: new.id, file: nil, detail: old.difference(to: new))
  }
}

extension LedgerReader {
  /// Files of these batches that ``LedgerTransaction/followBatch(_:)`` would change. Reads all files of them.
  func filesToFollow(_ batches: [BatchID], nowMs: Int64) throws -> [FileID] {
    try db.rows(
      """
      SELECT f.id FROM batch b CROSS JOIN file f ON f.batch_id = b.id
      WHERE b.id IN (SELECT value FROM json_each(?1))
        AND (f.priority <> b.priority AND f.state NOT IN ('done', 'failed', 'cancelled', 'superseded')
          OR f.cause = 'policy.deadline' AND f.state IN ('pending', 'paused')
            AND (b.deadline_at IS NULL OR b.deadline_at > ?2))
      ORDER BY f.id
      """, .text(try jsonText(batches.map(\.rawValue))), .integer(nowMs)
    ) { $0.id(0) }
  }
}
