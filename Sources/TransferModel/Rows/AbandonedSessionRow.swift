/// An upload session on a server that no longer belongs to a transfer.
package struct AbandonedSessionRow: Sendable, Hashable {
  package var id: SessionID
  package var file: FileID
  package var path: NameBytes
  package var destination: String
  package var protocolName: String
  /// `intended` or `open`; the former may not exist at the server.
  package var state: String
  package var fileState: String
  /// Milliseconds since 1970 UTC.
  package var beganMs: Int64
  package var expiresMs: Int64?
  /// The time of the next attempt to abort it; nil if it is kept for a `retry` of its file.
  package var abortAfterMs: Int64?
  /// Bytes in it that the server acknowledged.
  package var bytesAcked: Int64
  /// Attempts to abort it, and why the last one failed.
  package var tries: Int64
  package var cause: String?

  package init(
    id: SessionID, file: FileID, path: NameBytes, destination: String, protocolName: String, state: String,
    fileState: String, beganMs: Int64, expiresMs: Int64?, abortAfterMs: Int64?, bytesAcked: Int64, tries: Int64,
    cause: String?
  ) {
    self.id = id
    self.file = file
    self.path = path
    self.destination = destination
    self.protocolName = protocolName
    self.state = state
    self.fileState = fileState
    self.beganMs = beganMs
    self.expiresMs = expiresMs
    self.abortAfterMs = abortAfterMs
    self.bytesAcked = bytesAcked
    self.tries = tries
    self.cause = cause
  }
}
