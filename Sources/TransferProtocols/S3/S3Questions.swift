import TransferModel

/// HEAD with `x-amz-checksum-mode`, as after a lost answer: size, ETag, version and the checksum of the whole. A part
/// count or a digest of digests (COMPOSITE) proves nothing of the whole. Source: "HeadObject", Amazon S3 API Reference.
extension S3Protocol: LaterQuestions {
  package func question(about object: StoredObject) -> StepRequest? { .verify }

  package func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try request(.verify, object.facts, context) }

  package func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer {
    if let failure = reply.transportFailure { return .lost(failure) }
    switch reply.status {
    case 200: return compared(reply, object)
    case 404: return .absent(reply)
    default:
      let (error, answer) = (S3Error(reply), answer(reply, object.facts, context))
      // Without permission to list, a nonexistent object gives 403 too.
      return answer.cannotBeAsked(error) ? .refused(reply) : ObjectAnswer(answer.failed(error, .verify))
    }
  }

  private func compared(_ reply: TransferReply, _ object: StoredObject) -> ObjectAnswer {
    let isWhole = reply.field("x-amz-checksum-type") != "COMPOSITE"
    let told = isWhole ? S3Tag.checksum(reply.field(Self.checksumField)) : nil
    let others = ToldDigests.all(reply.fields, isWhole: true).filter { $0.algorithm != told?.algorithm }
    return object.compared(
      reply, size: reply.number("content-length"), digests: (told.map { [$0] } ?? []) + others,
      etag: reply.field("etag") ?? "", versionID: reply.field("x-amz-version-id") ?? "")
  }
}
