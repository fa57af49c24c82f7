public import TransferModel

extension LedgerReader {
  /// nil for a file that is not done.
  public func receipt(of file: FileID) throws -> ReceiptRow? {
    try db.first(
      """
      SELECT size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location,
        recorded_at, note, sha256
      FROM receipt WHERE file_id = ?1 AND n = 1
      """, .id(file)
    ) { Self.receipt($0) }
  }

  /// The columns of the statement above.
  static func receipt(_ row: SQLRow) -> ReceiptRow {
    ReceiptRow(
      size: row.int64OrNil(0), attempt: row.idOrNil(1), confirmation: row.text(2), digest: row.textOrNil(3),
      remoteDigest: row.textOrNil(4), etag: row.text(5), versionID: row.text(6), requestID: row.text(7),
      serverDate: row.text(8), location: row.text(9), recordedMs: row.int64(10), note: row.textOrNil(11),
      sha256: row.textOrNil(12))
  }
}
