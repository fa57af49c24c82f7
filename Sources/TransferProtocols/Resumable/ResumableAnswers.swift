import TransferModel

extension ResumableProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let answer = ResumableAnswer(reply: reply, facts: facts, context: context, resumable: self)
    if case .chunk(let chunk) = step, isCreation(chunk, facts) {
      return ResumableCreationAnswer(answer: answer).withBody(chunk)
    }
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    switch step {
    case .discover: return ResumableDiscoveryAnswer(answer: answer).interpretation
    case .create: return ResumableCreationAnswer(answer: answer).empty
    case .chunk(let chunk): return ResumableBodyAnswer(answer: answer, chunk: chunk).interpretation
    case .probe: return ResumableOffsetAnswer(answer: answer).interpretation
    case .finish: return ResumableCompletionAnswer(answer: answer).interpretation
    case .abort: return Interpretation.deleted(reply) ?? answer.refused()
    case .prepareChunk, .probeChunk, .save, .verify, .makeParent:
      return .failed(Failure(.engineBug, "resumable has no request for \(step.operation)"), .permanent)
    }
  }

  /// Whether the request created the upload; a 104 may have named it meanwhile.
  private func isCreation(_ chunk: ChunkFacts, _ facts: TransferFacts) -> Bool {
    guard facts.session?.remoteID != nil else { return true }
    return opensWithBody(facts) && !facts.isResumed && !facts.isProbed && chunk.acked == 0
  }

  package func interpretInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> OpenedSession? {
    guard isMaking(step, facts) else { return nil }
    var answer = TransferReply()
    (answer.status, answer.fields) = (reply.status, reply.fields)
    return ResumableCreationAnswer(
      answer: ResumableAnswer(reply: answer, facts: facts, context: context, resumable: self)
    ).interim
  }

  private func isMaking(_ step: StepRequest, _ facts: TransferFacts) -> Bool {
    switch step {
    case .create: true
    case .chunk: facts.session != nil && facts.session?.remoteID == nil
    default: false
    }
  }
}
