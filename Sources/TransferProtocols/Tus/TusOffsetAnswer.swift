import TransferModel

/// The answer to HEAD of an upload: the offset is authoritative, even if it is lower than before.
struct TusOffsetAnswer {
  let answer: TusAnswer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var ofFile: Interpretation {
    guard reply.isSuccess else { return refused(.inconclusive) }
    guard let offset = reply.number("upload-offset") else { return noOffset }
    if let failure = otherLength(facts.file.size) { return .failed(failure, .sessionGone) }
    guard offset <= facts.file.size else {
      return .failed(OffsetFailure.pastEnd(offset, facts.file.size), .permanent)
    }
    if facts.isForgotten(offset) { return .failed(OffsetFailure.forgotten, .sessionGone) }
    return .offset(offset)
  }

  /// The chunk's own upload, which will be joined with the others.
  func of(_ chunk: ChunkFacts) -> Interpretation {
    guard reply.isSuccess else { return refused(.chunkProbed(acked: chunk.acked)) }
    guard let offset = reply.number("upload-offset") else { return noOffset }
    if let failure = otherLength(chunk.range.length) { return .failed(failure, .sessionGone) }
    guard offset <= chunk.range.length else {
      return .failed(OffsetFailure.pastEnd(offset, chunk.range.length), .permanent)
    }
    // Queried only after a body was sent there.
    if offset == 0, chunk.range.length > 0 { return .failed(OffsetFailure.forgotten, .sessionGone) }
    guard offset == chunk.range.length else { return .chunkProbed(acked: offset) }
    let part = PartReceipt(
      seq: chunk.seq, length: offset, etag: "", digest: nil, confirmation: .size, remote: chunk.remote)
    return .stored(part, proof: nil)
  }

  private var noOffset: Interpretation { answer.badReply("no numeric Upload-Offset", .retry(isThrottled: false)) }

  /// 404 and 410 mean that the upload is gone. 403 may mean that too, or that HEAD is not allowed, like 400, 405 and
  /// 501: the state is then unknown (`inconclusive`), and the answer to the next PATCH, which states the expected
  /// offset, will show it.
  private func refused(_ inconclusive: Interpretation) -> Interpretation {
    switch reply.status {
    case 404, 410:
      let text = "the server does not know the upload any more (\(reply.status))"
      return .failed(Failure(.protoSessionGone, text), .sessionGone)
    case 400, 403, 405, 501: return inconclusive
    default: return answer.refused()
    }
  }

  private func otherLength(_ length: Int64) -> Failure? {
    guard let announced = reply.number("upload-length"), announced != length else { return nil }
    return Failure(.protoSessionGone, "the upload on the server has \(announced) bytes, not \(length)")
  }
}
