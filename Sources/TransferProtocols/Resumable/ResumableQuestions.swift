import TransferModel

/// HEAD of the finished upload if there was one; a file sent in one plain PUT is queried under its own URL.
extension ResumableProtocol: LaterQuestions {
  package func question(about object: StoredObject) -> StepRequest? {
    object.facts.uploadURL != nil || !settings.isPost ? .verify : nil
  }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    guard object.facts.uploadURL != nil else { return try asked(object).request(context) }
    return try request(.probe(marker: nil), object.facts, context)
  }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer {
    guard object.facts.uploadURL != nil else { return asked(object).answer(reply, object, context) }
    if let failure = reply.transportFailure { return .lost(failure) }
    switch reply.status {
    case _ where reply.isSuccess:
      guard let offset = StructuredField.integer(reply.field("upload-offset")) else {
        return .inconclusive("the server has the upload, but does not say how much of it")
      }
      return object.compared(
        reply, size: offset, digests: ToldDigests.all(reply.fields, isWhole: false), etag: "")
    case 404, 410:
      return .forgotten(reply)
    case 400, 403, 405, 501: return .refused(reply)
    default: return ObjectAnswer(Interpretation.refused(reply, detail: ProblemDetails.text(reply), context))
    }
  }

  private func asked(_ object: StoredObject) -> WebQuestion {
    WebQuestion(url: target(object.facts), isEmpty: object.facts.file.size == 0)
  }
}
