public import HTTPTypes

/// Takes the body of an answer while it arrives. Called from the transport's thread only, one call at a time; it must
/// not block for long.
public protocol BodySink: AnyObject, Sendable {
  /// The header of the final answer is complete. True when its body is content, to be taken by ``write(_:)``; false
  /// when it is kept with the reply as any answer (the text of an error). A failure ends the request with
  /// ``TransferReply/bodyFailure``, before anything of the body was taken.
  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure>
  /// The next bytes of the body, all of which are taken; valid during the call. A failure ends the request with
  /// ``TransferReply/bodyFailure``.
  func write(_ bytes: UnsafeRawBufferPointer) -> Failure?
}
