import TransferModel

extension DavPatchProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    let answer = DavPatchAnswer(reply: reply, facts: facts, context: context, dav: self)
    switch step {
    case .discover: return discovered(answer)
    case .makeParent: return .collection(reply, context)
    case .create: return created(answer)
    case .chunk(let chunk): return DavPatchBodyAnswer(answer: answer, chunk: chunk).interpretation
    case .probe: return DavPatchOffsetAnswer(answer: answer).interpretation
    case .verify: return DavPatchMoveAnswer(answer: answer).verification
    case .finish: return DavPatchMoveAnswer(answer: answer).move
    case .abort: return Interpretation.deleted(reply) ?? answer.refused()
    case .prepareChunk, .probeChunk, .save:
      return .failed(Failure(.engineBug, "davpatch has no request for \(step.operation)"), .permanent)
    }
  }

  /// A collection that does not exist yet says nothing about the server's abilities: the answer to PATCH will show
  /// them.
  private func discovered(_ answer: DavPatchAnswer) -> Interpretation {
    var learned = answer.context.learned
    let reply = answer.reply
    switch reply.status {
    case _ where reply.isSuccess:
      let features = (reply.field("dav") ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
      learned.discovered = features.contains(Self.feature) ? [Self.feature: "announced"] : [:]
    case 404, 409, 410: learned.discovered = [Self.feature: "inconclusive"]
    default: return answer.refused()
    }
    return .settled.with(learned: learned)
  }

  /// 412 means that an earlier request created the object, because nobody else uses its name. 404 and 409 mean that a
  /// parent collection is missing (RFC 4918 section 9.7.1; seen: sabre/dav 1.8.12 answers 404).
  private func created(_ answer: DavPatchAnswer) -> Interpretation {
    let (reply, facts) = (answer.reply, answer.facts)
    switch reply.status {
    case 200 where reply.isWebPage: return answer.badReply(.retry(isThrottled: false))
    case 200, 201, 204, 412:
      let isWhole = facts.file.size == 0
      return (isWhole ? Interpretation.offset(0) : .settled).with(notes: [Note.made: "1"])
    case 404 where facts.parentsMade == nil, 409 where facts.parentsMade == nil:
      return .failed(answer.failure, .makeParents)
    default: return answer.refused()
    }
  }
}
