import TransferModel

/// The answer to PATCH with a body.
struct ResumableBodyAnswer {
  let answer: ResumableAnswer
  let chunk: ChunkFacts

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    let isLast = chunk.body.end == facts.file.size
    let complete = answer.isComplete
    let ending = ResumableFinalAnswer(answer: answer, chunk: chunk)
    if complete == true {
      guard isLast || !reply.isSuccess else {
        return answer.badReply("it ended the upload before all of it was sent", .permanent)
      }
      return ending.interpretation
    }
    guard reply.isSuccess else { return refused() }
    if reply.isWebPage { return answer.badReply("", .permanent) }
    if isLast && complete == nil { return ending.interpretation }
    let offset = StructuredField.integer(reply.field("upload-offset")) ?? chunk.body.end
    guard offset <= facts.file.size else {
      return .failed(OffsetFailure.pastEnd(offset, facts.file.size), .permanent)
    }
    return answer.noted(progress(to: offset - chunk.range.offset))
  }

  private func progress(to acked: Int64) -> Interpretation {
    guard acked > chunk.acked, acked <= chunk.body.end - chunk.range.offset else {
      let text = "the server's offset is not at the end of the sent body"
      return .failed(Failure(.protoOffset, text), .probe)
    }
    guard acked == chunk.range.length else { return .advanced(acked: acked) }
    return .stored(answer.resumable.part(chunk), proof: nil)
  }

  // MARK: - Refusals

  func refused() -> Interpretation {
    let failure = answer.failure
    switch reply.status {
    // If the server does not report its offset, the upload cannot be continued; and it may be complete.
    case 409 where facts.inconclusive.contains(.probe), 403 where facts.inconclusive.contains(.probe):
      return answer.gone(mayBeDone: true)
    case 409: return .failed(failure, .probe)
    case _ where reply.answersAnother: return answer.badReply("", .probe)
    case 404, 410: return answer.gone(mayBeDone: facts.lostAnswer != nil && chunk.body.end == facts.file.size)
    case 413: return tooLong()
    // An earlier request completed it: HEAD shows how.
    case 400 where ProblemDetails(reply)?.isCompleted == true: return .failed(failure, .probe)
    case 400 where ProblemDetails(reply)?.isDigestMismatch == true:
      let mismatch = Failure(.integrityMismatch, failure.message)
      return .failed(mismatch, answer.context.failures < 2 ? .retry(isThrottled: false) : .permanent)
    default: return answer.refused()
    }
  }

  /// An intermediary may limit bodies: shorter ones are tried, down to the minimum that the server requires.
  private func tooLong() -> Interpretation {
    let announced =
      UploadLimit(reply.field("upload-limit")) ?? answer.resumable.discovery(facts.learned).limits
    if let refusal = announced.refusal(size: facts.file.size) { return .failed(refusal, .permanent) }
    let least = max(announced.minAppend ?? 0, min(TusSettings.mebibyte, announced.maxAppend ?? .max))
    guard chunk.body.length > least else { return .failed(answer.failure, .permanent) }
    let half = max(1, min(chunk.body.length / 2, TusSettings.defaultPart))
    let shorter = max(least, min(half, announced.maxAppend ?? .max))
    return .failed(answer.failure, .probe).with(notes: [ResumableProtocol.bodyNote: "\(shorter)"])
  }
}
