public import TransferModel

extension LedgerReader {
  /// The newest batches that nobody tidied away, newest first, by the primary key.
  public func newestBatches(limit: Int) throws -> [(id: BatchID, name: String?)] {
    try db.rows(
      "SELECT id, name FROM batch WHERE hidden IS NULL ORDER BY id DESC LIMIT ?", .integer(Int64(limit))
    ) { row in (row.id(0), row.textOrNil(1)) }
  }
}
