public import TransferModel

/// The proof with which a file was done.
public struct ReceiptRow: Sendable, Hashable {
  /// Bytes of the object; nil when they were never known.
  public var size: Int64?
  /// The attempt whose answer says so; nil for the word of a person.
  public var attempt: AttemptID?
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
      SELECT size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location,
        recorded_at, note
      FROM receipt WHERE file_id = ?1 AND n = 1
      """, .id(file)
    ) { row in
      ReceiptRow(
        size: row.int64OrNil(0), attempt: row.idOrNil(1), confirmation: row.text(2), digest: row.textOrNil(3),
        remoteDigest: row.textOrNil(4), etag: row.text(5), versionID: row.text(6), requestID: row.text(7),
        serverDate: row.text(8), location: row.text(9), recordedMs: row.int64(10), note: row.textOrNil(11))
    }
  }
}
