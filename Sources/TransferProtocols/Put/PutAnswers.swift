import TransferModel

extension PutProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    switch step {
    case .chunk(let chunk):
      return BodyInterpreter(
        isRepeatable: method != .post, ifNoneMatch: ifNoneMatch, makesParents: method == .dav,
        acceptsPage: answers.acceptsPage(for: method == .post ? "text/html" : mediaType.type(of: facts.file.key)),
        accepts202: answers.accepts202
      ).interpret(reply, chunk, facts, context)
    case .makeParent: return .collection(reply, context)
    case .create, .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort:
      return .failed(Failure(.engineBug, "\(name) has no request for \(step.operation)"), .permanent)
    }
  }
}
