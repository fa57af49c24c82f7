import TransferModel

extension TusProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return lost(failure, reply, step) }
    switch step {
    case .discover: return interpretDiscover(reply, context)
    case .create: return interpretCreate(reply, facts, context)
    case .chunk(let chunk):
      return facts.session?.remoteID == nil
        ? interpretCreateWithBody(reply, chunk, facts, context) : interpretPatch(reply, chunk, facts, context)
    case .probe: return interpretHead(reply, facts, context)
    case .prepareChunk: return interpretPartial(reply, facts, context)
    case .probeChunk(let chunk): return interpretPartialHead(reply, chunk, context)
    case .finish: return interpretJoin(reply, facts, context)
    case .verify: return interpretFinal(reply, facts, context)
    case .abort: return interpretDelete(reply, context)
    case .save, .makeParent: return .failed(Failure(.engineBug, "tus has no request for \(step.operation)"), .permanent)
    }
  }

  /// No answer was received. All steps but the concatenation can be queried, or repeated without effect.
  private func lost(_ failure: Failure, _ reply: TransferReply, _ step: StepRequest) -> Interpretation {
    guard step == .finish, reply.requestMayHaveArrived else {
      return .failed(failure, FailureAction(transport: failure))
    }
    let text = "the answer to joining the uploads was lost, and it may have taken effect: \(failure.message)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  /// A server that does not answer OPTIONS may still accept uploads.
  private func interpretDiscover(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    var learned = context.learned
    switch StatusClass(reply.status) {
    case .success: learned.discovered = TusFeatures(reply).values
    case .throttled, .redirect: return refused(reply, context)
    case .retry, .permanent: learned.discovered = TusFeatures.least.values
    }
    return .settled.with(learned: learned)
  }

  // MARK: - Creation

  private func interpretCreate(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    guard reply.isSuccess else { return refusedCreation(reply, context) }
    do throws(Failure) {
      let url = try SessionURL.read(reply, endpoint.origin, request: endpointURL(facts))
      let expiry = expiry(reply, context)
      guard facts.file.size == 0 else { return .opened(OpenedSession(remoteID: url, expiresAtMs: expiry)) }
      // No body follows: the upload is already complete.
      return .offset(0).with(opened: OpenedSession(remoteID: url, expiresAtMs: expiry))
    } catch {
      return .failed(error, .permanent)
    }
  }

  private func interpretCreateWithBody(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.isSuccess else {
      return reply.status == 460 ? refused(reply, context) : refusedCreation(reply, context)
    }
    do throws(Failure) {
      let url = try SessionURL.read(reply, endpoint.origin, request: endpointURL(facts))
      let expiry = expiry(reply, context)
      let stored = reply.number("upload-offset") ?? 0
      guard stored > 0 else {
        return .failed(Self.stoodStill(0), .repair).with(opened: OpenedSession(remoteID: url, expiresAtMs: expiry))
          .with(learned: context.learned.without("creation-with-upload"))
      }
      return progress(chunk, to: stored, isChecked: false, reply).with(
        opened: OpenedSession(remoteID: url, expiresAtMs: expiry))
    } catch {
      return .failed(error, .permanent)
    }
  }

  /// Nothing was created, so a conflict or a lock is temporary.
  func refusedCreation(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case 405:
      var failure = failure(reply, context)
      failure.message +=
        "; uploads are created by POST at one URL: give that as the destination, with {path} in its query if the server needs the name"
      return .failed(failure, .permanent)
    case 409: return .failed(failure(reply, context), .retry(isThrottled: false))
    case 412: return .failed(version(reply), .permanent)
    default: return refused(reply, context)
    }
  }

  // MARK: - Bodies

  /// The answer to a PATCH of the upload, or of the chunk's own upload.
  private func interpretPatch(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.isSuccess else { return refusedPatch(reply, chunk, facts, context) }
    guard let offset = reply.number("upload-offset") else {
      return .badReply(reply, "no numeric Upload-Offset", .probe, context)
    }
    let isPartial = isConcatenated(facts)
    let end = isPartial ? chunk.range.length : facts.file.size
    guard offset <= end else { return .failed(Self.pastEnd(offset, end), .permanent) }
    let acked = isPartial ? offset : offset - chunk.range.offset
    let isChecked = chunk.acked == 0 && checksum(context.learned).map { chunk.digests[$0.algorithm] != nil } == true
    let meaning = progress(chunk, to: acked, isChecked: isChecked, reply)
    guard !isPartial, let expiry = expiry(reply, context) else { return meaning }
    return meaning.with(notes: [Self.expiryNote: "\(expiry)"])
  }

  /// The server has `acked` bytes of the chunk after it accepted a body.
  func progress(_ chunk: ChunkFacts, to acked: Int64, isChecked: Bool, _ reply: TransferReply) -> Interpretation {
    let sent = chunk.body.end - chunk.range.offset
    guard acked > chunk.acked else { return .failed(Self.stoodStill(acked), .probe) }
    guard acked <= sent else {
      let text = "the server reports \(acked) bytes of the chunk after \(sent) were sent"
      return .failed(Failure(.protoOffset, text), .probe)
    }
    guard acked == chunk.range.length else { return .advanced(acked: acked) }
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: chunk.digests[sentDigest],
      confirmation: isChecked ? .digest : .size, remote: chunk.remote)
    return .stored(part, proof: nil)
  }

  private func refusedPatch(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let answer = failure(reply, context)
    switch reply.status {
    // Another client, or an earlier request of ours, moved the offset. If the server does not report its offset, the
    // upload cannot be continued.
    case 409 where facts.inconclusive.contains(.probe), 403 where facts.inconclusive.contains(.probe):
      return .failed(
        Failure(.protoSessionGone, "the server does not say how much of the upload it has, and refuses to continue"),
        .sessionGone)
    case 409: return .failed(answer, .probe)
    case _ where reply.answersAnother: return .badReply(reply, "", .probe, context)
    case 404, 410:
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    case 405 where !settings.overridesMethod:
      return .failed(
        Failure(answer.code, answer.message + "; it may take POST instead of PATCH: --method-override"), .permanent)
    case 412: return .failed(version(reply), .permanent)
    case 413: return tooLong(reply, chunk, answer)
    case 400: return refusedAsWrong(reply, chunk, answer, context)
    default: return refused(reply, context)
    }
  }

  /// An intermediate proxy may limit bodies: shorter ones are tried, down to 1 MiB.
  private func tooLong(_ reply: TransferReply, _ chunk: ChunkFacts, _ answer: Failure) -> Interpretation {
    let isFinal = TusError.isSize(TusError.code(reply))
    guard !isFinal, chunk.body.length > TusSettings.mebibyte else { return .failed(answer, .permanent) }
    let shorter = max(TusSettings.mebibyte, min(chunk.body.length / 2, TusSettings.defaultPart))
    return .failed(answer, .probe).with(notes: [Self.bodyNote: "\(shorter)"])
  }

  /// 400 has many meanings in tusd; from other servers it may mean an unsupported algorithm: bodies are then sent
  /// without checksums.
  private func refusedAsWrong(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ answer: Failure, _ context: RequestContext
  ) -> Interpretation {
    if TusError.passes(reply) { return .failed(answer, .probe) }
    // Decided by the content of this request: another one may have shown meanwhile that checksums do not work.
    guard TusError.code(reply).isEmpty, TusFeatures.known.contains(where: { chunk.digests[$0.algorithm] != nil })
    else { return .failed(answer, .permanent) }
    return .failed(answer, .repair).with(learned: context.learned.without("checksum"))
  }

  // MARK: - Common to all answers

  func failure(_ reply: TransferReply, _ context: RequestContext) -> Failure {
    Failure(answer: reply, detail: TusError.text(reply), wallMs: context.wallMs)
  }

  /// The meaning of an error answer for which the step has no rule.
  func refused(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    // Bytes were damaged in transit: they are sent again, but not endlessly.
    if reply.status == 460 {
      let failure = Failure(.integrityMismatch, "the server computed a different checksum than was sent (460)")
      return .failed(failure, context.failures < 2 ? .retry(isThrottled: false) : .permanent)
    }
    return .refused(reply, detail: TusError.text(reply), context)
  }

  func version(_ reply: TransferReply) -> Failure {
    let known = printable(String((reply.field("tus-version") ?? "none named").prefix(60)))
    return Failure(
      .protoUnsupported,
      "the server does not support tus \(Self.version) (its versions: \(known)); if it supports the resumable uploads of the IETF, write resumable+ instead of tus+"
    )
  }

  /// Milliseconds since 1970 UTC, by our clock.
  func expiry(_ reply: TransferReply, _ context: RequestContext) -> Int64? {
    guard let text = reply.field("upload-expires"), let date = HTTPDate.parse(text, wallMs: context.wallMs) else {
      return nil
    }
    let now = reply.field("date").flatMap { HTTPDate.parse($0, wallMs: context.wallMs) } ?? context.wallMs
    return context.wallMs + (date - now)
  }

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

extension LearnedFacts {
  /// The same without an extension that turned out not to work.
  func without(_ name: String) -> LearnedFacts {
    var features = discovered.map { TusFeatures($0) } ?? .least
    features.extensions.remove(name)
    var learned = self
    learned.discovered = features.values
    return learned
  }
}
