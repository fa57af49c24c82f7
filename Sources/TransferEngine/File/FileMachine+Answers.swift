import TransferLedger
import TransferModel
import TransferProtocols

extension FileMachine {
  /// An attempt ended and the protocol interpreted its answer. Returns the changes that belong to the end of the
  /// attempt; ``advance(_:chunkLimit:nowMs:)`` determines the next step.
  mutating func concluded(_ job: JobStep, _ meaning: Interpretation, _ retry: RetryDecision) -> [FileChange] {
    let table = tableLength
    close(job)
    let update = facts.apply(meaning, to: job.step, abilities)
    if facts.blocks != nil { tableLength = table }
    count(update)
    return update.changes.flatMap { changes(job, $0, retry) }
  }

  /// An interim answer named the session while its request is still running. From now on the request counts as one with
  /// an open session, regardless of how it began: after a crash the session can be queried.
  mutating func heard(_ job: JobStep, _ session: OpenedSession, _ proto: ProtocolInUse) -> [FileChange] {
    guard !facts.name(session).isEmpty else { return [] }
    let opened = FileChange.openSession(remoteID: session.remoteID, expiresAtMs: session.expiresAtMs)
    let operation = job.step.operation
    guard abilities.unrepeatable.contains(operation), !proto.abilities(facts).unrepeatable.contains(operation) else {
      return [opened]
    }
    return [opened, .askAbout(job.attempt)]
  }

  /// Bytes that the server loses and receives again do not count as progress, neither here nor in the ledger: otherwise
  /// a file whose server loses them repeatedly would be retried forever.
  private mutating func count(_ update: FactsUpdate) {
    guard update.isNew, update.gained > 0 else { return }
    let size = facts.layout.size
    if BodyProgress.forgives(update.gained, ofFile: size) || bytesStored == size { failures = 0 }
  }

  /// The changes of rows that correspond to a change of the facts.
  private mutating func changes(_ job: JobStep, _ change: FactsUpdate.Change, _ retry: RetryDecision) -> [FileChange] {
    switch change {
    case .openSession(let session, let notes):
      return [.openSession(remoteID: session.remoteID, expiresAtMs: session.expiresAtMs, notes: notes)]
    case .noteSession(let notes): return [.noteSession(notes)]
    case .doubtChunk(let remote): return job.chunk.map { [.doubtChunk($0, job.attempt, remote: remote)] } ?? []
    case .noteChunk(let remote): return job.chunk.map { [.noteChunk($0, job.attempt, remote: remote)] } ?? []
    case .storeChunk(let part): return stored(job, part)
    case .beginFile(let beginning, let plan):
      return [.storeBeginning(job.attempt, beginning, plan: plan)]
        + (beginning.reused.map { [.reuseChunks([$0])] } ?? [])
    case .divide(let layout): return [.recut(layout)]
    case .list(let page): return listed(job, page)
    case .advanceChunk(let acked): return advanced(job, to: acked, retry)
    case .prepareChunk(let remote): return job.chunk.map { [.prepareChunk($0, job.attempt, remote: remote)] } ?? []
    case .storePiece(let remote): return pieceStored(job, remote)
    case .probeChunk(let acked): return job.chunk.map { [.probeChunk($0, job.attempt, acked: acked)] } ?? []
    case .alignChunks(let offset):
      if !facts.isAllStored { resumeSending() }
      requests.endBackoffs()
      return [.alignChunks(job.attempt, offset: offset)]
    case .adoptChunks(let parts, let backingOff):
      requests.dropBackoffs(backingOff)
      return [.adoptChunks(job.attempt, parts)]
    case .disownChunks(let seqs): return disowned(seqs)
    case .confirmChunks(let confirmation, let etag): return [.confirmChunks(job.attempt, confirmation, etag: etag)]
    case .complete(let proof): return completed(job, proof)
    case .wait(let afterMs):
      end(.release(notBeforeMs: facts.wallMs + afterMs, nil, isFailure: false))
      return job.chunk.map { [.releaseChunk($0, job.attempt)] } ?? []
    case .fail(let failure, let remedy): return failed(job, failure, remedy, retry)
    }
  }

