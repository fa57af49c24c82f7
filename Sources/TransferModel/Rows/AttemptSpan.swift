/// An attempt as a time span with its context, for tracing programs.
package struct AttemptSpan: Sendable, Hashable {
  package var id: AttemptID
  package var file: FileID
  /// nil for requests about the whole file.
  package var chunk: ChunkID?
  package var batch: BatchID
  package var run: RunID
  package var path: NameBytes
  /// Name and port of the server.
  package var host: String
  package var operation: String
  package var outcome: String
  /// Milliseconds since 1970 UTC; the end is nil while it is open.
  package var startedMs: Int64
  package var endedMs: Int64?
  package var errorCode: String?
  package var httpStatus: Int64?
  package var bytesTransferred: Int64
  package var bytesAcked: Int64
  /// From the beginning of the request, in milliseconds: until the connection could be used, until the last byte of the
  /// body was handed over, until the first byte of the answer, until its last.
  package var connectMs: Int64?
  package var sentMs: Int64?
  package var firstByteMs: Int64?
  package var totalMs: Int64?
  package var remoteIP: String?

  package init(
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
