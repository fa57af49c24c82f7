import TransferModel

extension S3Protocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return lost(failure, reply, step, facts) }
    switch step {
    case .create: return interpretCreate(reply, facts, context)
    case .probe(let marker):
      return facts.session?.remoteID == nil
        ? interpretUnlistedUploads(reply, marker, facts, context) : interpretParts(reply, marker, facts, context)
    case .chunk(let chunk): return interpretChunk(reply, chunk, facts, context)
    case .finish: return interpretComplete(reply, facts, context)
    case .verify: return interpretVerify(reply, facts, context)
    case .abort: return interpretAbort(reply, facts, context)
    case .makeParent, .prepareChunk, .probeChunk, .discover, .save:
      return .failed(Failure(.engineBug, "s3 has no request for \(step.operation)"), .permanent)
    }
  }

  /// No answer was received. Creating and completing may have succeeded: the next step queries that.
  private func lost(
    _ failure: Failure, _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts
  ) -> Interpretation {
    let remedy = Remedy(transport: failure)
    if case .chunk(let chunk) = step, reply.requestMayHaveArrived, case .retry = remedy {
      return doubted(chunk, reply, facts, .failed(failure, remedy))
    }
    let isAmbiguous = step == .create || step == .finish
    if isAmbiguous, reply.requestMayHaveArrived, case .retry = remedy { return .failed(failure, .probe) }
    return .failed(failure, remedy)
  }

  private func interpretCreate(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    guard reply.status == 200 else { return failed(reply, S3Error(reply), .create, facts, context) }
    guard let root = document(reply), root.name == "InitiateMultipartUploadResult" || root.name.hasSuffix("Response"),
      let remoteID = root.value("UploadId"), remoteID.utf8.count <= Self.longestUploadID
    else { return badReply(reply, "no upload id in the answer to create", .probe, context) }
    return .opened(OpenedSession(remoteID: remoteID, expiresAtMs: nil))
  }

  /// Maximum length in bytes; the ID goes into the URL of each part. MinIO's have some 150, AWS's 128.
  private static let longestUploadID = 2 << 10

  private func interpretAbort(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    if reply.isSuccess { return .settled }
    let error = S3Error(reply)
    if reply.status == 404 && !error.isOfAll(status: 404) { return .settled }
    return failed(reply, error, .abort(remoteID: ""), facts, context)
  }

  // MARK: - Common to all answers

  /// The document of a complete answer; nil for anything else.
  func document(_ reply: TransferReply) -> XMLElement? {
    reply.isBodyTruncated ? nil : try? XMLElement(document: reply.body)
  }

  func badReply(_ reply: TransferReply, _ what: String, _ remedy: Remedy, _ context: RequestContext) -> Interpretation {
    .failed(Failure(answer: reply, code: .protoBadReply, detail: what, wallMs: context.wallMs), remedy)
  }

  /// The meaning of an error answer to `step` for which there is no special rule.
  func failed(
    _ reply: TransferReply, _ error: S3Error, _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
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
    case .region: return region(reply, error, failure(.httpRedirect), context)
    case .clock: return clock(reply, failure(), context)
    case .credential: return .failed(failure(.authExpired), .refreshCredential)
    case .refused: return .failed(failure(.authRefused), .permanent)
    case .noBucket: return .failed(failure(.protoNoDestination), .permanent)
    case .sessionGone: return .failed(failure(.protoSessionGone), .sessionGone)
    case .partsWrong: return .failed(failure(.protoOffset), .probe)
    case .exists:
      return .failed(Failure(.policyExists, "there is already an object with this key (--if-none-match)"), .permanent)
    case .unsupported: return unsupported(reply, step, facts, failure(), context)
    case .permanent: return .failed(failure(), .permanent)
    }
  }

  private func region(
    _ reply: TransferReply, _ error: S3Error, _ failure: Failure, _ context: RequestContext
  ) -> Interpretation {
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

  private func clock(_ reply: TransferReply, _ failure: Failure, _ context: RequestContext) -> Interpretation {
    guard let skew = skewMs(reply, context), abs(skew - context.learned.clockSkewMs) > 1_000 else {
      return .failed(failure, .retry(isThrottled: false))
    }
    var learned = context.learned
    learned.clockSkewMs = skew
    return .failed(failure, .repair).with(learned: learned)
  }

  /// The server's clock minus ours, by the answer's `Date`.
  func skewMs(_ reply: TransferReply, _ context: RequestContext) -> Int64? {
    reply.field("date").flatMap { HTTPDate.parse($0, wallMs: context.wallMs) }.map { $0 - context.wallMs }
  }

  /// Our checksum field is the first suspect: it is removed, once for a destination. If that does not help, the refusal
  /// is real.
  private func unsupported(
    _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts, _ failure: Failure, _ context: RequestContext
  ) -> Interpretation {
    var learned = context.learned
    if let support = checksumSupport(step, facts), learned[keyPath: support] == .untried {
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
  func checksumSupport(
    _ step: StepRequest, _ facts: TransferFacts
  ) -> WritableKeyPath<LearnedFacts, LearnedFacts.ChecksumSupport>? {
    switch step {
    case .create: \.partChecksums
    case .chunk: facts.layout.count > 1 ? \.partChecksums : \.checksums
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent: nil
    }
  }
}
