import TransferLedger
import TransferModel
import TransferProtocols

/// One claimed file on its way: a value that turns facts (an attempt ended, a step was begun) into changes of rows and
/// the next step. It does no I/O and reads no clock.
///
/// A control step runs alone; chunks run side by side. Once ``ending`` is set nothing new begins, and the file leaves
/// the engine with its last open attempt.
struct FileMachine: Sendable {
  let claimed: ClaimedFile
  let location: String
  let abilities: ProtocolAbilities
  var facts: UploadFacts
  private(set) var sessionID: SessionID?

  private var doneCount: Int
  /// In chunks that are done, in bytes; for display.
  private(set) var bytesStored: Int64
  /// Chunks with an open attempt, and chunks asked for but not yet begun.
  private(set) var openChunks = 0
  private var askedChunks = 0
  private var isControlOpen = false
  /// When the chunks that back off may be sent again, in wall milliseconds.
  var waitingUntil: [Int64] = []
  private var isPlanned: Bool
  private var isFinishing = false
  /// The server forgot the session; its row ends when the file leaves the engine.
  var isSessionGone = false
  /// Consecutive repairs without a stored chunk.
  var repairsInARow = 0
  /// How far the pages of a probe have come: the first chunk that was not listed yet.
  private var listedThrough = 0
  /// Consecutive askings for chunks that the ledger could not answer.
  private var emptyBegins = 0
  private static let emptyBeginLimit = 100
  /// A probe showed that chunks are missing; how many of them the ledger had taken for done comes with the commit, and
  /// nothing can be decided before.
  private(set) var awaitsDisowning = false
  private(set) var ending: Ending?
  private(set) var isReleased = false

  enum Ending: Sendable, Hashable {
    case fail(Failure, keepsSession: Bool)
    case unknown(Failure)
    case supersede(SourceIdentity, notBeforeMs: Int64)
    case requeue(notBeforeMs: Int64?, ErrorCode?, isFailure: Bool)
  }

  init(claimed: ClaimedFile, layout: ChunkLayout, location: String, abilities: ProtocolAbilities) {
    self.claimed = claimed
    self.location = location
    self.abilities = abilities
    let file = FileFacts(
      uid: claimed.uid, key: claimed.key, size: layout.size, mtimeMs: claimed.identity.mtimeNs / 1_000_000)
    facts = UploadFacts(file: file, layout: layout)
    facts.session = claimed.session.map { SessionFacts(remoteID: $0.remoteID, intendedAtMs: $0.intendedAtMs) }
    facts.lostAnswer = claimed.lostAnswer
    sessionID = claimed.session?.id
    doneCount = claimed.doneChunks
    bytesStored = claimed.doneBytes
    waitingUntil = claimed.waitingUntil
    facts.isAllStored = doneCount == layout.count
    isPlanned = claimed.layout != nil
  }

  var openCount: Int { openChunks + askedChunks + (isControlOpen ? 1 : 0) }
  var isWhole: Bool { facts.layout.count == 1 }
  /// Chunks that could be sent if the backoff of all of them were over.
  var unsentCount: Int { facts.layout.count - doneCount - openChunks - askedChunks }
  /// Holds a session at the server, or will.
  var needsSession: Bool { facts.layout.count > 1 }

  // MARK: - Beginning

