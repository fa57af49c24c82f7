/// One row of `v_chunks`.
public struct ChunkRow: Sendable, Hashable {
  public var id: ChunkID
  public var file: FileID
  public var seq: Int64
  public var offset: Int64
  public var length: Int64
  public var state: String
  public var attempts: Int64
  public var digest: String?
  /// It existed locally, and was not fetched.
  public var isReused: Bool

  package init(
    id: ChunkID, file: FileID, seq: Int64, offset: Int64, length: Int64, state: String, attempts: Int64,
    digest: String?,
    isReused: Bool
  ) {
    self.id = id
    self.file = file
    self.seq = seq
    self.offset = offset
    self.length = length
    self.state = state
    self.attempts = attempts
    self.digest = digest
    self.isReused = isReused
  }
}
