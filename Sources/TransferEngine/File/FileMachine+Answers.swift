import TransferLedger
import TransferModel
import TransferProtocols

extension FileMachine {
  /// An attempt ended and the protocol said what its answer means. Returns the changes that go with the end of the
  /// attempt; ``advance(_:chunkLimit:nowMs:)`` says what follows.
  mutating func concluded(_ job: JobStep, _ judgement: Judgement, _ retry: RetryDecision) -> [FileChange] {
    close(job)
    let opened = judgement.opened.map { heard(remoteID: $0.remoteID, expiresAtMs: $0.expiresAtMs) } ?? []
    let doubt = judgement.doubt.map { doubted(job, $0) } ?? []
    return opened + noted(judgement.notes) + doubt + changes(job, judgement.verdict, retry)
  }

  /// An interim answer named the session while its request goes on. What the request has become decides from now on, not what it
  /// was when it began: a crash finds an open session that can be asked.
  mutating func heard(
    _ job: JobStep, remoteID: String, expiresAtMs: Int64?, _ proto: any UploadProtocol
  ) -> [FileChange] {
    let opened = heard(remoteID: remoteID, expiresAtMs: expiresAtMs)
    let operation = job.step.operation
    guard !opened.isEmpty, abilities.unrepeatable.contains(operation),
      !proto.abilities(facts).unrepeatable.contains(operation)
    else { return opened }
    return opened + [.askAbout(job.attempt)]
  }

  /// The server named the session; it may say so more than once.
  mutating func heard(remoteID: String, expiresAtMs: Int64?) -> [FileChange] {
    guard facts.session != nil, facts.session?.remoteID == nil else { return [] }
    facts.session?.remoteID = remoteID
    facts.session?.expiresAtMs = expiresAtMs
    return [.openSession(remoteID: remoteID, expiresAtMs: expiresAtMs)]
  }

  private mutating func noted(_ notes: [String: String]) -> [FileChange] {
    guard !notes.isEmpty, var session = facts.session else { return [] }
    session.notes = session.notes.merging(notes) { $1 }.filter { !$0.value.isEmpty }
    guard session.notes != facts.session?.notes else { return [] }
    facts.session = session
    return [.noteSession(session.notes)]
  }

  private mutating func changes(_ job: JobStep, _ verdict: Verdict, _ retry: RetryDecision) -> [FileChange] {
    switch verdict {
    case .learned(_, let inner), .noted(_, let inner), .doubted(_, let inner), .opened(_, _, let inner):
      preconditionFailure("wrappings are taken off before: \(inner)")
    case .sessionOpened(let remoteID, let expiresAtMs):
      facts.lostAnswer = nil
      return heard(remoteID: remoteID, expiresAtMs: expiresAtMs)
    case .partsListed(let parts, let next):
      return listed(job, parts, next: next)
    case .orphansListed(let orphans, let next):
      facts.orphans += orphans
      probed(next: next)
      return []
    case .stored(let part, let proof):
      return stored(job, part, proof)
    case .advanced(let acked):
      return advanced(job, to: acked, retry)
    case .chunkPrepared(let remote):
      guard case .chunk(let chunk, let attempt) = job.target else { preconditionFailure("prepared a control step") }
      return [.prepareChunk(chunk, attempt, remote: remote)]
    case .chunkProbed(let acked):
      guard case .chunk(let chunk, let attempt) = job.target else { preconditionFailure("probed a control step") }
      count(acked - (job.step.chunk?.acked ?? 0), isNew: job.step.isOfNewChunk)
      return [.probeChunk(chunk, attempt, acked: acked)]
    case .offset(let offset):
      return aligned(job, offset)
    case .finished(let proof):
      isReleased = true
      // A session whose create call was never answered cannot have been completed by us.
      let state: SessionState = facts.session?.remoteID == nil ? .gone : .completed
      let isLeft = abilities.leavesUploads && proof.confirmation != .none
      let end = isLeft ? FileChange.giveUpSession : .endSession(state)
      let confirmed: [FileChange] =
        facts.isAllStored ? [] : [.confirmChunks(job.attempt, proof.confirmation, etag: proof.etag)]
      bytesStored = facts.layout.size
      return confirmed + (sessionID == nil ? [] : [end]) + [.complete(receipt(proof))]
    case .absent:
      facts.isAbsent = true
      facts.lostAnswer = nil
      return []
    case .untold:
      facts.untold.insert(job.step.operation)
      if case .probe = job.step { probed(next: nil) }
      return []
    case .settled:
      return settled(job)
    case .notYet(let afterMs):
      end(.requeue(notBeforeMs: facts.wallMs + afterMs, nil, isFailure: false))
      guard case .chunk(let chunk, let attempt) = job.target else { return [] }
      return [.returnChunk(chunk, attempt)]
    case .failed(let failure, let remedy):
      return failed(job, failure, remedy, retry)
    }
  }

