/// The proof for a done file; becomes the receipt row.
public struct FileProof: Sendable, Hashable {
  public var confirmation: Confirmation
  /// Digest of the whole file, computed from the sent bytes; nil if the algorithm cannot be combined over chunks.
  public var digest: Digest?
  /// The digest reported by the server, with the same algorithm; nil if it reported none.
  public var remoteDigest: Digest?
  public var etag: String
  public var versionID: String
  public var requestID: String
  /// The `Date` of the confirming answer, as received.
  public var serverDate: String

  public init(
    confirmation: Confirmation, digest: Digest? = nil, remoteDigest: Digest? = nil, etag: String = "",
    versionID: String = "", requestID: String = "", serverDate: String = ""
  ) {
    self.confirmation = confirmation
    self.digest = digest
    self.remoteDigest = remoteDigest
    self.etag = etag
    self.versionID = versionID
    self.requestID = requestID
    self.serverDate = serverDate
  }
}

/// What is recorded when a file is done.
public struct FileReceipt: Sendable, Hashable {
  public var proof: FileProof
  /// The location of the file, without secrets.
  public var location: String

  public init(_ proof: FileProof, location: String) {
    self.proof = proof
    self.location = location
  }
}
