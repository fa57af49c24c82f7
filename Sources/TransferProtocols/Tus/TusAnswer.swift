import TransferModel

/// One answer with everything that its meaning depends on, and the rules that apply to the answers of all requests.
struct TusAnswer {
  let reply: TransferReply
  let facts: TransferFacts
  let context: RequestContext
  let tus: TusProtocol

  /// The URL of the upload that the server created.
  func url() throws(Failure) -> String {
    try SessionURL.read(reply, tus.endpoint.origin, request: tus.endpointURL(facts))
  }

  /// Milliseconds since 1970 UTC, by our clock.
  var expiresAtMs: Int64? {
    guard let text = reply.field("upload-expires"), let date = HTTPDate.parse(text, wallMs: context.wallMs) else {
      return nil
    }
    let now = reply.field("date").flatMap { HTTPDate.parse($0, wallMs: context.wallMs) } ?? context.wallMs
    return context.wallMs + (date - now)
  }

  // MARK: - Refusals

  var failure: Failure { Failure(answer: reply, detail: TusError.text(reply), wallMs: context.wallMs) }

  /// The meaning of an error answer for which the step has no rule.
  func refused() -> Interpretation {
    // Bytes were damaged in transit: they are sent again, but not endlessly.
    if reply.status == 460 {
      let failure = Failure(.integrityMismatch, "the server computed a different checksum than was sent (460)")
      return .failed(failure, context.failures < 2 ? .retry(isThrottled: false) : .permanent)
    }
    return .refused(reply, detail: TusError.text(reply), context)
  }

  /// 412: the server wants another version of the protocol.
  var versionFailure: Failure {
    let known = printable(String((reply.field("tus-version") ?? "none named").prefix(60)))
    return Failure(
      .protoUnsupported,
      "the server does not support tus \(TusProtocol.version) (its versions: \(known)); if it supports the resumable uploads of the IETF, write resumable+ instead of tus+"
    )
  }

  func badReply(_ what: String, _ action: FailureAction) -> Interpretation {
    .badReply(reply, what, action, context)
  }
}

extension LearnedFacts {
  /// The same without an extension of tus that turned out not to work.
  func without(_ name: String) -> LearnedFacts {
    var features = discovered.map { TusFeatures($0) } ?? .least
    features.extensions.remove(name)
    var learned = self
    learned.discovered = features.values
    return learned
  }
}