  /// We stopped the request ourselves, or never sent it. Not a failure of the file.
  mutating func interrupted(_ job: JobStep, mayHaveArrived: Bool) -> [FileChange] {
    close(job)
    let failure = Failure(.engineInterrupted, "stopped while its answer was awaited; it may have taken effect")
    let isInDoubt = mayHaveArrived && abilities.unrepeatable.contains(job.step.operation)
    if isInDoubt { ending = .unknown(failure) }
    guard case .chunk(let chunk, let attempt) = job.target else { return [] }
    return [isInDoubt ? .chunkUnknown(chunk, attempt) : .returnChunk(chunk, attempt)]
  }

  private mutating func close(_ job: JobStep) {
    switch job.target {
    case .chunk: openChunks -= 1
    case .control: isControlOpen = false
    }
  }

  private mutating func stored(_ job: JobStep, _ part: PartReceipt, _ proof: FileProof?) -> [FileChange] {
    guard case .chunk(let chunk, let attempt) = job.target else { preconditionFailure("stored a control step") }
    repairsInARow = 0
    doneCount += 1
    count(part.length - (job.step.chunk?.acked ?? 0), isNew: job.step.isOfNewChunk)
    let stored = StoredPart(part)
    let isSent = if case .chunk = job.step { !job.isFound } else { false }
    let change: FileChange = isSent ? .storeChunk(chunk, attempt, stored) : .findChunk(chunk, attempt, stored)
    facts.isAllStored = doneCount == facts.layout.count
    // Those that were there when it was sent lack it.
    facts.parts = []
    if facts.isAllStored { facts.lostAnswer = nil }
    guard let proof else { return [change] }
    isReleased = true
    // A session that the server never named, and the object is there: nothing is left to be looked for.
    let isUnnamed = sessionID != nil && facts.session?.remoteID == nil
    return [change] + (isUnnamed ? [.endSession(.gone)] : []) + [.complete(receipt(proof))]
  }

  /// What is remembered of a chunk lets the next listing say whether it is there; the protocol is asked what is next.
  private mutating func doubted(_ job: JobStep, _ remote: [String: String]) -> [FileChange] {
    guard case .chunk(let chunk, let attempt) = job.target else { preconditionFailure("doubted a control step") }
    facts.lostAnswer = .part
    facts.isProbed = false
    return [.doubtChunk(chunk, attempt, remote: remote)]
  }

  private mutating func advanced(_ job: JobStep, to acked: Int64, _ retry: RetryDecision) -> [FileChange] {
    guard case .chunk(let chunk, let attempt) = job.target else { preconditionFailure("advanced a control step") }
    repairsInARow = 0
    count(acked - (job.step.chunk?.acked ?? 0), isNew: job.step.isOfNewChunk)
    if let failure = Self.tinyProgress(job, to: acked) {
      end(
        retry.isExhausted
          ? .fail(failure, keepsSession: true)
          : .requeue(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: true))
    }
    return [.advanceChunk(chunk, attempt, acked: acked)]
  }

  /// A failure when the server took next to nothing of a body; nil when it took more, or all.
  static func tinyProgress(_ job: JobStep, to acked: Int64) -> Failure? {
    guard let chunk = job.step.chunk, BodyProgress.isTiny(acked - chunk.acked, of: chunk.body.length) else {
      return nil
    }
    let taken = acked - chunk.acked
    return Failure(
      .protoBadReply, "the server took \(taken) of \(chunk.body.length) bytes and answered that all was well")
  }

