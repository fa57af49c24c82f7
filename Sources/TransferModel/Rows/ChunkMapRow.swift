/// One chunk of a file with its history. Times are milliseconds since 1970 UTC.
package struct ChunkMapRow: Sendable, Hashable {
  package var id: ChunkID
  package var seq: Int64
  package var offset: Int64
  package var length: Int64
  package var state: String
  /// Bytes of it known to be stored.
  package var bytesAcked: Int64
  package var attempts: Int64
  /// The start of its first attempt.
  package var firstMs: Int64?
  /// When it was known to be stored, and the status of that answer.
  package var ackedMs: Int64?
  package var httpStatus: Int64?
  package var digest: String?
  package var etag: String?
  /// How often the server lost it after it had acknowledged it.
  package var losses: Int64
  /// It existed locally, and was not fetched.
  package var isReused: Bool

  package init(
    id: ChunkID, seq: Int64, offset: Int64, length: Int64, state: String, bytesAcked: Int64, attempts: Int64,
    firstMs: Int64?, ackedMs: Int64?, httpStatus: Int64?, digest: String?, etag: String?, losses: Int64, isReused: Bool
  ) {
    (self.id, self.seq, self.offset, self.length, self.state) = (id, seq, offset, length, state)
    (self.bytesAcked, self.attempts, self.firstMs, self.ackedMs) = (bytesAcked, attempts, firstMs, ackedMs)
    (self.httpStatus, self.digest, self.etag) = (httpStatus, digest, etag)
    (self.losses, self.isReused) = (losses, isReused)
  }
}
