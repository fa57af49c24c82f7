import TransferModel

/// An answer with content of a known version, which the sink has accepted: content that
/// ``GetProtocol/content(status:_:of:_:)`` refused never gets here.
struct GetBodyAnswer {
  let answer: GetAnswer
  let chunk: ChunkFacts

  private var get: GetProtocol { answer.get }
  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var context: RequestContext { answer.context }

  var interpretation: Interpretation {
    guard reply.status == (chunk.isPart(of: facts) ? 206 : 200) else { return refused() }
    if let meaning = get.leftCoding(reply, facts, context) { return meaning }
    let through = chunk.body.offset + reply.bytesReceived
    // The header says where the range ends. Once its last byte has arrived, it is complete, however the answer ended.
    guard through == chunk.body.end, reply.status == 206 || reply.answerFailure == nil else {
      return brokenOff(at: through)
    }
    if let meaning = get.judged(chunk, wrong: context.wrongPieces, facts) { return meaning }
    let missing = MissingRanges(chunk)
    if let left = missing?.without(chunk.body), !left.isEmpty { return .pieceStored(left.notes) }
    var part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: reply.field("etag") ?? "",
      digest: chunk.digests[get.sentDigest], confirmation: .size)
    part.reused = missing?.reused ?? MissingPieces(chunk, facts)?.reused
    return .stored(part, proof: nil)
  }

  /// Keeps the received bytes if the rest can be requested.
  private func brokenOff(at through: Int64) -> Interpretation {
    if reply.bytesReceived > 0, through < chunk.range.end, through > chunk.rest.offset,
      MissingPieces(chunk, facts) == nil, MissingRanges(chunk) == nil,
      RemoteVersion(facts.session)?.hasRanges(facts.file.expected) == true
    {
      return .advanced(acked: through - chunk.range.offset)
    }
    let failure = answer.brokenOff(of: chunk.body.length)
    var meaning = Interpretation.failed(
      failure ?? Failure(.protoBadReply, "the body is longer than the file"), .retry(isThrottled: false))
    guard let missing = MissingRanges(chunk), chunk.body.offset < through, through < chunk.body.end else {
      return meaning
    }
    // What did arrive is not requested again.
    let left = missing.without(ByteRange(offset: chunk.body.offset, length: reply.bytesReceived)).notes
    if BodyProgress.forgives(reply.bytesReceived, ofFile: facts.layout.size) {
      meaning = .pieceStored(left)
      meaning.received = reply.bytesReceived
    } else {
      meaning.chunkNotes = left
    }
    return meaning
  }

  private func refused() -> Interpretation {
    guard reply.status == 416 else { return answer.refused() }
    let now = get.source.size(behindTheEnd: reply)
    // Every range that is requested lies within the file: the answer does not say that all of it is here.
    if now == facts.layout.size {
      return get.noRanges(context.learned, "the server refused a range within the file (416)")
    }
    let text = "the remote file changed: it has no such range" + (now.map { " and has \($0) bytes now" } ?? "")
    return .failed(Failure(.sourceChanged, text), .permanent)
  }
}
