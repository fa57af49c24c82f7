public import TransferModel

extension LedgerTransaction {
  /// Makes ready files of some batches wait, because their host asked for a pause, each batch until its time in
  /// milliseconds since 1970 UTC. They are promoted like all files that are due. Takes up to `limit` files, in the
  /// order of work; returns how many. When the time has come they are promoted by size, not by priority, a few thousand
  /// with each claim: the priority applies among those that are promoted. Throws `.leaseLost` if `run` has ended.
  public func postponeFiles(_ run: RunID, until dueMs: [BatchID: Int64], limit: Int) throws -> Int {
    try requireLease(run)
    var count = 0
    for (batch, ms) in dueMs.sorted(by: { $0.key < $1.key }) where count < limit {
      count += try db.run(
        """
        UPDATE file SET not_before = ?1 WHERE id IN (SELECT id FROM file
          WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?2 ORDER BY priority DESC, id LIMIT ?3)
        """, .int(ms), .id(batch), .int(limit - count))
    }
    return count
  }
}
