public import TransferModel

extension PutProtocol {
  public func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: UploadFacts, _ context: RequestContext
  ) -> Interpretation {
    switch step {
    case .chunk(let chunk):
      return BodyInterpreter(
        isRepeatable: method != .post, ifNoneMatch: ifNoneMatch, makesParents: method == .dav,
        acceptsPage: answers.acceptsPage(for: method == .post ? "text/html" : mediaType.type(of: facts.file.key)),
        accepts202: answers.accepts202
      ).interpret(reply, chunk, facts, context)
    case .makeParent:
      if let failure = reply.transportFailure { return .failed(failure, Remedy(transport: failure)) }
      return interpretParent(reply, context)
    case .create, .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort:
      return .failed(Failure(.engineBug, "\(name) has no request for \(step.operation)"), .permanent)
    }
  }

  /// 405 says that the collection is there. 403 and redirects may mean the same, or not: the PUT that follows tells.
  private func interpretParent(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case 200..<300, 301, 302, 307, 308, 403, 405: return .settled
    default: break
    }
    let failure = Failure(answer: reply, wallMs: context.wallMs)
    switch StatusClass(reply.status) {
    case .throttled: return .failed(failure, .retry(isThrottled: true))
    case .retry: return .failed(failure, .retry(isThrottled: false))
    case .success, .redirect, .permanent: return .failed(failure, .permanent)
    }
  }
}
