import TransferModel

/// One answer with everything that its meaning depends on, and the rules that apply to the answers of all requests.
struct S3Answer {
  var reply: TransferReply
  let facts: TransferFacts
  let context: RequestContext
  let settings: S3Settings

  func badReply(_ what: String, _ action: FailureAction) -> Interpretation {
    .failed(Failure(answer: reply, code: .protoBadReply, detail: what, wallMs: context.wallMs), action)
  }

  /// The meaning of an error answer to `step` for which there is no special rule.
  func failed(_ error: S3Error, _ step: StepRequest) -> Interpretation {
    func failure(_ code: ErrorCode? = nil, _ advice: String = "") -> Failure {
      let detail = [error.code, error.message].filter { !$0.isEmpty }.joined(separator: ": ")
      var failure = Failure(answer: reply, code: code, detail: detail, wallMs: context.wallMs)
      failure.message += advice
      return failure
    }
    switch error.meaning(status: reply.status) {
    // Without a code it comes from a gateway, which may have forwarded the request: whether an upload was created can
    // be queried.
    case .throttled where step == .create && error.code.isEmpty && reply.mayHideSuccess(context):
      return .failed(failure(), .probe)
    case .throttled: return .failed(failure(), .retry(isThrottled: true))
    case .retry: return .failed(failure(), step == .create ? .probe : .retry(isThrottled: false))
    case .mismatch: return .failed(failure(.integrityMismatch), .retry(isThrottled: false))
    case .region: return region(error, failure(.httpRedirect))
    case .clock: return clock(failure())
    case .credential: return .failed(failure(.authExpired), .refreshCredential)
    case .refused: return .failed(failure(.authRefused), .permanent)
    case .noBucket: return .failed(failure(.protoNoDestination), .permanent)
    case .sessionGone: return .failed(failure(.protoSessionGone), .sessionGone)
    case .partsWrong: return .failed(failure(.protoOffset), .probe)
    case .exists:
      return .failed(Failure(.policyExists, "there is already an object with this key (--if-none-match)"), .permanent)
    case .unsupported: return unsupported(step, failure())
    case .permanent: return .failed(failure(), .permanent)
    }
  }

  /// The server answers, but does not permit the query: this says nothing about what is stored.
  func cannotBeAsked(_ error: S3Error) -> Bool {
    guard [400, 403, 405, 501].contains(reply.status) else { return false }
    switch error.meaning(status: reply.status) {
    case .permanent, .unsupported: return true
    case .retry, .throttled, .mismatch, .region, .clock, .credential, .refused, .noBucket, .sessionGone, .partsWrong,
      .exists:
      return false
    }
  }

  /// An object exists. It may be ours, because an answer may have been lost, or an intermediary may have repeated a
  /// request. So it is queried once before it counts as somebody else's. If queries are not allowed and an answer was
  /// lost, the outcome is unknown.
  func exists() -> Interpretation {
    if facts.inconclusive.contains(.verify), facts.lostAnswer != nil {
      let text = "there is an object with this key, perhaps from our request whose answer was lost (--if-none-match)"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    let failure = Failure(.policyExists, "there is already an object with this key (--if-none-match)")
    return .failed(failure, facts.isAbsent ? .permanent : .probe)
  }

  private func region(_ error: S3Error, _ failure: Failure) -> Interpretation {
    guard let region = error.region, region != (context.learned.region ?? settings.region) else {
      var failure = failure
      let origin = reply.redirectOrigin
      failure.message += origin.isEmpty ? "; set the region of the bucket with --region" : "; it points to \(origin)"
      return .failed(failure, .permanent)
    }
    var learned = context.learned
    learned.region = region
    return .failed(failure, .repair).with(learned: learned)
  }

  private func clock(_ failure: Failure) -> Interpretation {
    guard let skew = skewMs, abs(skew - context.learned.clockSkewMs) > 1_000 else {
      return .failed(failure, .retry(isThrottled: false))
    }
    var learned = context.learned
    learned.clockSkewMs = skew
    return .failed(failure, .repair).with(learned: learned)
  }

  /// The server's clock minus ours, by the answer's `Date`.
  var skewMs: Int64? {
    reply.field("date").flatMap { HTTPDate.parse($0, wallMs: context.wallMs) }.map { $0 - context.wallMs }
  }

  /// Our checksum field is the first suspect: it is removed, once for a destination. If that does not help, the refusal
  /// is real.
  private func unsupported(_ step: StepRequest, _ failure: Failure) -> Interpretation {
    var learned = context.learned
    if let support = checksumSupport(step), learned[keyPath: support] == .untried {
      learned[keyPath: support] = .refused
      return .failed(failure, .repair).with(learned: learned)
    }
    if step == .finish, reply.status == 501, !learned.refusesObjectSize {
      learned.refusesObjectSize = true
      return .failed(failure, .repair).with(learned: learned)
    }
    guard settings.ifNoneMatch, failure.code == .http5xx else { return .failed(failure, .permanent) }
    var failure = failure
    failure.code = .protoUnsupported
    failure.message += "; it may not know If-None-Match: push without --if-none-match"
    return .failed(failure, .permanent)
  }

  /// Where the support for checksums of such requests is recorded; nil for requests without one.
  func checksumSupport(_ step: StepRequest) -> WritableKeyPath<LearnedFacts, LearnedFacts.ChecksumSupport>? {
    switch step {
    case .create: \.partChecksums
    case .chunk: facts.layout.count > 1 ? \.partChecksums : \.checksums
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent: nil
    }
  }
}

extension TransferReply {
  /// The document of a complete answer; nil for anything else.
  var completeDocument: XMLElement? { isBodyTruncated ? nil : try? XMLElement(document: body) }
}
