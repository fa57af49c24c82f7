/// One row of `v_files`.
public struct FileRow: Sendable, Hashable {
  public var id: FileID
  public var uid: String
  public var batch: BatchID
  public var generation: Int64
  public var path: NameBytes
  public var destination: String
  public var key: NameBytes
  /// nil for a source that could not be examined.
  public var size: Int64?
  public var state: String
  public var cause: String?
  public var message: String?
  public var attempts: Int64
  public var bytesAcked: Int64
  /// The part of it that existed locally, and was not fetched.
  public var bytesReused: Int64
  public var bytesTransferred: Int64
  /// Includes all bytes that crashed and running attempts may have sent.
  public var bytesTransferredAtMost: Int64
  public var confirmedBy: String?
  public var digest: String?
  public var startedMs: Int64?
  public var finishedMs: Int64?
  /// When its attempts were deleted, which `attempts` and the byte counts still include; nil if they were not deleted.
  public var prunedMs: Int64?

  package init(
    id: FileID, uid: String, batch: BatchID, generation: Int64, path: NameBytes, destination: String, key: NameBytes,
    size: Int64?, state: String, cause: String?, message: String?, attempts: Int64, bytesAcked: Int64,
    bytesReused: Int64,
    bytesTransferred: Int64, bytesTransferredAtMost: Int64, confirmedBy: String?, digest: String?, startedMs: Int64?,
    finishedMs: Int64?
  ) {
    self.id = id
    self.uid = uid
    self.batch = batch
    self.generation = generation
    self.path = path
    self.destination = destination
    self.key = key
    self.size = size
    self.state = state
    self.cause = cause
    self.message = message
    self.attempts = attempts
    self.bytesAcked = bytesAcked
    self.bytesReused = bytesReused
    self.bytesTransferred = bytesTransferred
    self.bytesTransferredAtMost = bytesTransferredAtMost
    self.confirmedBy = confirmedBy
    self.digest = digest
    self.startedMs = startedMs
    self.finishedMs = finishedMs
  }
}
