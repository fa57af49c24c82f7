/// One chunk of a file with its history. Times are milliseconds since 1970 UTC.
public struct ChunkMapRow: Sendable, Hashable {
  public var id: ChunkID
  public var seq: Int64
  public var offset: Int64
  public var length: Int64
  public var state: String
  /// Bytes of it known to be stored.
  public var bytesAcked: Int64
  public var attempts: Int64
  /// The start of its first attempt.
  public var firstMs: Int64?
  /// When it was known to be stored, and the status of that answer.
  public var ackedMs: Int64?
  public var httpStatus: Int64?
  public var digest: String?
  public var etag: String?
  /// How often the server lost it after it had acknowledged it.
  public var losses: Int64
  /// It existed locally, and was not fetched.
  public var isReused: Bool

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
