import TransferModel

extension DavPatchProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    switch step {
    case .discover: return interpretOptions(reply, context)
    case .makeParent: return .collection(reply, context)
    case .create: return interpretCreate(reply, facts, context)
    case .chunk(let chunk): return interpretPatch(reply, chunk, context)
    case .probe: return interpretHead(reply, facts, context)
    case .verify:
      let moved = facts.session?.notes[Note.moved]
      return moved.map { interpretResult(reply, facts, isTold: $0 == Note.told, context) }
        ?? interpretWhole(reply, facts, context)
    case .finish: return interpretMove(reply, facts, context)
    case .abort: return interpretDelete(reply, context)
    case .prepareChunk, .probeChunk, .save:
      return .failed(Failure(.engineBug, "davpatch has no request for \(step.operation)"), .permanent)
    }
  }

  /// A collection that does not exist yet says nothing about the server's abilities: the answer to PATCH will show
  /// them.
  private func interpretOptions(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    var learned = context.learned
    switch reply.status {
    case _ where reply.isSuccess:
      let features = (reply.field("dav") ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
      learned.discovered = features.contains(Self.feature) ? [Self.feature: "announced"] : [:]
    case 404, 409, 410: learned.discovered = [Self.feature: "inconclusive"]
    default: return .refused(reply, context)
    }
    return .settled.with(learned: learned)
  }

  /// 412 means that an earlier request created the object, because nobody else uses its name. 404 and 409 mean that a
  /// parent collection is missing (RFC 4918 section 9.7.1; seen: sabre/dav 1.8.12 answers 404).
  private func interpretCreate(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    switch reply.status {
    case 200 where reply.isWebPage: return .badReply(reply, "", .retry(isThrottled: false), context)
    case 200, 201, 204, 412:
      let isWhole = facts.file.size == 0
      return (isWhole ? Interpretation.offset(0) : .settled).with(notes: [Note.made: "1"])
    case 404 where facts.parentsMade == nil, 409 where facts.parentsMade == nil:
      return .failed(Failure(answer: reply, wallMs: context.wallMs), .makeParents)
    default: return .refused(reply, context)
    }
  }

  // MARK: - Bodies

  private func interpretPatch(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ context: RequestContext
  ) -> Interpretation {
    let answer = Failure(answer: reply, wallMs: context.wallMs)
    switch reply.status {
    case 200 where reply.isWebPage: return .badReply(reply, "", .probe, context)
    case 200, 201, 204:
      let acked = chunk.body.end - chunk.range.offset
      guard acked == chunk.range.length else { return .advanced(acked: acked) }
      let part = PartReceipt(
        seq: chunk.seq, length: chunk.range.length, etag: "", digest: chunk.digests[sentDigest], confirmation: .none)
      return .stored(part, proof: nil)
    case 404, 410: return .failed(Self.gone(reply), .sessionGone)
    case 409, 416: return .failed(answer, .probe)
    case _ where reply.answersAnother: return .badReply(reply, "", .probe, context)
    case 405, 415, 501: return .failed(Self.unsupported, .permanent)
    case 413: return tooLong(chunk, answer)
    default: return .refused(reply, context)
    }
  }

  /// An intermediate proxy may limit bodies: shorter ones are tried, down to 1 MiB.
  private func tooLong(_ chunk: ChunkFacts, _ answer: Failure) -> Interpretation {
    let least: Int64 = 1 << 20
    guard chunk.body.length > least else { return .failed(answer, .permanent) }
    let shorter = max(least, min(chunk.body.length / 2, Self.defaultPart))
    return .failed(answer, .probe).with(notes: [Note.body: "\(shorter)"])
  }

  /// The length of the temporary object is the number of bytes that the server has. If it is longer than what can have
  /// been sent, it has a gap: a write beyond the end of an object fills the gap with zeros (sabre.io/dav/http-patch).
  /// If the length is not reported, unacknowledged bytes are sent again to their place.
  private func interpretHead(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    switch reply.status {
    case _ where reply.isSuccess:
      guard let length = Self.length(reply) else { return .inconclusive }
      let sent = facts.layout.range(min(facts.storedChunks, facts.layout.count - 1)).end
      guard length <= sent else {
        let text = "the temporary object has \(length) bytes, but at most \(sent) were sent"
        return .failed(Failure(.protoOffset, text), Self.action(of: reply, facts))
      }
      return .offset(length)
    case 404, 410: return .failed(Self.gone(reply), .sessionGone)
    case 400, 403, 405, 501: return .inconclusive
    default: return .refused(reply, context)
    }
  }

  // MARK: - The end

  /// Interprets HEAD of the temporary object before each MOVE. `absent` means that the object does not have its final
  /// name yet.
  private func interpretWhole(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let isAsked = facts.lostAnswer == .finish || facts.session?.notes[Note.asked] != nil
    switch reply.status {
    case _ where reply.isSuccess:
      if let difference = difference(reply, facts) {
        return .failed(Failure(.protoOffset, "the temporary object \(difference)"), Self.action(of: reply, facts))
      }
      // The doubt was about an earlier MOVE, which is now known to have had no effect.
      return .absent.with(notes: [Note.etag: reply.field("etag") ?? "", Note.doubted: ""])
    case 404 where isAsked, 410 where isAsked: return .settled.with(notes: [Note.moved: Note.missing])
    case 404, 410: return .failed(Self.gone(reply), .sessionGone)
    case 400, 403, 405, 501:
      let text = "the answer to MOVE was lost, and the server does not say whether the temporary object still exists"
      return isAsked ? inDoubt(Failure(.protoLostAnswer, text), facts) : .inconclusive
    default: return .refused(reply, context)
    }
  }

  /// An error may come from a gateway that forwarded the request.
  private func interpretMove(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    switch reply.status {
    case 201, 204: return .settled.with(notes: [Note.moved: Note.told])
    case 412 where ifNoneMatch:
      return .failed(Failure(.policyExists, "an object already exists at this URL (--if-none-match)"), .permanent)
    // An earlier MOVE may have moved it meanwhile.
    case 404, 410, 412: return .failed(Self.gone(reply), .sessionGone).with(notes: [Note.asked: "1"])
    default: return .refused(reply, context).with(notes: [Note.asked: "1"])
    }
  }

  /// Interprets HEAD of the object. If the server did not confirm the MOVE, an object that differs from what was sent
  /// is an older one; one of the same length may also be older, unless a digest or the ETag shows that it is ours.
  private func interpretResult(
    _ reply: TransferReply, _ facts: TransferFacts, isTold: Bool, _ context: RequestContext
  ) -> Interpretation {
    switch reply.status {
    case _ where reply.isSuccess:
      let difference = difference(reply, facts) ?? (isTold ? nil : otherTag(reply, facts))
      guard let difference else {
        return isTold || isRecognised(reply, facts) ? .finished(proof(reply, facts)) : inDoubt(Self.doubtful, facts)
      }
      let text = "the object \(difference)"
      return isTold
        ? .failed(Failure(.integrityMismatch, text), .permanent)
        : .failed(Failure(.protoSessionGone, "the temporary object is gone, and \(text)"), .sessionGone)
    case 404, 410: return .failed(Self.gone(reply), .sessionGone)
    case 400, 403, 405, 501: return isTold ? .inconclusive : inDoubt(Self.doubtful, facts)
    default: return .refused(reply, context)
    }
  }

  /// The file becomes `unknown`. Only a retry by a person leads on from there, and permits sending the file again: when
  /// the query about the same MOVE is inconclusive once more, another temporary object is created.
  private func inDoubt(_ failure: Failure, _ facts: TransferFacts) -> Interpretation {
    guard facts.session?.notes[Note.doubted] != nil else {
      return .failed(failure, .unknown).with(notes: [Note.doubted: "1"])
    }
    let text = "the result of MOVE still cannot be determined after a retry; the file is sent again"
    return .failed(Failure(.protoSessionGone, text), .sessionGone)
  }

  private func interpretDelete(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    // It is gone, or the server cannot delete it: nothing more can be done.
    case _ where reply.isSuccess, 404, 405, 410, 501: .settled
    default: .refused(reply, context)
    }
  }
}

