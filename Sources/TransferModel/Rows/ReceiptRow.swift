/// The receipt of a done file.
public struct ReceiptRow: Sendable, Hashable {
  /// Bytes of the object; nil when they were never known.
  public var size: Int64?
  /// The attempt with the confirming answer; nil for a person's decision.
  public var attempt: AttemptID?
  public var confirmation: String
  public var digest: String?
  public var remoteDigest: String?
  /// SHA-256 of the content that was sent or received, as computed here; nil if it was not recorded.
  public var sha256: String?
  public var etag: String
  public var versionID: String
  public var requestID: String
  public var serverDate: String
  public var location: String
  public var recordedMs: Int64
  /// The reason for which a person declared it done; nil if the server confirmed it.
  public var note: String?

  package init(
    size: Int64?, attempt: AttemptID?, confirmation: String, digest: String?, remoteDigest: String?, etag: String,
    versionID: String, requestID: String, serverDate: String, location: String, recordedMs: Int64, note: String?,
    sha256: String? = nil
  ) {
    self.size = size
    self.attempt = attempt
    self.confirmation = confirmation
    self.digest = digest
    self.remoteDigest = remoteDigest
    self.sha256 = sha256
    self.etag = etag
    self.versionID = versionID
    self.requestID = requestID
    self.serverDate = serverDate
    self.location = location
    self.recordedMs = recordedMs
    self.note = note
  }
}
