/// The proof for a done file; becomes the receipt row.
package struct FileProof: Sendable, Hashable {
  package var confirmation: Confirmation
  /// Digest of the whole file, computed from the sent bytes; nil if the algorithm cannot be combined over chunks.
  package var digest: Digest?
  /// The digest reported by the server, with the same algorithm; nil if it reported none.
  package var remoteDigest: Digest?
  package var etag: String
  package var versionID: String
  package var requestID: String
  /// The `Date` of the confirming answer, as received.
  package var serverDate: String

  package init(
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
package struct FileReceipt: Sendable, Hashable {
  package var proof: FileProof
  /// The location of the file, without secrets.
  package var location: String

  package init(_ proof: FileProof, location: String) {
    self.proof = proof
    self.location = location
  }
}
