import TransferModel

/// Interprets answers about uploads; and the parts that all answers share.
extension ResumableProtocol {
  /// HEAD: the offset is authoritative, even if it is lower than before.
  func interpretHead(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if [404, 410].contains(reply.status) { return gone(facts, mayBeDone: facts.lostAnswer != nil) }
    // Not allowed to query: the state is unknown, and the answer to the next PATCH, which states the expected offset,
    // will show it.
    if [400, 403, 405, 501].contains(reply.status) { return .inconclusive }
    guard reply.isSuccess else { return refused(reply, context) }
    guard let offset = StructuredField.integer(reply.field("upload-offset")) else {
      return .badReply(reply, "no numeric Upload-Offset", .retry(isThrottled: false), context)
    }
    let size = facts.file.size
    if let length = StructuredField.integer(reply.field("upload-length")), length != size {
      let text = "the upload on the server has \(length) bytes, not \(size)"
      return .failed(Failure(.protoSessionGone, text), .sessionGone)
    }
    guard offset <= size else { return .failed(TusProtocol.pastEnd(offset, size), .permanent) }
    if facts.isForgotten(offset), interop(facts).isComplete(reply) != true { return forgotten(facts) }
    let meaning = noted(reply, facts, context, .offset(offset))
    guard interop(facts).isComplete(reply) == true else { return meaning }
    guard offset == size else {
      let text = "the server ended the upload at byte \(offset) of \(size)"
      return .failed(Failure(.protoOffset, text), .permanent)
    }
    // Its final answer can perhaps be obtained again.
    return meaning.with(notes: [Self.endedNote: "1"])
  }

  /// Interprets the answer to the completion without a body.
  func interpretComplete(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let isEnded = facts.session?.notes[Self.endedNote] != nil
    switch interop(facts).isComplete(reply) {
    case true? where !reply.isSuccess: return .failed(failure(reply, context), .permanent)
    case false? where reply.isSuccess && !isEnded:
      return .failed(Failure(.protoOffset, "the server expects more bytes than the file has"), .probe)
    default: break
    }
    if isPage(reply, facts) { return .badReply(reply, "", .permanent, context) }
    if reply.isSuccess { return completed(reply, facts, context) }
    // The upload was completed before, and the server does not repeat the outcome.
    if isEnded && [400, 404, 409, 410].contains(reply.status) { return completed(reply, facts, context) }
    switch reply.status {
    case 409 where facts.inconclusive.contains(.probe): return gone(facts, mayBeDone: true)
    case 409: return .failed(failure(reply, context), .probe)
    case 404, 410: return gone(facts, mayBeDone: facts.lostAnswer != nil)
    default: return refused(reply, context)
    }
  }

  private func completed(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if let failure = mismatch(reply, facts, context) { return .failed(failure, .permanent) }
    let reported = ReprDigest.crc32c(reply.field("repr-digest"))
    let whole = facts.parts.combinedDigest
    if let whole, let reported, whole != reported {
      return .failed(
        Failure(.integrityMismatch, "the server stored \(reported), but we sent \(whole)"), .permanent)
    }
    return .finished(
      FileProof(
        confirmation: whole != nil && reported != nil ? .digest : .size, digest: whole, remoteDigest: reported,
        etag: reply.field("etag") ?? "", requestID: reply.serverRequestID, serverDate: reply.field("date") ?? ""))
  }

  func interpretDelete(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    // It is gone, or the server cannot delete it: nothing more can be done.
    case _ where reply.isSuccess, 404, 405, 410, 501: .settled
    default: refused(reply, context)
    }
  }

  /// If the last byte may have been sent too, a POST may have created its object.
  private func forgotten(_ facts: TransferFacts) -> Interpretation {
    let mayBeDone = facts.lostAnswer != nil && facts.acked >= facts.layout.range(facts.layout.count - 1).offset
    if settings.isPost && mayBeDone { return gone(facts, mayBeDone: true) }
    return .failed(TusProtocol.forgotten, .sessionGone)
  }

  /// A server may forget an upload as soon as it is complete. Creating the object again is harmless with PUT, but not
  /// with POST.
  func gone(_ facts: TransferFacts, mayBeDone: Bool) -> Interpretation {
    guard settings.isPost && mayBeDone else {
      return .failed(Failure(.protoSessionGone, "the server does not know the upload any more"), .sessionGone)
    }
    let text = "the server does not know the upload any more, which may be complete"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  // MARK: - Common to all answers

  func failure(_ reply: TransferReply, _ context: RequestContext) -> Failure {
    Failure(answer: reply, detail: ProblemDetails.text(reply), wallMs: context.wallMs)
  }

  func refused(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    .refused(reply, detail: ProblemDetails.text(reply), context)
  }

  /// Adds notes about the limits in an answer to its meaning.
  func noted(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext, _ meaning: Interpretation)
    -> Interpretation
  {
    guard let limit = UploadLimit(reply.field("upload-limit")) else { return meaning }
    var notes: [String: String] = [:]
    if let most = limit.maxAppend, most != discovery(facts.learned).limits.maxAppend {
      notes[Self.appendNote] = "\(most)"
    }
    if let expiry = expiry(reply, context) { notes[Self.expiryNote] = "\(expiry)" }
    return notes.isEmpty ? meaning : meaning.with(notes: notes)
  }

  /// Milliseconds since 1970 UTC, by our clock; the server counts from its answer.
  func expiry(_ reply: TransferReply, _ context: RequestContext) -> Int64? {
    guard let seconds = UploadLimit(reply.field("upload-limit"))?.maxAge else { return nil }
    return context.wallMs + min(seconds, 1 << 32) * 1_000
  }
}
