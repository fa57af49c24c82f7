public import TransferModel

extension LedgerReader {
  /// The newest batches that are not hidden, newest first: by the primary key; in a merged ledger, by the clocks of its
  /// shards.
  public func newestBatches(limit: Int) throws -> [(id: BatchID, name: String?)] {
    try db.rows(
      """
      SELECT b.id, b.name FROM (SELECT 0 AS n UNION ALL SELECT id FROM origin_store) s CROSS JOIN batch b
      WHERE b.id IN (SELECT id FROM batch WHERE hidden IS NULL AND id >= s.n * 1000000000000
        AND id < (s.n + 1) * 1000000000000 ORDER BY id DESC LIMIT ?1)
      ORDER BY iif(EXISTS (SELECT 1 FROM origin_store), b.created_at, 0) DESC, b.id DESC LIMIT ?1
      """, .integer(Int64(limit))
    ) { row in (row.id(0), row.textOrNil(1)) }
  }
}
