import TransferModel

/// HEAD of the finished upload, whose URL is known as long as the ledger has its session. Many servers forget it, or
/// have moved its content: that says nothing about the file.
extension TusProtocol: LaterQuestions {
  package func question(about object: StoredObject) -> StepRequest? { object.facts.uploadURL == nil ? nil : .verify }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    try request(isJoined(object) ? .verify : .probe(marker: nil), object.facts, context)
  }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer {
    if let failure = reply.transportFailure { return .lost(failure) }
    switch reply.status {
    case _ where reply.isSuccess:
      guard let offset = reply.number("upload-offset") else {
        return .inconclusive("the server has the upload, but does not say how much of it")
      }
      let length = reply.number("upload-length")
      return object.compared(
        reply, size: length.map { $0 == object.facts.file.size ? offset : $0 } ?? offset,
        digests: ToldDigests.all(reply.fields, isWhole: false), etag: "")
    case 404, 410:
      return .forgotten(reply)
    case 400, 403, 405, 501: return .refused(reply)
    default: return ObjectAnswer(Interpretation.refused(reply, context))
    }
  }

  private func isJoined(_ object: StoredObject) -> Bool { object.facts.session?.notes[Self.finalNote] != nil }
}

extension TransferFacts {
  /// The URL of the finished upload; nil if it is not known, as in a copy for auditors.
  var uploadURL: String? {
    let place = session?.notes[TusProtocol.finalNote] ?? session?.remoteID
    return place.flatMap { $0.hasPrefix("http://") || $0.hasPrefix("https://") ? $0 : nil }
  }
}
