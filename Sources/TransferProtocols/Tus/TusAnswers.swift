import TransferModel

extension TusProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return lost(failure, reply, step) }
    let answer = TusAnswer(reply: reply, facts: facts, context: context, tus: self)
    switch step {
    case .discover: return TusDiscoveryAnswer(answer: answer).interpretation
    case .create: return TusCreationAnswer(answer: answer).empty
    case .chunk(let chunk):
      return facts.session?.remoteID == nil
        ? TusCreationAnswer(answer: answer).withBody(chunk)
        : TusBodyAnswer(answer: answer, chunk: chunk).interpretation
    case .probe: return TusOffsetAnswer(answer: answer).ofFile
    case .prepareChunk: return TusCreationAnswer(answer: answer).partial
    case .probeChunk(let chunk): return TusOffsetAnswer(answer: answer).of(chunk)
    case .finish: return TusJoinAnswer(answer: answer).interpretation
    case .verify: return TusJoinedAnswer(answer: answer).interpretation
    case .abort: return Interpretation.deleted(reply) ?? answer.refused()
    case .save, .makeParent: return .failed(Failure(.engineBug, "tus has no request for \(step.operation)"), .permanent)
    }
  }

  /// No answer was received. All steps but the concatenation can be queried, or repeated without effect.
  private func lost(_ failure: Failure, _ reply: TransferReply, _ step: StepRequest) -> Interpretation {
    step == .finish && reply.requestMayHaveArrived
      ? TusJoinAnswer.lost(failure) : .failed(failure, FailureAction(transport: failure))
  }
}
