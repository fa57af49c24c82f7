import TransferModel

/// Uses the step `verify` of the profile. Its requirements determine what is proven; if they compare nothing, or if the
/// answer lacks the values, the result is inconclusive.
extension ProfileProtocol: LaterQuestions {
  /// Expired secrets are refreshed first.
  package func question(about object: StoredObject) -> StepRequest? {
    guard ProfileProgress(self, object.facts).wants(.verify) else { return nil }
    return object.facts.learned.discovered?[Self.refreshIsDue] != nil ? .discover : .verify
  }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try request(question, ended(object), known(object, context)) }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer {
    if reply.isAnswered, question == .verify, [400, 403, 405, 501].contains(reply.status) { return .refused(reply) }
    var context = known(object, context)
    // The file will not appear any more, so the last attempt counts.
    context.failures = max(context.failures, Self.mostLooks)
    let meaning = interpret(reply, to: question, ended(object), context)
    var answer = ObjectAnswer(meaning)
    // A failed refresh says nothing about the object.
    let isGone = question == .verify && reply.isGone
    switch meaning.outcome {
    case .settled where question == .discover: answer.outcome = .settled
    case .finished(let proof): answer.outcome = found(reply, proof, object)
    case .failed(let failure, .permanent) where failure.code == .integrityMismatch:
      let proof = FileProof(confirmation: .none, requestID: reply.serverRequestID)
      answer.outcome = .finding(RemoteFinding(.differs, proof, detail: failure.message))
    case .absent where isGone, .failed(_, .permanent) where isGone:
      answer.outcome =
        profile.verifiesUpload ? ObjectAnswer.forgotten(reply).outcome : ObjectAnswer.absent(reply).outcome
    default: break
    }
    return answer
  }

  private func found(_ reply: TransferReply, _ proof: FileProof, _ object: StoredObject) -> ObjectAnswer.Outcome {
    guard proof.confirmation != .none, (200..<300).contains(reply.status) else {
      return .inconclusive("the server has it, but reports neither its size nor a digest that could be compared")
    }
    return .finding(
      RemoteFinding(.found, proof, size: proof.confirmation == .size ? object.facts.file.size : nil))
  }

  /// The facts with the last steps marked as done, and without the earlier proof.
  private func ended(_ object: StoredObject) -> TransferFacts {
    var facts = object.facts
    facts.session?.notes[SessionNotes.proved] = nil
    for name in [finishName, saveName].compactMap({ $0 }) {
      facts.session?.notes[SessionNotes.done(name)] = "1"
      facts.session?.notes[SessionNotes.poll(name)] = nil
    }
    return facts
  }

  private func known(_ object: StoredObject, _ context: RequestContext) -> RequestContext {
    var context = context
    for digest in [object.proof.remoteDigest, object.proof.digest].compactMap({ $0 }) {
      context.fileDigests[digest.algorithm] = digest
    }
    return context
  }
}

extension TransferReply {
  fileprivate var isGone: Bool { isAnswered && (status == 404 || status == 410) }
}
