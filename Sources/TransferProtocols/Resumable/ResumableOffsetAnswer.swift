import TransferModel

/// The answer to HEAD: the offset is authoritative, even if it is lower than before.
struct ResumableOffsetAnswer {
  let answer: ResumableAnswer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    if [404, 410].contains(reply.status) { return answer.gone(mayBeDone: facts.lostAnswer != nil) }
    // Not allowed to query: the state is unknown, and the answer to the next PATCH, which states the expected offset,
    // will show it.
    if [400, 403, 405, 501].contains(reply.status) { return .inconclusive }
    guard reply.isSuccess else { return answer.refused() }
    guard let offset = StructuredField.integer(reply.field("upload-offset")) else {
      return answer.badReply("no numeric Upload-Offset", .retry(isThrottled: false))
    }
    let size = facts.file.size
    if let length = StructuredField.integer(reply.field("upload-length")), length != size {
      let text = "the upload on the server has \(length) bytes, not \(size)"
      return .failed(Failure(.protoSessionGone, text), .sessionGone)
    }
    guard offset <= size else { return .failed(OffsetFailure.pastEnd(offset, size), .permanent) }
    if facts.isForgotten(offset), answer.isComplete != true { return forgotten() }
    let meaning = answer.noted(.offset(offset))
    guard answer.isComplete == true else { return meaning }
    guard offset == size else {
      let text = "the server ended the upload at byte \(offset) of \(size)"
      return .failed(Failure(.protoOffset, text), .permanent)
    }
    // Its final answer can perhaps be obtained again.
    return meaning.with(notes: [ResumableProtocol.endedNote: "1"])
  }

  /// If the last byte may have been sent too, a POST may have created its object.
  private func forgotten() -> Interpretation {
    let mayBeDone = facts.lostAnswer != nil && facts.acked >= facts.layout.range(facts.layout.count - 1).offset
    if answer.resumable.settings.isPost && mayBeDone { return answer.gone(mayBeDone: true) }
    return .failed(OffsetFailure.forgotten, .sessionGone)
  }
}
