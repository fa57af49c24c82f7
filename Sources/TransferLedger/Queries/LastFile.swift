public import TransferModel

extension LedgerReader {
  /// The newest file; nil when there is none. Served by the primary key.
  public func lastFile() throws -> FileID? {
    try db.first("SELECT max(id) FROM file") { $0.idOrNil(0, FileID.self) } ?? nil
  }
}
