import TransferModel

/// What was handed to the network in the current session. A server can confirm bytes whose answer was lost; it cannot
/// have bytes that were never sent, whatever it says.
extension TransferFacts {
  /// A request read the bytes of this chunk up to `end`, an offset in the file.
  package mutating func sent(_ seq: Int, through end: Int64) {
    sentEnds[seq] = max(sentEnds[seq] ?? 0, end)
    sentThrough = max(sentThrough, end)
  }

  /// `meaning`, unless the answer claims bytes that were never sent.
  func believed(
    _ meaning: Interpretation, to step: StepRequest, _ abilities: ProtocolAbilities, failures: Int
  ) -> Interpretation {
    guard !isSentElsewhere, let (claimed, most) = excess(in: meaning.outcome, step, abilities) else { return meaning }
    let failure = Failure(.protoOffset, "the server claims to have \(claimed) bytes; at most \(most) were sent")
    // Without its notes: they belong to an upload that is given up.
    let refusal = Interpretation.failed(failure, failures < 2 ? .sessionGone : .permanent)
    return meaning.learned.map { refusal.with(learned: $0) } ?? refusal
  }

  /// The claimed bytes and the limit that they exceed.
  private func excess(
    in outcome: Interpretation.Outcome, _ step: StepRequest, _ abilities: ProtocolAbilities
  ) -> (Int64, Int64)? {
    switch (outcome, step) {
    case (.offset(let offset), _):
      let most = abilities.parallelChunks ? sentInParallel : max(acked, sentThrough)
      return offset > most ? (offset, most) : nil
    case (.chunkProbed(let held), .probeChunk(let chunk)): return excess(held, chunk)
    case (.stored(let part, _), .probeChunk(let chunk)): return excess(part.length, chunk)
    default: return nil
    }
  }

  private func excess(_ held: Int64, _ chunk: ChunkFacts) -> (Int64, Int64)? {
    let most = max(chunk.acked, (sentEnds[chunk.seq] ?? 0) - chunk.range.offset)
    return held > most ? (held, most) : nil
  }

  /// How much of the file, from its beginning, was sent by requests that may have run at the same time.
  private var sentInParallel: Int64 {
    if isAllStored { return layout.size }
    let missing = (0..<layout.count).lazy.map { (layout.range($0), sentEnds[$0] ?? 0) }.first { $0.end > $1 }
    return max(acked, missing.map { max($0.offset, $1) } ?? layout.size)
  }
}