  /// The unit that begins what comes next, or ends the file; nil when there is nothing to do now.
  /// `chunkLimit` bounds how many chunks begin; 0 holds them back.
  mutating func advance(
    _ proto: any UploadProtocol, chunkLimit: Int, nowMs: Int64
  ) -> FileUnit? {
    var unit = FileUnit(file: claimed.id, session: sessionID)
    unit.isRepeatable = abilities.repeatable
    if !isPlanned {
      isPlanned = true
      unit.plan = facts.layout
    }
    continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs)
    return unit.isEmpty ? nil : unit
  }

  private mutating func continueInto(
    _ unit: inout FileUnit, _ proto: any UploadProtocol, chunkLimit: Int, nowMs: Int64
  ) {
    guard !isReleased, !isControlOpen, !awaitsDisowning else { return }
    if let ending {
      if openCount == 0 { release(ending, into: &unit) }
      return
    }
    switch proto.nextStep(facts) {
    case .chunks:
      beginChunks(into: &unit, limit: chunkLimit, nowMs: nowMs)
    case .control(let step):
      guard openCount == 0 else { return }
      begin(step, into: &unit)
    case .complete(let proof):
      unit.changes.append(.complete(receipt(proof)))
      isReleased = true
    case .fail(let failure):
      end(.fail(failure, keepsSession: false))
      if openCount == 0 { continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs) }
    }
  }

  private mutating func beginChunks(into unit: inout FileUnit, limit: Int, nowMs: Int64) {
    let due = waitingUntil.filter { $0 <= nowMs }.count
    let ready = unsentCount - waitingUntil.count + due
    let count = min(limit, ready, abilities.parallelChunks ? limit : 1 - openChunks - askedChunks)
    guard count > 0 else { return }
    waitingUntil.removeAll { $0 <= nowMs }
    askedChunks += count
    unit.begin = .chunks(limit: count)
  }

  private mutating func begin(_ step: StepRequest, into unit: inout FileUnit) {
    if step == .finish && !isFinishing {
      isFinishing = true
      unit.changes.append(.startFinishing)
    }
    unit.wantsParts = doneCount > 0 && step.usesParts
    isControlOpen = true
    unit.begin = .control(step)
  }

  /// The transaction of a unit is durable: what it began may be sent.
  mutating func begun(_ begun: Begun, asked: Int, nowMs: Int64) {
    askedChunks -= asked
    openChunks += begun.chunks.count
    emptyBegins = asked > 0 && begun.chunks.isEmpty ? emptyBegins + 1 : 0
    if emptyBegins > Self.emptyBeginLimit {
      end(
        .fail(Failure(.engineBug, "the ledger has no chunk to send although the file is not done"), keepsSession: true))
    }
    // Fewer than asked: the ledger's clock was behind ours for a backoff that just ended.
    waitingUntil += Array(repeating: nowMs + 20, count: max(0, asked - begun.chunks.count))
    if let session = begun.session {
      sessionID = session.id
      facts.session = SessionFacts(remoteID: session.remoteID, intendedAtMs: session.intendedAtMs)
    }
    if let parts = begun.parts { facts.parts = parts }
    if awaitsDisowning {
      awaitsDisowning = false
      disowned(begun.disownedChunks)
    }
  }

  // MARK: - Ending

  /// Nothing new begins from here on. The first reason stands, but for one: a file that only was to be let go and then
  /// failed, turned out to be unknown or changed while its last requests ended, has failed, is unknown or has changed.
  mutating func end(_ reason: Ending) {
    guard let earlier = ending else {
      ending = reason
      return
    }
    if case .requeue = earlier { ending = reason }
  }

  private mutating func release(_ ending: Ending, into unit: inout FileUnit) {
    isReleased = true
    if isSessionGone {
      // The ledger takes nothing from a file that is finishing.
      unit.changes += (isFinishing ? [.resumeSending] : []) + [.endSession(.gone), .resetChunks]
    }
    switch ending {
    case .fail(let failure, let keepsSession):
      unit.changes.append(.fail(failure.code, failure.message, keepsSession: keepsSession))
    case .unknown(let failure):
      unit.changes.append(.unknown(failure.code, failure.message))
    case .supersede(let identity, let notBeforeMs):
      unit.changes.append(.supersede(identity, notBeforeMs: notBeforeMs))
    case .requeue(let notBeforeMs, let code, let isFailure):
      unit.changes.append(.requeue(notBeforeMs: notBeforeMs, code, isFailure: isFailure))
    }
  }

  private func receipt(_ proof: FileProof) -> FileReceipt {
    FileReceipt(
      confirmation: proof.confirmation, digest: proof.digest, remoteDigest: proof.remoteDigest, etag: proof.etag,
      versionID: proof.versionID, requestID: proof.requestID, serverDate: proof.serverDate, location: location)
  }
}

// MARK: - Answers

