import TransferModel

extension ResumableProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if case .chunk(let chunk) = step, isCreation(chunk, facts) {
      return interpretCreateWithBody(reply, chunk, facts, context)
    }
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    switch step {
    case .discover: return interpretDiscover(reply, facts, context)
    case .create: return interpretCreate(reply, facts, context)
    case .chunk(let chunk): return interpretAppend(reply, chunk, facts, context)
    case .probe: return interpretHead(reply, facts, context)
    case .finish: return interpretComplete(reply, facts, context)
    case .abort: return interpretDelete(reply, context)
    case .prepareChunk, .probeChunk, .save, .verify, .makeParent:
      return .failed(Failure(.engineBug, "resumable has no request for \(step.operation)"), .permanent)
    }
  }

  /// Whether the request created the upload; a 104 may have named it meanwhile.
  private func isCreation(_ chunk: ChunkFacts, _ facts: TransferFacts) -> Bool {
    guard facts.session?.remoteID != nil else { return true }
    return opensWithBody(facts) && !facts.isResumed && !facts.isProbed && chunk.acked == 0
  }

  // MARK: - Discovery

  private func interpretDiscover(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    guard case .unasked(let asked) = discovery(facts.learned).finding,
      case .unasked = discovery(context.learned).finding
    else { return .settled }
    // The answer of a restarting gateway says nothing about the server behind it.
    let kind = StatusClass(reply.status)
    if kind == .throttled || (kind == .retry && context.failures < 2) { return refused(reply, context) }
    var learned = context.learned
    learned.discovered = Discovery.values(reply, asked: asked)
    return .settled.with(learned: learned)
  }

  // MARK: - Bodies

  private func interpretAppend(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let isLast = chunk.body.end == facts.file.size
    let complete = interop(facts).isComplete(reply)
    if complete == true {
      guard isLast || !reply.isSuccess else {
        return .badReply(reply, "it ended the upload before all of it was sent", .permanent, context)
      }
      return ended(reply, chunk, facts, context)
    }
    guard reply.isSuccess else { return refusedAppend(reply, chunk, facts, context) }
    if reply.isWebPage { return .badReply(reply, "", .permanent, context) }
    if isLast && complete == nil { return ended(reply, chunk, facts, context) }
    let offset = StructuredField.integer(reply.field("upload-offset")) ?? chunk.body.end
    guard offset <= facts.file.size else { return .failed(TusProtocol.pastEnd(offset, facts.file.size), .permanent) }
    return noted(reply, facts, context, progress(chunk, to: offset - chunk.range.offset))
  }

  private func progress(_ chunk: ChunkFacts, to acked: Int64) -> Interpretation {
    guard acked > chunk.acked, acked <= chunk.body.end - chunk.range.offset else {
      let text = "the server's offset is not at the end of the sent body"
      return .failed(Failure(.protoOffset, text), .probe)
    }
    guard acked == chunk.range.length else { return .advanced(acked: acked) }
    let isChecked = settings.sendsDigests && chunk.acked == 0
    return .stored(part(chunk, isChecked ? .digest : .size), proof: nil)
  }

  private func part(_ chunk: ChunkFacts, _ confirmation: Confirmation, _ remote: [String: String] = [:]) -> PartReceipt
  {
    PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: remote["etag"] ?? "", digest: chunk.digests[sentDigest],
      confirmation: confirmation, remote: remote)
  }

  /// Interprets the final answer of the program behind the upload, whatever its status: nothing can be resumed after
  /// it.
  func ended(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if reply.answersAnother { return .inconclusive(by: reply) }
    guard reply.isSuccess else { return .failed(failure(reply, context), .permanent) }
    // Servers of plain files (Apache) answer 201 with a page; 200 with a page comes from an intermediary.
    if isPage(reply, facts) {
      let isMade = facts.session?.remoteID != nil
      return .badReply(reply, "", settings.isPost && !isMade ? .unknown : .permanent, context)
    }
    if chunk.range.length == facts.file.size { return endedWhole(reply, chunk, facts, context) }
    if let failure = mismatch(reply, facts, context) { return .failed(failure, .permanent) }
    var remote = [Self.completeKey: "\(reply.status)"]
    remote["crc32c"] = ReprDigest.crc32c(reply.field("repr-digest"))?.description
    for (name, value) in [
      ("etag", reply.field("etag") ?? ""), ("request", reply.serverRequestID), ("date", reply.field("date") ?? ""),
    ] where !value.isEmpty { remote[name] = value }
    let isChecked = settings.sendsDigests && chunk.acked == 0
    return .stored(part(chunk, isChecked ? .digest : .size, remote), proof: nil)
  }

  /// Whether the answer is a web page from something that does not support resumable uploads.
  func isPage(_ reply: TransferReply, _ facts: TransferFacts) -> Bool {
    let accepts = settings.answers.acceptsPage(for: settings.mediaType.type(of: facts.file.key))
    return reply.isWebPage && reply.status == 200 && interop(facts).isComplete(reply) == nil && !accepts
  }

  /// Interprets the answer to a body with the whole file. Wrongly stored content stays wrong, and querying the offset
  /// would not show it, so the file is sent again as another upload.
  private func endedWhole(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    var context = context
    if context.fileDigests[.sha256] == nil, chunk.body.length == facts.file.size {
      context.fileDigests[.sha256] = chunk.digests[.sha256]
    }
    let isNamed = facts.session?.remoteID != nil
    if let failure = mismatch(reply, facts, context) {
      return .failed(failure, settings.isPost ? .permanent : isNamed ? .sessionGone : .retry(isThrottled: false))
    }
    var interpreter = bodyInterpreter(facts)
    // The server supports uploads: whatever the status, the answer is that of the program behind it.
    if isNamed || interop(facts).isComplete(reply) == true {
      (interpreter.acceptsPage, interpreter.accepts202, interpreter.acceptsAnyStatus) = (true, true, true)
    }
    let meaning = interpreter.interpret(reply, chunk, facts, context)
    if case .failed(let failure, .retry) = meaning.outcome, failure.code == .integrityMismatch, isNamed {
      return .failed(failure, .sessionGone)
    }
    return meaning
  }

  /// The server reports an SHA-256 of the whole file that differs from ours.
  func mismatch(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Failure? {
    guard let sent = context.fileDigests[.sha256],
      let reported = ReprDigest.value(.sha256, "sha-256", reply.field("repr-digest")), sent != reported
    else { return nil }
    return Failure(.integrityMismatch, "the server stored \(reported), but we sent \(sent)")
  }

  func refusedAppend(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let answer = failure(reply, context)
    switch reply.status {
    // If the server does not report its offset, the upload cannot be continued; and it may be complete.
    case 409 where facts.inconclusive.contains(.probe), 403 where facts.inconclusive.contains(.probe):
      return gone(facts, mayBeDone: true)
    case 409: return .failed(answer, .probe)
    case _ where reply.answersAnother: return .badReply(reply, "", .probe, context)
    case 404, 410: return gone(facts, mayBeDone: facts.lostAnswer != nil && chunk.body.end == facts.file.size)
    case 413: return tooLong(reply, chunk, facts, answer)
    // An earlier request completed it: HEAD shows how.
    case 400 where ProblemDetails(reply)?.isCompleted == true: return .failed(answer, .probe)
    case 400 where ProblemDetails(reply)?.isDigestMismatch == true:
      let failure = Failure(.integrityMismatch, answer.message)
      return .failed(failure, context.failures < 2 ? .retry(isThrottled: false) : .permanent)
    default: return refused(reply, context)
    }
  }

  /// An intermediary may limit bodies: shorter ones are tried, down to the minimum that the server requires.
  private func tooLong(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ answer: Failure
  ) -> Interpretation {
    let announced = UploadLimit(reply.field("upload-limit")) ?? discovery(facts.learned).limits
    if let refusal = announced.refusal(size: facts.file.size) { return .failed(refusal, .permanent) }
    let least = max(announced.minAppend ?? 0, min(TusSettings.mebibyte, announced.maxAppend ?? .max))
    guard chunk.body.length > least else { return .failed(answer, .permanent) }
    let half = max(1, min(chunk.body.length / 2, TusSettings.defaultPart))
    let shorter = max(least, min(half, announced.maxAppend ?? .max))
    return .failed(answer, .probe).with(notes: [Self.bodyNote: "\(shorter)"])
  }
}