  /// Bytes that the server says it holds, or does not hold after all. What it had before and lost is no progress, here as in
  /// the ledger: a file that loses again and again must come to an end.
  private mutating func count(_ bytes: Int64, isNew: Bool) {
    bytesStored += bytes
    let isAll = bytesStored == facts.layout.size
    if isNew && (BodyProgress.forgives(bytes, ofFile: facts.layout.size) || (isAll && bytes > 0)) { failures = 0 }
  }

  /// The server said how much of the file it holds, and that is the only truth.
  private mutating func aligned(_ job: JobStep, _ offset: Int64) -> [FileChange] {
    precondition((0...facts.layout.size).contains(offset), "an offset of \(offset) in \(facts.layout.size) bytes")
    if facts.lostAnswer != .finish { facts.lostAnswer = nil }
    facts.isProbed = true
    if offset < bytesStored { hasLosses = true }
    count(offset - bytesStored, isNew: !hasLosses)
    doneCount = facts.layout.chunks(within: offset)
    facts.isAllStored = doneCount == facts.layout.count
    if !facts.isAllStored { isFinishing = false }
    facts.parts = []
    waitingUntil = []
    return [.alignChunks(job.attempt, offset: offset)]
  }

  private mutating func settled(_ job: JobStep) -> [FileChange] {
    switch job.step {
    case .abort(let remoteID): facts.orphans.removeAll { $0 == remoteID }
    case .makeParent: facts.parentsMade = (facts.parentsMade ?? 0) + 1
    case .finish, .save:
      if facts.lostAnswer == job.step.operation { facts.lostAnswer = nil }
      // What a `verify` did not find then may be there now.
      facts.isAbsent = false
    case .create, .probe, .chunk, .prepareChunk, .probeChunk, .discover, .verify: break
    }
    return []
  }

  private mutating func probed(next: String?) {
    facts.probeMarker = next
    guard next == nil else { return }
    facts.isProbed = true
    if facts.lostAnswer != .finish { facts.lostAnswer = nil }
  }

  /// Compares a page of the server's list with the ledger. Chunks that should be in this page and are not, or differ in
  /// length, are pending again: the server's word is the only truth.
  private mutating func listed(_ job: JobStep, _ parts: [ListedPart], next: String?) -> [FileChange] {
    let first = listedThrough
    let last = next == nil ? facts.layout.count - 1 : (parts.map(\.seq).max() ?? first - 1)
    listedThrough = last + 1
    let lengths = Dictionary(parts.map { ($0.seq, $0.length) }, uniquingKeysWith: { _, new in new })
    let lost = first > last ? [] : (first...last).filter { lengths[$0] != facts.layout.range($0).length }
    probed(next: next)
    if next == nil { listedThrough = 0 }
    for part in parts where part.receipt == nil && part.length == facts.layout.range(part.seq).length {
      facts.listed[part.seq] = part
    }
    let adopted = adopt(parts.compactMap(\.receipt), by: job.attempt)
    guard !lost.isEmpty else { return adopted }
    defer { isFinishing = false }
    awaitsDisowning = true
    return (isFinishing ? [.resumeSending] : []) + adopted + [.disownChunks(lost)]
  }

  /// Chunks in doubt that the server's list proves to be there.
  private mutating func adopt(_ parts: [PartReceipt], by attempt: AttemptID) -> [FileChange] {
    guard !parts.isEmpty else { return [] }
    let seqs = Set(parts.map(\.seq))
    let backingOff = facts.doubts.filter { seqs.contains($0.seq) && $0.isBackingOff }.count
    facts.doubts.removeAll { seqs.contains($0.seq) }
    waitingUntil.removeLast(min(backingOff, waitingUntil.count))
    doneCount += parts.count
    count(parts.reduce(0) { $0 + $1.length }, isNew: !hasLosses)
    facts.isAllStored = doneCount == facts.layout.count
    return [.adoptChunks(attempt, parts)]
  }

  /// The ledger says how many of the disowned chunks it had taken for done.
  mutating func disowned(_ count: Int) {
    guard count > 0 else { return }
    hasLosses = true
    doneCount -= count
    bytesStored = min(bytesStored, Int64(doneCount) * facts.layout.chunkSize)
    facts.isAllStored = false
    facts.parts = []
  }
}
