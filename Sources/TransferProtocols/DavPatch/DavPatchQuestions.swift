import TransferModel

/// The object was moved to the URL of its key.
extension DavPatchProtocol: LaterQuestions {
  package func question(about object: StoredObject) -> StepRequest? { .verify }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try asked(object).request(context) }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer { asked(object).answer(reply, object, context) }

  private func asked(_ object: StoredObject) -> WebQuestion {
    let key = object.facts.file.key
    let isPage = mediaType.type(of: key).lowercased().hasPrefix("text/html")
    return WebQuestion(url: place.url(key), isEmpty: object.facts.file.size == 0, isPage: isPage)
  }
}
