import TransferModel

/// The answer to the completion without a body.
struct ResumableCompletionAnswer {
  let answer: ResumableAnswer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    let isEnded = facts.session?.notes[ResumableProtocol.endedNote] != nil
    switch answer.isComplete {
    case true? where !reply.isSuccess: return .failed(answer.failure, .permanent)
    case false? where reply.isSuccess && !isEnded:
      return .failed(Failure(.protoOffset, "the server expects more bytes than the file has"), .probe)
    default: break
    }
    if answer.isPage { return answer.badReply("", .permanent) }
    if reply.isSuccess { return completed() }
    // The upload was completed before, and the server does not repeat the outcome.
    if isEnded && [400, 404, 409, 410].contains(reply.status) { return completed() }
    switch reply.status {
    case 409 where facts.inconclusive.contains(.probe): return answer.gone(mayBeDone: true)
    case 409: return .failed(answer.failure, .probe)
    case 404, 410: return answer.gone(mayBeDone: facts.lostAnswer != nil)
    default: return answer.refused()
    }
  }

  private func completed() -> Interpretation {
    if let failure = answer.mismatch { return .failed(failure, .permanent) }
    let reported = ReprDigest.crc32c(reply.field("repr-digest"))
    let whole = facts.parts.combinedDigest
    if let whole, let reported, whole != reported {
      return .failed(
        Failure(.integrityMismatch, "the server stored \(reported), but we sent \(whole)"), .permanent)
    }
    return .finished(
      FileProof(
        confirmation: whole != nil && reported != nil ? .digest : .size, digest: whole, remoteDigest: reported,
        etag: reply.field("etag") ?? "", requestID: reply.serverRequestID, serverDate: reply.field("date") ?? ""))
  }
}
