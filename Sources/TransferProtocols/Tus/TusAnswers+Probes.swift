import TransferModel

/// Interprets answers about uploads, and about several uploads that are concatenated.
extension TusProtocol {
  /// HEAD of the upload: the offset is authoritative, even if it is lower than before.
  func interpretHead(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    guard reply.isSuccess else { return unknownUpload(reply, .inconclusive, context) }
    guard let offset = reply.number("upload-offset") else {
      return .badReply(reply, "no numeric Upload-Offset", .retry(isThrottled: false), context)
    }
    if let failure = otherLength(reply, facts.file.size) { return .failed(failure, .sessionGone) }
    guard offset <= facts.file.size else { return .failed(Self.pastEnd(offset, facts.file.size), .permanent) }
    if facts.isForgotten(offset) { return .failed(Self.forgotten, .sessionGone) }
    return .offset(offset)
  }

  /// 404 and 410 mean that the upload is gone. 403 may mean that too, or that HEAD is not allowed, like 400, 405 and
  /// 501: the state is then unknown (`inconclusive`), and the answer to the next PATCH, which states the expected
  /// offset, will show it.
  private func unknownUpload(_ reply: TransferReply, _ inconclusive: Interpretation, _ context: RequestContext)
    -> Interpretation
  {
    switch reply.status {
    case 404, 410:
      let text = "the server does not know the upload any more (\(reply.status))"
      return .failed(Failure(.protoSessionGone, text), .sessionGone)
    case 400, 403, 405, 501: return inconclusive
    default: return refused(reply, context)
    }
  }

  private func otherLength(_ reply: TransferReply, _ length: Int64) -> Failure? {
    guard let announced = reply.number("upload-length"), announced != length else { return nil }
    return Failure(.protoSessionGone, "the upload on the server has \(announced) bytes, not \(length)")
  }

  func interpretDelete(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    // It is gone, or the server cannot delete it: nothing more can be done.
    case _ where reply.isSuccess, 404, 405, 410, 501: .settled
    default: refused(reply, context)
    }
  }

  // MARK: - Concatenated uploads

  func interpretPartial(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if reply.status == 501 || TusError.code(reply).contains("CONCAT") {
      let failure = Failure(.protoUnsupported, "the server announces concatenation, but refuses it")
      return .failed(failure, .sessionGone).with(learned: context.learned.without("concatenation"))
    }
    guard reply.isSuccess else { return refusedCreation(reply, context) }
    do throws(Failure) {
      let url = try SessionURL.read(reply, endpoint.origin, request: endpointURL(facts))
      return .chunkPrepared(["url": url, "written": reply.field("location") ?? url])
    } catch {
      return .failed(error, .permanent)
    }
  }

  func interpretPartialHead(_ reply: TransferReply, _ chunk: ChunkFacts, _ context: RequestContext) -> Interpretation {
    guard reply.isSuccess else {
      return unknownUpload(reply, .chunkProbed(acked: chunk.acked), context)
    }
    guard let offset = reply.number("upload-offset") else {
      return .badReply(reply, "no numeric Upload-Offset", .retry(isThrottled: false), context)
    }
    if let failure = otherLength(reply, chunk.range.length) { return .failed(failure, .sessionGone) }
    guard offset <= chunk.range.length else { return .failed(Self.pastEnd(offset, chunk.range.length), .permanent) }
    // Queried only after a body was sent there.
    if offset == 0, chunk.range.length > 0 { return .failed(Self.forgotten, .sessionGone) }
    guard offset == chunk.range.length else { return .chunkProbed(acked: offset) }
    let part = PartReceipt(
      seq: chunk.seq, length: offset, etag: "", digest: nil, confirmation: .size, remote: chunk.remote)
    return .stored(part, proof: nil)
  }

  /// The answer to the concatenation. An error that may hide a success is treated like a lost answer, because the
  /// outcome cannot be queried.
  func interpretJoin(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let mayFollow = reply.mayFollowSuccess || reply.saysNothing
    switch reply.status {
    case _ where reply.isSuccess: return joined(reply, facts, context)
    case 404, 410: return unfinished(reply, context)
    case 400 where TusError.isAboutParts(reply): return unfinished(reply, context)
    case 409: return .failed(failure(reply, context), .retry(isThrottled: false))
    case 500 where TusError.code(reply) == "ERR_LOCK_TIMEOUT": return refused(reply, context)
    case 500, 502, 504, 520..<528, 598, 599:
      return .failed(Failure(afterDelivery: reply, context, detail: TusError.text(reply)), .unknown)
    case _ where mayFollow || (StatusClass(reply.status) == .throttled && reply.mayHideSuccess(context)):
      return .failed(Failure(afterDelivery: reply, context, detail: TusError.text(reply)), .unknown)
    default: return refused(reply, context)
    }
  }

  private func joined(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    do throws(Failure) {
      let url = try SessionURL.read(reply, endpoint.origin, request: endpointURL(facts))
      return .settled.with(notes: [Self.finalNote: url])
    } catch {
      return .failed(error, .unknown)
    }
  }

  private func unfinished(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    var failure = failure(reply, context)
    failure.code = .protoSessionGone
    return .failed(failure, .sessionGone)
  }

  /// HEAD of the concatenated upload. Some servers do not show it.
  func interpretFinal(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case _ where reply.isSuccess: break
    case 403, 404, 405, 410: return .finished(proof(reply, facts, .none))
    default: return refused(reply, context)
    }
    let length = reply.number("upload-length")
    if let length, length != facts.file.size {
      let text = "the server joined the uploads to \(length) bytes, but the file has \(facts.file.size)"
      return .failed(Failure(.integrityMismatch, text), .permanent)
    }
    guard let offset = reply.number("upload-offset") else { return merging(reply, facts) }
    guard offset == facts.file.size else {
      let text = "the server joined the uploads and has \(offset) bytes of \(facts.file.size)"
      return .failed(Failure(.protoOffset, text), .retry(isThrottled: false))
    }
    return .finished(proof(reply, facts, .size))
  }

  /// The server is still processing: it is polled at growing intervals, for about half an hour.
  private func merging(_ reply: TransferReply, _ facts: TransferFacts) -> Interpretation {
    let polls = facts.session?.notes[Self.pollNote].flatMap { Int64($0) } ?? 0
    guard polls < 30 else { return .finished(proof(reply, facts, .none)) }
    return .notYet(afterMs: 1_000 << min(polls, 6)).with(notes: [Self.pollNote: "\(polls + 1)"])
  }

  private func proof(_ reply: TransferReply, _ facts: TransferFacts, _ confirmation: Confirmation) -> FileProof {
    FileProof(
      confirmation: confirmation, digest: facts.parts.combinedDigest, requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
  }
}
