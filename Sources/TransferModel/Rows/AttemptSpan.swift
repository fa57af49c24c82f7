/// An attempt as a time span with its context, for tracing programs.
public struct AttemptSpan: Sendable, Hashable {
  public var id: AttemptID
  public var file: FileID
  /// nil for requests about the whole file.
  public var chunk: ChunkID?
  public var batch: BatchID
  public var run: RunID
  public var path: NameBytes
  /// Name and port of the server.
  public var host: String
  public var operation: String
  public var outcome: String
  /// Milliseconds since 1970 UTC; the end is nil while it is open.
  public var startedMs: Int64
  public var endedMs: Int64?
  public var errorCode: String?
  public var httpStatus: Int64?
  public var bytesTransferred: Int64
  public var bytesAcked: Int64
  /// From the beginning of the request, in milliseconds: until the connection could be used, until the last byte of the
  /// body was handed over, until the first byte of the answer, until its last.
  public var connectMs: Int64?
  public var sentMs: Int64?
  public var firstByteMs: Int64?
  public var totalMs: Int64?
  public var remoteIP: String?

  public init(
    id: AttemptID, file: FileID, chunk: ChunkID?, batch: BatchID, run: RunID, path: NameBytes, host: String,
    operation: String, outcome: String, startedMs: Int64, endedMs: Int64?, bytesTransferred: Int64, bytesAcked: Int64
  ) {
    (self.id, self.file, self.chunk, self.batch, self.run) = (id, file, chunk, batch, run)
    (self.path, self.host) = (path, host)
    (self.operation, self.outcome) = (operation, outcome)
    (self.startedMs, self.endedMs) = (startedMs, endedMs)
    (self.bytesTransferred, self.bytesAcked) = (bytesTransferred, bytesAcked)
  }
}