  /// We stopped the request ourselves, or never sent it. This is not a failure of the file.
  mutating func interrupted(_ job: JobStep, mayHaveArrived: Bool) -> [FileChange] {
    close(job)
    let failure = Failure(.engineInterrupted, "stopped while waiting for its answer; it may have taken effect")
    let isInDoubt = mayHaveArrived && abilities.unrepeatable.contains(job.step.operation)
    if isInDoubt { endInDoubt(failure) }
    guard let chunk = job.chunk else { return [] }
    return [isInDoubt ? .chunkUnknown(chunk, job.attempt) : .releaseChunk(chunk, job.attempt)]
  }

  private mutating func stored(_ job: JobStep, _ part: PartReceipt) -> [FileChange] {
    guard let chunk = job.chunk else { preconditionFailure("stored a control step") }
    repairsInARow = 0
    let isSent = if case .chunk = job.step { !job.isFound } else { false }
    return [isSent ? .storeChunk(chunk, job.attempt, part) : .findChunk(chunk, job.attempt, part)]
  }

  private mutating func pieceStored(_ job: JobStep, _ remote: [String: String]) -> [FileChange] {
    (failures, repairsInARow) = (0, 0)
    return job.chunk.map { [.storePiece($0, job.attempt, remote: remote)] } ?? []
  }

  /// A page counts as progress, however often the previous one failed.
  private mutating func listed(_ job: JobStep, _ page: ListedPage) -> [FileChange] {
    (failures, repairsInARow) = (0, 0)
    let admit = FileChange.admitListed(ListedFiles(page, below: claimed.path))
    guard page.isLast else { return [admit] }
    release()
    let skipped = page.skipped > 0 ? ", \(page.skipped) of which are not files" : ""
    return [admit, .endSession(.completed), .endListing("\(page.found) listed\(skipped)")]
  }

  /// The server has the whole file, by the body of a request or by the last step.
  private mutating func completed(_ job: JobStep, _ proof: FileProof) -> [FileChange] {
    release()
    return (sessionEnd(job, proof).map { [$0] } ?? []) + [.complete(receipt(proof))]
  }

  private func sessionEnd(_ job: JobStep, _ proof: FileProof) -> FileChange? {
    guard sessionID != nil else { return nil }
    // A session whose create call was never answered cannot have been completed by us.
    let isUnnamed = facts.session?.remoteID == nil
    // Completed by the body of a request: there is no session to query.
    guard job.chunk == nil else { return isUnnamed ? .endSession(.gone) : nil }
    if abilities.leavesUploads && proof.confirmation != .none { return .giveUpSession }
    return .endSession(isUnnamed ? .gone : .completed)
  }

  private mutating func advanced(_ job: JobStep, to acked: Int64, _ retry: RetryDecision) -> [FileChange] {
    guard let chunk = job.chunk else { preconditionFailure("advanced a control step") }
    repairsInARow = 0
    if let failure = Self.tinyProgress(job, to: acked) {
      end(
        retry.isExhausted
          ? .fail(failure, keepsSession: true)
          : .release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: true))
    }
    return [.advanceChunk(chunk, job.attempt, acked: acked)]
  }

  /// A failure if the server stored almost nothing of a body; nil if it stored more, or all of it.
  static func tinyProgress(_ job: JobStep, to acked: Int64) -> Failure? {
    guard let chunk = job.step.chunk, BodyProgress.isTiny(acked - chunk.acked, of: chunk.body.length) else {
      return nil
    }
    let taken = acked - chunk.acked
    return Failure(
      .protoBadReply, "only \(taken) of \(chunk.body.length) bytes are stored, although the server reported success")
  }

  /// The commit returns how many of them the ledger had recorded as done.
  private mutating func disowned(_ seqs: [Int]) -> [FileChange] {
    defer { resumeSending() }
    holdForDisowning()
    return (isFinishing ? [.resumeSending] : []) + [.disownChunks(seqs)]
  }
}
