import TransferModel

/// The meaning of a success, step by step.
extension ProfileInterpreter {
  /// With `isLenient` a rule treats the answer as a success: missing values are left out.
  func succeeded(isLenient: Bool = false) throws -> Interpretation {
    let values = isLenient ? extracted() : try ExtractedValues(all: rules.extract, reader, scope)
    switch step {
    case .create: return opened(values)
    case .probe: return noted(values.notes, try probed(values))
    case .chunk(let chunk): return try sent(chunk, values)
    case .prepareChunk(let chunk): return prepared(chunk, values)
    case .probeChunk(let chunk): return noted(values.notes, .stored(receipt(chunk, values.part, nil), proof: nil))
    case .discover: return refreshed(values)
    case .finish, .save: return ended(values)
    case .verify: return verified(values)
    case .abort, .makeParent: return .settled
    }
  }

  /// The values that can be extracted.
  func extracted() -> ExtractedValues { ExtractedValues(rules.extract, reader, scope) }

  func noted(_ notes: [String: String], _ meaning: Interpretation) -> Interpretation {
    notes.isEmpty || facts.session == nil ? meaning : meaning.with(notes: notes)
  }

  // MARK: - Sessions

  private func opened(_ values: ExtractedValues) -> Interpretation {
    let (remoteID, expiry) = (proto.remoteID(values.notes, orElse: scope.uuid), expiresAtMs(values))
    // An empty file needs no request for its content: it exists with its session.
    guard facts.file.size == 0, !proto.wants(.chunk, facts) else {
      return noted(values.notes, .opened(OpenedSession(remoteID: remoteID, expiresAtMs: expiry)))
    }
    return noted(values.notes, .offset(0).with(opened: OpenedSession(remoteID: remoteID, expiresAtMs: expiry)))
  }

