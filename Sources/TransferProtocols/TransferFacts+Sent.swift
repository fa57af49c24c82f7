import TransferModel

/// What was handed to the network in the current session. A server can confirm bytes whose answer was lost; it cannot
/// have bytes that were never sent, whatever it says.
extension TransferFacts {
  /// A request read the bytes of this chunk up to `end`, an offset in the file.
  package mutating func sent(_ seq: Int, through end: Int64) {
    sentEnds[seq] = max(sentEnds[seq] ?? 0, end)
    sentThrough = max(sentThrough, end)
  }

  /// Whether the server may have the chunk up to `end`, an offset in the file: the bytes were sent, if not by this
  /// ledger.
  func mayHold(_ chunk: ChunkFacts, through end: Int64) -> Bool {
    isSentElsewhere || end <= max(chunk.range.offset + chunk.acked, sentEnds[chunk.seq] ?? 0)
  }

  /// `meaning`, unless the answer claims bytes that were never sent.
  func believed(
    _ meaning: Interpretation, to step: StepRequest, _ abilities: ProtocolAbilities, failures: Int
  ) -> Interpretation {
    guard !isSentElsewhere else { return meaning }
    if let refusal = unproved(meaning.outcome, step, abilities) {
      return meaning.learned.map { refusal.with(learned: $0) } ?? refusal
    }
    guard let (claimed, most) = excess(in: meaning.outcome, step, abilities) else { return meaning }
    let failure = Failure(.protoOffset, "the server claims to have \(claimed) bytes; at most \(most) were sent")
    // Without its notes: they belong to an upload that is given up.
    let refusal = Interpretation.failed(failure, failures < 2 ? .sessionGone : .permanent)
    return meaning.learned.map { refusal.with(learned: $0) } ?? refusal
  }

  /// After a lost answer a query found the file, and only its size says that it is this one. If no body went out to its
  /// end, an older version has that size, and the file is sent again, or is unknown where that could do harm. A digest
  /// proves the content, whatever was sent; nil then.
  private func unproved(
    _ outcome: Interpretation.Outcome, _ step: StepRequest, _ abilities: ProtocolAbilities
  ) -> Interpretation? {
    guard step == .verify, case .finished(let proof) = outcome, !isAllStored, sentInOrder(abilities) < layout.size,
      proof.confirmation == .size || proof.confirmation == .none
    else { return nil }
    guard abilities.unrepeatable.contains(.part) else { return .absent }
    let text = """
      the server has a file of the same size, but no body was sent completely, and the answer to one was lost: it may be \
      an older file
      """
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  private func sentInOrder(_ abilities: ProtocolAbilities) -> Int64 {
    abilities.parallelChunks ? sentInParallel : max(acked, sentThrough)
  }

  /// The claimed bytes and the limit that they exceed.
  private func excess(
    in outcome: Interpretation.Outcome, _ step: StepRequest, _ abilities: ProtocolAbilities
  ) -> (Int64, Int64)? {
    switch (outcome, step) {
    case (.offset(let offset), _):
      let most = sentInOrder(abilities)
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
