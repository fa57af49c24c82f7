import TransferModel

/// The meaning of an answer to a chunk, or to a query about it.
struct ProfileChunkAnswer: ProfileAnswerPart {
  let answer: ProfileAnswer

  /// The meaning of a `probe_chunk`; nil if it is inconclusive.
  func probedChunk() throws -> Interpretation? {
    guard let exists = rules.have.exists, let chunk else { return nil }
    if try checks.claims(exists) { return try checks.unmetRequirement() ?? found(chunk) }
    switch StatusClass(reply.status) {
    case .success, .redirect: return .chunkProbed(acked: chunk.acked)
    // Only 404 and 410 mean that the chunk is missing; if sending it again is harmless, uncertainty is harmless too.
    case .permanent where ![401, 403, 404, 410].contains(reply.status) && !proto.profile.chunk.isIdempotent:
      return refusals.unknown(answer.failure(), .chunk)
    case .permanent where reply.status != 401 && reply.status != 403: return .chunkProbed(acked: chunk.acked)
    case .permanent, .throttled, .retry: return nil
    }
  }

  /// The chunk is stored. If the next steps need a value of the lost answer, only another answer can provide it.
  private func found(_ chunk: ChunkFacts) -> Interpretation {
    let values = answer.extracted()
    guard answer.lacksRequired(values, [.part, .result], of: chunk) else {
      return answer.noted(values.notes, .stored(answer.receipt(chunk, values.part, nil), proof: nil))
    }
    return proto.profile.chunk.isIdempotent
      ? .chunkProbed(acked: chunk.acked) : refusals.unknown(ProfileAnswer.unsaid, .chunk)
  }

  func sent(_ chunk: ChunkFacts, _ values: ExtractedValues) throws -> Interpretation {
    if let rules = rules.offset, try rules.when?.holds(reader, scope, earlier: []) ?? true {
      guard let value = try rules.from.value(in: reader, scope), let offset = try? value.integer() else {
        return refusals.misshapen("the answer does not say how much the server has")
      }
      return place(offset, chunk, values: values, answer.failure(.protoOffset, "it has \(offset) bytes of the file"))
    }
    return stored(chunk, values)
  }

  private func stored(_ chunk: ChunkFacts, _ values: ExtractedValues) -> Interpretation {
    let part = answer.receipt(chunk, values.part, checks.proved("chunk"))
    let counted = notes.texts.keys.filter { $0.hasPrefix("count.\(answer.key).") }
    var notes = values.notes.merging(counted.map { ($0, "") }) { first, _ in first }
    if let proved = checks.proved("file") { notes[SessionNotes.proved] = proved.rawValue }
    let proof = wholeProof(part)
    // A chunk that the server had before does not count as progress.
    let isProgress = chunk.losses == 0 || proof != nil
    return answer.forgetting(
      isProgress ? answer.counters : [answer.refreshes], answer.noted(notes, .stored(part, proof: proof)))
  }

  /// A file in one chunk is complete with it, unless a step follows.
  private func wholeProof(_ part: PartReceipt) -> FileProof? {
    guard facts.layout.count == 1, proto.finishName == nil, proto.profile.step(.verify)?.isOfDoubt != false else {
      return nil
    }
    let confirmation = checks.proved("file") ?? part.confirmation
    let ofBytesSent = checks.requirements.contains { requirement in
      (requirement.namesHash(of: "chunk") || requirement.names("file", field: ProfileHash.crc32c.rawValue))
        && requirement.isPresent(reader)
    }
    let digest = confirmation == .digest && !ofBytesSent ? checks.compared ?? part.digest : part.digest
    return FileProof(
      confirmation: confirmation, digest: digest, remoteDigest: confirmation == .digest ? digest : nil,
      etag: part.etag, requestID: reply.serverRequestID, serverDate: reply.field("date") ?? "")
  }

  /// The server reports that it has the first `offset` bytes of the file.
  func place(_ offset: Int64, _ chunk: ChunkFacts, values: ExtractedValues, _ failure: Failure) -> Interpretation {
    var failure = failure
    failure.code = .protoOffset
    guard (0...facts.layout.size).contains(offset) else {
      failure.message = "the server claims \(offset) bytes of a file that has \(facts.layout.size)"
      return .failed(failure, .permanent)
    }
    guard facts.mayHold(chunk, through: min(offset, chunk.range.end)) else {
      failure.message = "the server claims \(offset) bytes of the file, which were not all sent"
      return refusals.sessionGone(failure)
    }
    if offset >= chunk.range.end { return stored(chunk, values) }
    guard leadsOn(offset) else { return refusals.sessionGone(unreachable(offset)) }
    if offset > chunk.body.offset { return answer.noted(values.notes, .advanced(acked: offset - chunk.range.offset)) }
    if offset == chunk.body.offset { return answer.noted(values.notes, refusals.again(failure)) }
    return refusals.reprobe(failure) ?? refusals.sessionGone(failure)
  }

  /// Whether bodies from this offset can have the length that the server requires: the rest of the chunk is a multiple
  /// too, or it is the last chunk.
  func leadsOn(_ offset: Int64) -> Bool {
    let layout = facts.layout
    guard proto.profile.chunk.multipleOf > 1, offset < layout.size else { return true }
    let range = layout.range(layout.chunks(within: offset))
    return offset == range.offset || range.end == layout.size
      || (range.end - offset) % proto.profile.chunk.multipleOf == 0
  }

  func unreachable(_ offset: Int64) -> Failure {
    let step = proto.profile.chunk.multipleOf
    return Failure(
      .protoOffset, "the server is at \(offset), where no body of a multiple of \(step) bytes fits")
  }
}
