import TransferModel

/// One answer with everything that its meaning depends on, and the rules that apply to the answers of several requests.
struct GetAnswer {
  let reply: TransferReply
  let facts: TransferFacts
  let context: RequestContext
  let get: GetProtocol

  /// The body ended before all of its bytes had arrived; nil if it did not.
  func brokenOff(of length: Int64?) -> Failure? {
    if let failure = reply.answerFailure { return failure }
    guard let length, reply.bytesReceived < length else { return nil }
    return Failure(.netReset, "the body ended after \(reply.bytesReceived) of \(length) bytes")
  }

  /// Interprets an answer without content. Redirects that can be followed do not get here.
  func refused() -> Interpretation {
    guard (300..<400).contains(reply.status) else { return .refused(reply, context) }
    let text =
      switch reply.status {
      case 300: "the server answered 300 and offers several files; give the URL of one of them"
      case 304: "the server answered 304 (not modified) to a request that had no condition"
      default: "the server answered \(reply.status), which contains no file"
      }
    return .failed(Failure(reply.status == 304 ? .protoBadReply : .httpRedirect, text), .permanent)
  }
}