/// The size of the object according to HEAD.
extension DavPatchProtocol {
  /// nil if it is not reported, or is the size of an encoding.
  private static func length(_ reply: TransferReply) -> Int64? {
    reply.field("content-encoding") == nil ? reply.number("content-length") : nil
  }

  /// The action for a temporary object that differs from what was sent: create another one. Not if it is longer than
  /// the file, because nothing was sent beyond the file's end.
  private static func action(of reply: TransferReply, _ facts: TransferFacts) -> FailureAction {
    (length(reply) ?? 0) > facts.file.size ? .permanent : .sessionGone
  }

  /// How the object differs from what was sent; nil if no difference is visible.
  private func difference(_ reply: TransferReply, _ facts: TransferFacts) -> String? {
    if let length = Self.length(reply), length != facts.file.size {
      return "has \(length) bytes, not \(facts.file.size)"
    }
    guard let sent = facts.parts.combinedDigest, let reported = ReprDigest.crc32c(reply.field("repr-digest")),
      sent != reported
    else { return nil }
    return "has the digest \(reported), but we sent \(sent)"
  }

  /// A move keeps the ETag on servers that derive it from the content, or from inode, size and time.
  private func otherTag(_ reply: TransferReply, _ facts: TransferFacts) -> String? {
    guard let before = facts.session?.notes[Note.etag], !before.isEmpty, let now = reply.field("etag"), before != now
    else { return nil }
    return "has a different ETag than before"
  }

  /// A digest or the ETag of the temporary object shows that it is what was sent.
  private func isRecognised(_ reply: TransferReply, _ facts: TransferFacts) -> Bool {
    if facts.parts.combinedDigest != nil, ReprDigest.crc32c(reply.field("repr-digest")) != nil { return true }
    guard let before = facts.session?.notes[Note.etag], !before.isEmpty else { return false }
    return before == reply.field("etag")
  }

  private static let doubtful = Failure(
    .protoLostAnswer,
    "the answer to MOVE was lost, and the server does not show whether the object is this file or an older one; check "
      + "the object, then use \"transfers resolve --done\"; or send the file again with \"transfers retry\"")

  private func proof(_ reply: TransferReply, _ facts: TransferFacts) -> FileProof {
    let (sent, reported) = (facts.parts.combinedDigest, ReprDigest.crc32c(reply.field("repr-digest")))
    let isCompared = sent != nil && reported != nil
    return FileProof(
      confirmation: isCompared ? .digest : Self.length(reply) == nil ? .none : .size, digest: sent,
      remoteDigest: reported, etag: reply.field("etag") ?? "", requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
  }

  private static func gone(_ reply: TransferReply) -> Failure {
    Failure(.protoSessionGone, "the server no longer has the temporary object (\(reply.status))")
  }
}
