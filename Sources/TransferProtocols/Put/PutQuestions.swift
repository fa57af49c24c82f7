public import TransferModel

/// PUT and WebDAV store what they send under its URL. What a POST made has a name of the server's own.
extension PutProtocol: LaterQuestions {
  public func question(about object: StoredObject) -> StepRequest? { method == .post ? nil : .verify }

  public func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try asked(object).request(context) }

  public func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer { asked(object).answer(reply, object, context) }

  private func asked(_ object: StoredObject) -> WebQuestion {
    let key = object.facts.file.key
    return WebQuestion(
      url: place.url(key), isPage: answers.acceptsPage(for: mediaType.type(of: key)))
  }
}