  private func expiresAtMs(_ values: ExtractedValues) -> Int64? {
    if let named = proto.expiresAtMs(SessionNotes(values.notes)) { return named }
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

  // MARK: - Chunks

  private func prepared(_ chunk: ChunkFacts, _ values: ExtractedValues) -> Interpretation {
    // An empty record would mean that the chunk is not prepared yet.
    let part = chunk.remote.merging(values.part) { $1 }
    return noted(values.notes, .chunkPrepared(part.isEmpty ? ["prepared": "true"] : part))
  }

  /// The meaning of a `probe_chunk`; nil if it is inconclusive.
  func probedChunk() throws -> Interpretation? {
    guard let exists = rules.have.exists, let chunk else { return nil }
    if try claims(exists) { return try unmetRequirement() ?? found(chunk) }
    switch StatusClass(reply.status) {
    case .success, .redirect: return .chunkProbed(acked: chunk.acked)
    // Only 404 and 410 mean that the chunk is missing; if sending it again is harmless, uncertainty is harmless too.
    case .permanent where ![401, 403, 404, 410].contains(reply.status) && !proto.profile.chunk.isIdempotent:
      return unknown(failure(), .chunk)
    case .permanent where reply.status != 401 && reply.status != 403: return .chunkProbed(acked: chunk.acked)
    case .permanent, .throttled, .retry: return nil
    }
  }

  /// The chunk is stored. If the next steps need a value of the lost answer, only another answer can provide it.
  private func found(_ chunk: ChunkFacts) -> Interpretation {
    let values = extracted()
    guard lacksRequired(values, [.part, .result], of: chunk) else {
      return noted(values.notes, .stored(receipt(chunk, values.part, nil), proof: nil))
    }
    return proto.profile.chunk.isIdempotent ? .chunkProbed(acked: chunk.acked) : unknown(Self.unsaid, .chunk)
  }

  private func sent(_ chunk: ChunkFacts, _ values: ExtractedValues) throws -> Interpretation {
    if let rules = rules.offset, try rules.when?.holds(reader, scope, earlier: []) ?? true {
      guard let value = try rules.from.value(in: reader, scope), let offset = try? value.integer() else {
        return misshapen("the answer does not say how much the server has")
      }
      return place(offset, chunk, values: values, failure(.protoOffset, "it has \(offset) bytes of the file"))
    }
    return stored(chunk, values)
  }

  private func stored(_ chunk: ChunkFacts, _ values: ExtractedValues) -> Interpretation {
    let part = receipt(chunk, values.part, proved("chunk"))
    let counted = notes.texts.keys.filter { $0.hasPrefix("count.\(key).") }
    var notes = values.notes.merging(counted.map { ($0, "") }) { first, _ in first }
    if let proved = proved("file") { notes[SessionNotes.proved] = proved.rawValue }
    let proof = wholeProof(part)
    // A chunk that the server had before does not count as progress.
    let isProgress = chunk.losses == 0 || proof != nil
    return forgetting(isProgress ? counters : [refreshes], noted(notes, .stored(part, proof: proof)))
  }

  /// A file in one chunk is complete with it, unless a step follows.
  private func wholeProof(_ part: PartReceipt) -> FileProof? {
    guard facts.layout.count == 1, proto.finishName == nil, proto.profile.step(.verify)?.isOfDoubt != false else {
      return nil
    }
    let confirmation = proved("file") ?? part.confirmation
    let ofBytesSent = requirements.contains { requirement in
      (requirement.namesHash(of: "chunk") || requirement.names("file", field: ProfileHash.crc32c.rawValue))
        && requirement.isPresent(reader)
    }
    let digest = confirmation == .digest && !ofBytesSent ? compared ?? part.digest : part.digest
    return FileProof(
      confirmation: confirmation, digest: digest, remoteDigest: confirmation == .digest ? digest : nil,
      etag: part.etag, requestID: reply.serverRequestID, serverDate: reply.field("date") ?? "")
  }

  func receipt(_ chunk: ChunkFacts, _ values: [String: String], _ confirmation: Confirmation?) -> PartReceipt {
    var remote = chunk.remote.merging(values) { $1 }
    for hash in proto.partHashes {
      if let digest = chunk.digests[hash.algorithm] { remote[hash.rawValue] = StoredValue.text(.digest(digest.bytes)) }
    }
    let etag = values["etag"].flatMap(StoredValue.read).flatMap { try? $0.text() } ?? reply.field("etag") ?? ""
    return PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: etag, digest: chunk.digests[proto.sentDigest],
      confirmation: confirmation == .digest ? .digest : .none, remote: remote)
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
      return sessionGone(failure)
    }
    if offset >= chunk.range.end { return stored(chunk, values) }
    guard leadsOn(offset) else { return sessionGone(unreachable(offset)) }
    if offset > chunk.body.offset { return noted(values.notes, .advanced(acked: offset - chunk.range.offset)) }
    if offset == chunk.body.offset { return noted(values.notes, again(failure)) }
    return reprobe(failure) ?? sessionGone(failure)
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

  // MARK: - The last steps

  private func ended(_ values: ExtractedValues) -> Interpretation {
    guard let name else { return .settled }
    let after = SessionNotes(notes.texts.merging(values.notes) { $1 })
    let isLast = !proto.remains(after: name, facts, after, isProved: proved("file") != nil)
    let marks = [SessionNotes.done(name): "1", SessionNotes.poll(name): ""]
    guard isLast else { return noted(values.notes.merging(marks) { $1 }, .settled) }
    return finished(values.notes.merging(marks) { $1 })
  }

  func finished(_ values: [String: String]) -> Interpretation {
    var proof = proto.proof(facts, confirmation: proved("file"), reply: reply)
    // If answers for the file were lost, only the digest that was compared is known.
    if proof.confirmation == .digest, proof.digest == nil { (proof.digest, proof.remoteDigest) = (compared, compared) }
    return forgetting(counters, noted(values, .finished(proof)))
  }

  /// The digest of the whole file that a requirement compared.
  private var compared: Digest? {
    let hash = proto.profile.file.hashes.first { hash in
      requirements.contains { $0.names("file", field: hash.rawValue) && $0.isPresent(reader) }
    }
    return hash.flatMap { context.fileDigests[$0.algorithm] }
  }
}
