import TransferModel

extension LedgerTransaction {
  /// Changes the batches that the filter names, or that have a file which it selects; a running engine follows within a
  /// second. A new priority goes to those of their files that are not at rest, too; a new deadline lifts the old one's
  /// cause from its pending files.
  public func changeBatches(_ filter: RowFilter, _ change: BatchChange) throws -> BatchOutcome {
    let batches = try LedgerSelection(db: db, filter: filter).batches()
    for batch in batches {
      let new = batch.applying(change)
      if new != batch { try replace(batch, by: new) }
    }
    return BatchOutcome(batches, change)
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
    if new.priority != old.priority {
      try db.run(
        """
        UPDATE file SET priority = ?1 WHERE batch_id = ?2 AND priority <> ?1
          AND state NOT IN ('done', 'failed', 'cancelled', 'superseded')
        """, .int(new.priority), .id(new.id))
    }
    if new.deadlineMs != old.deadlineMs {
      try db.run(
        "UPDATE file SET cause = NULL WHERE batch_id = ? AND state = 'pending' AND cause = 'policy.deadline'",
        .id(new.id))
    }
    try recordEvent("set", batch: new.id, file: nil, detail: old.difference(to: new))
  }
}
