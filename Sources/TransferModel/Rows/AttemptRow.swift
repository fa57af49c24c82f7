/// One row of `v_attempts`.
public struct AttemptRow: Sendable, Hashable {
  public var id: AttemptID
  public var uid: String
  public var file: FileID
  /// nil for requests about the whole file.
  public var chunk: ChunkID?
  public var run: RunID
  public var operation: String
  public var n: Int64
  public var startedMs: Int64
  public var endedMs: Int64?
  public var outcome: String
  public var errorCode: String?
  public var message: String?
  public var httpStatus: Int64?
  public var curlCode: Int64?
  public var bytesTransferred: Int64
  public var bytesAcked: Int64
  public var connectMs: Int64?
  public var firstByteMs: Int64?
  public var totalMs: Int64?
  public var remoteIP: String?
  public var requestID: String?
  public var backoffMs: Int64?
  /// Host and port of the mirror that it was sent to; nil for the server of its destination.
  public var mirror: String?

  package init(
    id: AttemptID, uid: String, file: FileID, chunk: ChunkID?, run: RunID, operation: String, n: Int64,
    startedMs: Int64, endedMs: Int64?, outcome: String, errorCode: String?, message: String?, httpStatus: Int64?,
    curlCode: Int64?, bytesTransferred: Int64, bytesAcked: Int64, connectMs: Int64?, firstByteMs: Int64?,
    totalMs: Int64?, remoteIP: String?, requestID: String?, backoffMs: Int64?,
    mirror: String? = nil
  ) {
    self.id = id
    self.uid = uid
    self.file = file
    self.chunk = chunk
    self.run = run
    self.operation = operation
    self.n = n
    self.startedMs = startedMs
    self.endedMs = endedMs
    self.outcome = outcome
    self.errorCode = errorCode
    self.message = message
    self.httpStatus = httpStatus
    self.curlCode = curlCode
    self.bytesTransferred = bytesTransferred
    self.bytesAcked = bytesAcked
    self.connectMs = connectMs
    self.firstByteMs = firstByteMs
    self.totalMs = totalMs
    self.remoteIP = remoteIP
    self.requestID = requestID
    self.backoffMs = backoffMs
    self.mirror = mirror
  }
}

/// An attempt with its file, for `follow`.
public struct FollowedAttempt: Sendable, Hashable {
  public var attempt: AttemptRow
  public var batch: BatchID
  public var path: NameBytes
  /// The current state of the file.
  public var fileState: String

  package init(attempt: AttemptRow, batch: BatchID, path: NameBytes, fileState: String) {
    self.attempt = attempt
    self.batch = batch
    self.path = path
    self.fileState = fileState
  }
}
