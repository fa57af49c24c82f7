import TransferModel

/// The changes of a file's facts by an answer, to be written to its rows together, in this order.
public struct FactsUpdate: Sendable {
  package var changes: [Change] = []
  /// Increase of the bytes that the server is known to have; negative for a decrease.
  public var gained: Int64 = 0
  /// The server never had these bytes before. Sending lost bytes again does not count as progress.
  public var isNew = false

  package enum Change: Sendable {
    /// The session has an ID on the server now; `notes` from the same answer replace its notes.
    case openSession(OpenedSession, notes: [String: String]? = nil)
    /// Replaces the notes of the session.
    case noteSession([String: String])
    /// Notes of a chunk that may be stored.
    case doubtChunk([String: String])
    /// Notes of a chunk that is not stored.
    case noteChunk([String: String])
    case storeChunk(PartReceipt)
    /// The first bytes of a download arrived; `plan` is its layout if it had none.
    case beginFile(FileBeginning, plan: ChunkLayout?)
    /// A page of a listing.
    case list(ListedPage)
    /// A finer layout of the file; the stored bytes are the beginning of its first chunk.
    case divide(ChunkLayout)
    case advanceChunk(acked: Int64)
    case prepareChunk([String: String])
    /// A part of it is stored.
    case storePiece([String: String])
    case probeChunk(acked: Int64)
    /// The server has this many bytes of the file; the state of all chunks follows from it.
    case alignChunks(offset: Int64)
    /// Uncertain chunks that a listing proved to be stored; `backingOff` of them were in backoff.
    case adoptChunks([PartReceipt], backingOff: Int)
    /// Chunks that a listing shows to be missing, whether or not they were recorded as stored.
    case disownChunks([Int])
    /// The server has the whole file although answers to its bodies were lost.
    case confirmChunks(Confirmation, etag: String)
    case complete(FileProof)
    case wait(afterMs: Int64)
    /// A failure; the engine decides whether to retry.
    case fail(Failure, FailureAction)
  }
}

extension TransferFacts {
  /// Updates the facts from the interpretation of an answer to `step`: the only implementation of these rules.
  /// `abilities` are those of the protocol for this file.
  package mutating func apply(
    _ meaning: Interpretation, to step: StepRequest, _ abilities: ProtocolAbilities
  ) -> FactsUpdate {
    var update = FactsUpdate()
    if let learned = meaning.learned { self.learned = learned }
    if let blocks = meaning.blocks { self.blocks = blocks }
    if let route = meaning.route {
      self[routeTo: meaning.mirror] = route.remembering(self[routeTo: meaning.mirror])
    }
    update.changes += remember(meaning)
    if let doubt = meaning.doubt {
      askAgain()
      update.changes.append(.doubtChunk(doubt))
    }
    if let notes = meaning.chunkNotes { update.changes.append(.noteChunk(notes)) }
    if let layout = meaning.division, layout.count > self.layout.count, acked < layout.chunkSize {
      self.layout = layout
      update.changes.append(.divide(layout))
    }
    settle(meaning.outcome, step, abilities, &update)
    acked += update.gained
    if update.gained > 0 { self[routeTo: meaning.mirror].arrived() }
    return update
  }

  private mutating func remember(_ meaning: Interpretation) -> [FactsUpdate.Change] {
    let named = meaning.opened.map { name($0) } ?? []
    let noted = note(meaning.notes)
    guard case .openSession(let opened, _)? = named.first, case .noteSession(let notes)? = noted.first else {
      return named + noted
    }
    return [.openSession(opened, notes: notes)]
  }

  /// The server sent the ID of the session; it may do so more than once.
  package mutating func name(_ opened: OpenedSession) -> [FactsUpdate.Change] {
    guard session != nil, session?.remoteID == nil else { return [] }
    session?.remoteID = opened.remoteID
    session?.expiresAtMs = opened.expiresAtMs
    return [.openSession(opened)]
  }

  mutating func note(_ notes: [String: String]) -> [FactsUpdate.Change] {
    guard !notes.isEmpty, let known = session?.notes else { return [] }
    let merged = known.merging(notes) { $1 }.filter { !$0.value.isEmpty }
    guard merged != known else { return [] }
    session?.notes = merged
    return [.noteSession(merged)]
  }

  /// A chunk may be stored: the protocol queries before sending it again.
  private mutating func askAgain() {
    lostAnswer = .part
    isProbed = false
  }

