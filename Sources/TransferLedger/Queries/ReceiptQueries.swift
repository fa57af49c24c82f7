public import TransferModel

/// The proof for a done file.
public struct ReceiptRow: Sendable, Hashable {
  public var confirmation: String
  public var digest: String?
  public var remoteDigest: String?
  public var etag: String
  public var versionID: String
  public var requestID: String
  public var serverDate: String
  public var location: String
  public var recordedMs: Int64
  /// Why a person says that it is done; nil where the server confirmed it.
  public var note: String?
}

extension LedgerReader {
  /// nil for a file that is not done.
  public func receipt(of file: FileID) throws -> ReceiptRow? {
    try db.first(
      """
      SELECT confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location, recorded_at, note
      FROM receipt WHERE file_id = ?1
      """, .id(file)
    ) { row in
      ReceiptRow(
        confirmation: row.text(0), digest: row.textOrNil(1), remoteDigest: row.textOrNil(2), etag: row.text(3),
        versionID: row.text(4), requestID: row.text(5), serverDate: row.text(6), location: row.text(7),
        recordedMs: row.int64(8), note: row.textOrNil(9))
    }
  }
}
