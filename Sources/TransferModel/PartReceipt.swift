/// The server's acknowledgement of one chunk.
package struct PartReceipt: Sendable, Hashable {
  package var seq: Int
  package var length: Int64
  /// As received, quotes included; empty when the server sent none.
  package var etag: String
  /// Of the bytes that were sent.
  package var digest: Digest?
  /// MD5 of the sent bytes, if it was computed; the ETag rule of S3 needs it in addition to the digest.
  package var md5: Digest?
  package var confirmation: Confirmation
  /// Values that the protocol stores for its last steps; usually empty.
  package var remote: [String: String]
  /// For a download: how many of its bytes were not fetched, because a local file had them; nil for none.
  package var reused: Int64?

  package init(
    seq: Int, length: Int64, etag: String, digest: Digest?, md5: Digest? = nil, confirmation: Confirmation,
    remote: [String: String] = [:]
  ) {
    self.remote = remote
    self.seq = seq
    self.length = length
    self.etag = etag
    self.digest = digest
    self.md5 = md5
    self.confirmation = confirmation
  }
}
