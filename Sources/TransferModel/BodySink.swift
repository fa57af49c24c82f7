import HTTPTypes

/// Receives the body of an answer while it arrives. Called from the transport's thread only, one call at a time; it
/// must not block for long.
package protocol BodySink: AnyObject, Sendable {
  /// The header of the final answer is complete. Returns true if its body is content, to be passed to ``write(_:)``;
  /// false if it is kept in the reply (the text of an error). A failure ends the request with
  /// ``TransferReply/bodyFailure``, before any of the body is written.
  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure>
  /// The next bytes of the body, all of which are consumed; valid during the call. A failure ends the request with
  /// ``TransferReply/bodyFailure``.
  func write(_ bytes: UnsafeRawBufferPointer) -> Failure?
}