extension FileMachine {
  /// An attempt ended and the protocol said what its answer means. Returns the changes that go with the end of the
  /// attempt; ``advance(_:chunkLimit:nowMs:)`` says what follows.
  mutating func concluded(_ job: JobStep, _ verdict: Verdict, _ retry: RetryDecision) -> [FileChange] {
    close(job)
    switch verdict {
    case .learned(_, let inner):
      preconditionFailure("learned facts are taken off before: \(inner)")
    case .sessionOpened(let remoteID, let expiresAtMs):
      facts.lostAnswer = nil
      facts.session?.remoteID = remoteID
      return [.openSession(remoteID: remoteID, expiresAtMs: expiresAtMs)]
    case .partsListed(let parts, let next):
      return listed(parts, next: next)
    case .orphansListed(let orphans, let next):
      facts.orphans += orphans
      probed(next: next)
      return []
    case .stored(let part, let proof):
      return stored(job, part, proof)
    case .finished(let proof):
      isReleased = true
      // A session whose create call was never answered cannot have been completed by us.
      let end: SessionState = facts.session?.remoteID == nil ? .gone : .completed
      let confirmed: [FileChange] =
        facts.isAllStored ? [] : [.confirmChunks(job.attempt, proof.confirmation, etag: proof.etag)]
      return confirmed + (sessionID == nil ? [] : [.endSession(end)]) + [.complete(receipt(proof))]
    case .absent:
      facts.isAbsent = true
      facts.lostAnswer = nil
      return []
    case .settled:
      return settled(job)
    case .failed(let failure, let remedy):
      return failed(job, failure, remedy, retry)
    }
  }

  /// We stopped the request ourselves, or never sent it. Not a failure of the file.
  mutating func interrupted(_ job: JobStep, mayHaveArrived: Bool) -> [FileChange] {
    close(job)
    let failure = Failure(.engineInterrupted, "stopped while its answer was awaited; it may have taken effect")
    guard case .chunk(let chunk, let attempt) = job.target else { return [] }
    if mayHaveArrived && !abilities.repeatable {
      ending = .unknown(failure)
      return [.chunkUnknown(chunk, attempt)]
    }
    return [.returnChunk(chunk, attempt)]
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
    bytesStored += part.length
    let row = StoredPart(etag: part.etag, digest: part.digest, md5: part.md5, confirmation: part.confirmation)
    let change = FileChange.storeChunk(chunk, attempt, row)
    facts.isAllStored = doneCount == facts.layout.count
    if facts.isAllStored { facts.lostAnswer = nil }
    guard let proof else { return [change] }
    isReleased = true
    return [change, .complete(receipt(proof))]
  }

  private mutating func settled(_ job: JobStep) -> [FileChange] {
    switch job.step {
    case .abort(let remoteID): facts.orphans.removeAll { $0 == remoteID }
    case .makeParent: facts.parentsMade = (facts.parentsMade ?? 0) + 1
    case .create, .probe, .chunk, .finish, .verify: break
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
  private mutating func listed(_ parts: [ListedPart], next: String?) -> [FileChange] {
    let first = listedThrough
    let last = next == nil ? facts.layout.count - 1 : (parts.map(\.seq).max() ?? first - 1)
    listedThrough = last + 1
    let lengths = Dictionary(parts.map { ($0.seq, $0.length) }, uniquingKeysWith: { _, new in new })
    let lost = first > last ? [] : (first...last).filter { lengths[$0] != facts.layout.range($0).length }
    probed(next: next)
    if next == nil { listedThrough = 0 }
    guard !lost.isEmpty else { return [] }
    defer { isFinishing = false }
    awaitsDisowning = true
    return (isFinishing ? [.resumeSending] : []) + [.disownChunks(lost)]
  }

  /// The ledger says how many of the disowned chunks it had taken for done.
  private mutating func disowned(_ count: Int) {
    guard count > 0 else { return }
    doneCount -= count
    bytesStored = min(bytesStored, Int64(doneCount) * facts.layout.chunkSize)
    facts.isAllStored = false
    facts.parts = []
  }
}

/// A begun request, as the machine needs to know it.
struct JobStep: Sendable, Hashable {
  enum Target: Sendable, Hashable {
    case chunk(ChunkID, AttemptID)
    case control(AttemptID)
  }
  var target: Target
  var step: StepRequest
  /// Attempts of this chunk (or file) before this one that moved nothing.
  var failures: Int
}

/// When a failed step may be tried again, drawn by the engine (the machine has neither clock nor dice).
struct RetryDecision: Sendable, Hashable {
  var notBeforeMs: Int64
  /// There were too many attempts without progress.
  var isExhausted: Bool
  /// Where the source is now, when the failure says that it changed.
  var identityNow: SourceIdentity?
  /// The source changed too often in this run.
  var isRestless = false
}

extension StepRequest {
  /// The protocol compares or sends the receipts of stored chunks.
  fileprivate var usesParts: Bool {
    switch self {
    case .probe, .finish, .verify: true
    case .create, .chunk, .abort, .makeParent: false
    }
  }
}

extension JobStep {
  var attempt: AttemptID {
    switch target {
    case .chunk(_, let attempt), .control(let attempt): attempt
    }
  }
}
