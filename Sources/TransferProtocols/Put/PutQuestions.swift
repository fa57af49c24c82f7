import TransferModel

/// PUT and WebDAV store the body under its URL. An object created by POST has a name chosen by the server.
extension PutProtocol: LaterQuestions {
  package func question(about object: StoredObject) -> StepRequest? { method == .post ? nil : .verify }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try asked(object).request(context) }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer { asked(object).answer(reply, object, context) }

  private func asked(_ object: StoredObject) -> WebQuestion {
    let key = object.facts.file.key
    return WebQuestion(
      url: place.url(key), isEmpty: object.facts.file.size == 0,
      isPage: answers.acceptsPage(for: mediaType.type(of: key)))
  }
}
