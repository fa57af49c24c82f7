import TransferModel

/// What is wrong with the number of bytes that a server reports of an upload.
enum OffsetFailure {
  static func stoodStill(_ offset: Int64) -> Failure {
    Failure(.protoOffset, "the server accepted the body but stored none of it (offset \(offset))")
  }

  static let forgotten = Failure(
    .protoOffset, "the server reports no bytes of an upload to which bytes were sent, so another one is created"
  )

  static func pastEnd(_ offset: Int64, _ end: Int64) -> Failure {
    Failure(.protoOffset, "the server reports \(offset) bytes of \(end)")
  }
}

extension TransferFacts {
  /// Whether the server reports no bytes although some were acknowledged or may have arrived. Some servers forget their
  /// offset and keep the bytes: new bytes are then appended to the old ones.
  func isForgotten(_ offset: Int64) -> Bool {
    offset == 0 && file.size > 0 && (acked > 0 || session?.mayHoldBytes == true)
  }
}

extension Interpretation {
  /// The answer to DELETE of an upload: it is gone, or the server cannot delete it, and nothing more can be done. nil
  /// for a refusal.
  static func deleted(_ reply: TransferReply) -> Interpretation? {
    reply.isSuccess || [404, 405, 410, 501].contains(reply.status) ? .settled : nil
  }
}
