import TransferModel

/// The meaning of a success, step by step.
struct ProfileSuccess: ProfileAnswerPart {
  let answer: ProfileAnswer

  /// With `isLenient` a rule treats the answer as a success: missing values are left out.
  func succeeded(isLenient: Bool = false) throws -> Interpretation {
    let values = isLenient ? answer.extracted() : try ExtractedValues(all: rules.extract, reader, scope)
    switch step {
    case .create: return opened(values)
    case .probe: return answer.noted(values.notes, try ProfileProbeAnswer(answer: answer).probed(values))
    case .chunk(let chunk): return try chunks.sent(chunk, values)
    case .prepareChunk(let chunk): return prepared(chunk, values)
    case .probeChunk(let chunk):
      return answer.noted(values.notes, .stored(answer.receipt(chunk, values.part, nil), proof: nil))
    case .discover: return refreshed(values)
    case .finish, .save: return ended(values)
    case .verify: return verification.verified(values)
    case .abort, .makeParent: return .settled
    }
  }

  private func opened(_ values: ExtractedValues) -> Interpretation {
    let (remoteID, expiry) = (
      ProfileUploadNames(profile: proto.profile).remoteID(values.notes, orElse: scope.uuid), expiresAtMs(values)
    )
    // An empty file needs no request for its content: it exists with its session.
    guard facts.file.size == 0, !progress.wants(.chunk) else {
      return answer.noted(values.notes, .opened(OpenedSession(remoteID: remoteID, expiresAtMs: expiry)))
    }
    return answer.noted(values.notes, .offset(0).with(opened: OpenedSession(remoteID: remoteID, expiresAtMs: expiry)))
  }

  private func expiresAtMs(_ values: ExtractedValues) -> Int64? {
    if let named = proto.profile.session.expiresAtMs(SessionNotes(values.notes)) { return named }
    return proto.profile.session.ttlMs.map { context.wallMs + $0 }
  }

  private func refreshed(_ values: ExtractedValues) -> Interpretation {
    var learned = context.learned
    var discovered = learned.discovered ?? [:]
    discovered[ProfileProtocol.refreshIsDue] = nil
    for (name, text) in values.secrets { discovered[ProfileProtocol.secret(name)] = text }
    learned.discovered = discovered
    return .settled.with(learned: learned)
  }

  private func prepared(_ chunk: ChunkFacts, _ values: ExtractedValues) -> Interpretation {
    // An empty record would mean that the chunk is not prepared yet.
    let part = chunk.remote.merging(values.part) { $1 }
    return answer.noted(values.notes, .chunkPrepared(part.isEmpty ? ["prepared": "true"] : part))
  }

  private func ended(_ values: ExtractedValues) -> Interpretation {
    guard let name else { return .settled }
    let after = SessionNotes(notes.texts.merging(values.notes) { $1 })
    let isLast = !ProfileProgress(proto, facts, after).remains(after: name, isProved: checks.proved("file") != nil)
    let marks = [SessionNotes.done(name): "1", SessionNotes.poll(name): ""]
    guard isLast else { return answer.noted(values.notes.merging(marks) { $1 }, .settled) }
    return finished(values.notes.merging(marks) { $1 })
  }

  func finished(_ values: [String: String]) -> Interpretation {
    var proof = progress.proof(confirmation: checks.proved("file"), reply: reply)
    // If answers for the file were lost, only the digest that was compared is known.
    if proof.confirmation == .digest, proof.digest == nil {
      (proof.digest, proof.remoteDigest) = (checks.compared, checks.compared)
    }
    return answer.forgetting(answer.counters, answer.noted(values, .finished(proof)))
  }
}
