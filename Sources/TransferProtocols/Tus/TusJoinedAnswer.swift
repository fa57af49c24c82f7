import TransferModel

/// The answer to HEAD of the concatenated upload. Some servers do not show it.
struct TusJoinedAnswer {
  let answer: TusAnswer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    switch reply.status {
    case _ where reply.isSuccess: break
    case 403, 404, 405, 410: return .finished(proof(.none))
    default: return answer.refused()
    }
    let length = reply.number("upload-length")
    if let length, length != facts.file.size {
      let text = "the server joined the uploads to \(length) bytes, but the file has \(facts.file.size)"
      return .failed(Failure(.integrityMismatch, text), .permanent)
    }
    guard let offset = reply.number("upload-offset") else { return merging() }
    guard offset == facts.file.size else {
      let text = "the server joined the uploads and has \(offset) bytes of \(facts.file.size)"
      return .failed(Failure(.protoOffset, text), .retry(isThrottled: false))
    }
    return .finished(proof(.size))
  }

  /// The server is still processing: it is polled at growing intervals, for about half an hour.
  private func merging() -> Interpretation {
    let polls = facts.session?.notes[TusProtocol.pollNote].flatMap { Int64($0) } ?? 0
    guard polls < 30 else { return .finished(proof(.none)) }
    return .notYet(afterMs: 1_000 << min(polls, 6)).with(notes: [TusProtocol.pollNote: "\(polls + 1)"])
  }

  private func proof(_ confirmation: Confirmation) -> FileProof {
    FileProof(
      confirmation: confirmation, digest: facts.parts.combinedDigest, requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
  }
}