  private mutating func settle(
    _ outcome: Interpretation.Outcome, _ step: StepRequest, _ abilities: ProtocolAbilities,
    _ update: inout FactsUpdate
  ) {
    switch outcome {
    case .settled: settled(step)
    case .partsListed(let listed, let next): compare(listed, next: next, &update)
    case .unlistedUploads(let found, let next):
      unlistedUploads += found
      probed(next: next)
    case .stored(let part, let proof): stored(part, proof, step, &update)
    case .advanced(let acked): hold(acked, of: step, .advanceChunk(acked: acked), &update)
    case .chunkPrepared(let remote): update.changes.append(.prepareChunk(remote))
    case .pieceStored(let remote): update.changes.append(.storePiece(remote))
    case .chunkProbed(let acked): hold(acked, of: step, .probeChunk(acked: acked), &update)
    case .offset(let offset): align(offset, &update)
    case .begun(let beginning): begin(beginning, &update)
    case .listed(let page): update.changes.append(.list(page))
    case .finished(let proof): finished(proof, &update)
    case .absent:
      isAbsent = true
      lostAnswer = nil
    case .inconclusive:
      inconclusive.insert(step.operation)
      if case .probe = step { probed(next: nil) }
    case .notYet(let afterMs): update.changes.append(.wait(afterMs: afterMs))
    case .failed(let failure, let action): failed(failure, action, step, abilities, &update)
    }
  }

  private mutating func settled(_ step: StepRequest) {
    switch step {
    case .create: lostAnswer = nil
    case .abort(let remoteID): unlistedUploads.removeAll { $0 == remoteID }
    case .makeParent: parentsMade = (parentsMade ?? 0) + 1
    case .finish, .save:
      if lostAnswer == step.operation { lostAnswer = nil }
      // The object may exist now although an earlier `verify` did not find it.
      isAbsent = false
    case .probe, .chunk, .prepareChunk, .probeChunk, .discover, .verify: break
    }
  }

  private mutating func begin(_ beginning: FileBeginning, _ update: inout FactsUpdate) {
    lostAnswer = nil
    let plan = isPlanned ? nil : beginning.layout
    if let plan {
      (layout, isPlanned, storedChunks) = (plan, true, 0)
      file.size = plan.size
    }
    if beginning.part != nil || beginning.reused != nil { storedChunks += 1 }
    if beginning.reused != nil { isReused = true }
    // For a completely received file nothing has to be read from the ledger.
    parts = isAllStored ? [beginning.part ?? beginning.reused].compactMap(\.self) : []
    update.gained = beginning.reused?.length ?? beginning.received
    update.isNew = !hasLosses
    update.changes.append(.beginFile(beginning, plan: plan))
  }

  private mutating func stored(
    _ part: PartReceipt, _ proof: FileProof?, _ step: StepRequest, _ update: inout FactsUpdate
  ) {
    hold(part.length, of: step, .storeChunk(part), &update)
    storedChunks += 1
    // The receipts that were read earlier do not include this one.
    parts = []
    if isAllStored { lostAnswer = nil }
    if let proof { update.changes.append(.complete(proof)) }
  }

  /// The server has `acked` bytes from the start of the chunk.
  private func hold(
    _ acked: Int64, of step: StepRequest, _ change: FactsUpdate.Change, _ update: inout FactsUpdate
  ) {
    update.changes.append(change)
    update.gained = acked - (step.chunk?.acked ?? 0)
    update.isNew = step.chunk?.losses == 0
  }

  /// Aligns all chunks with the server's offset, which is authoritative.
  private mutating func align(_ offset: Int64, _ update: inout FactsUpdate) {
    precondition((0...layout.size).contains(offset), "an offset of \(offset) in \(layout.size) bytes")
    probed(next: nil)
    if offset < acked { hasLosses = true }
    update.gained = offset - acked
    update.isNew = !hasLosses
    storedChunks = layout.chunks(within: offset)
    parts = []
    update.changes.append(.alignChunks(offset: offset))
  }

  private mutating func finished(_ proof: FileProof, _ update: inout FactsUpdate) {
    if !isAllStored { update.changes.append(.confirmChunks(proof.confirmation, etag: proof.etag)) }
    update.gained = layout.size - acked
    update.changes.append(.complete(proof))
  }

  private mutating func failed(
    _ failure: Failure, _ action: FailureAction, _ step: StepRequest, _ abilities: ProtocolAbilities,
    _ update: inout FactsUpdate
  ) {
    var action = action
    switch action {
    // Queries that were refused before may be answered now.
    case .repair, .refreshCredential: inconclusive = []
    case .makeParents where parentsMade == nil: parentsMade = 0
    // The collections exist, so creating them does not help.
    case .makeParents: action = .permanent
    case .probe:
      // The file continues if the answer to one of its parallel chunks was lost, unless each chunk is queried
      // individually.
      if case .chunk = step, abilities.parallelChunks, !abilities.chunkOpening.probesUncertain {
        askAgain()
        isAbsent = false
      }
    case .retry, .hold, .elsewhere, .sessionGone, .permanent, .unknown: break
    }
    update.changes.append(.fail(failure, action))
  }
}
