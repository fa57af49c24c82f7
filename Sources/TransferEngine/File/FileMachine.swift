import TransferLedger
import TransferModel
import TransferProtocols

/// One claimed file: a value that turns events (an attempt ended, a step was begun) into changes of rows and the next
/// step. It does no I/O and reads no clock.
///
/// Its state consists of two values: its ``FilePhase`` (working, held by a commit, ending, released) and its
/// ``FileRequests`` (parallel chunks or one control step, and the chunks in backoff).
struct FileMachine: Sendable {
  let claimed: ClaimedFile
  let location: String
  /// The abilities of the protocol for this file, as far as known.
  private(set) var abilities: ProtocolAbilities
  var facts: TransferFacts
  private(set) var sessionID: SessionID?

  /// Chunks that are done.
  var doneCount: Int { facts.storedChunks }
  /// Acknowledged by the server.
  var bytesStored: Int64 { facts.acked }
  private(set) var phase = FilePhase.working
  var requests: FileRequests
  /// Its row is `finishing`.
  private(set) var isFinishing = false
  /// What becomes of its session when it is released.
  var sessionFate = SessionFate.kept
  /// Consecutive attempts without progress, as far as is known here.
  var failures: Int
  /// Consecutive repairs without a stored chunk.
  var repairsInARow = 0
  /// How long a table of published checksums may be that is requested now; see ``TableRoom``.
  var tableRoom: Int64 = .max
  /// It was found by the scan of a job, which the next run repeats: what is deleted before its turn is nothing to send.
  var isOfScan = false
  /// The length of the table that was requested, until its search has ended; 0 for none.
  var tableLength: Int64 = 0

  /// It waits for the result of a commit, or of local work, before it continues.
  var isHeld: Bool { if case .held = phase { true } else { false } }
  var isReleased: Bool { phase == .released }
  /// It waits for neither a control step nor a commit, and is not ending.
  var mayBeginChunks: Bool { phase == .working && !requests.isControl }
  /// Why it is to be released; nil while it works, and after it was released.
  var ending: FileEnding? { phase.ending }

  init(claimed: ClaimedFile, layout: ChunkLayout, location: String, abilities: ProtocolAbilities) {
    self.claimed = claimed
    self.location = location
    self.abilities = abilities
    facts = TransferFacts(of: claimed, layout)
    sessionID = claimed.session?.id
    requests = FileRequests(ChunkBackoffs(claimed.waitingUntil))
    failures = claimed.failures
  }

  /// Requests with an open attempt, and those requested from the ledger.
  var openCount: Int { requests.count }
  var backoffs: ChunkBackoffs { requests.backoffs }
  /// One body is the whole file, and no session tells what the server has of it.
  var hasOneUnaskedBody: Bool { isWhole && facts.session?.remoteID == nil }
  var isWhole: Bool { facts.layout.count == 1 }
  /// No request of an earlier run can have left anything of the file on the server.
  var isUntouched: Bool {
    claimed.session == nil && claimed.lostAnswer == nil && !claimed.isDoubtful && bytesStored == 0
  }
  /// No request can have left anything of the file on the server, in this run either.
  var isNothingSent: Bool {
    bytesStored == 0 && facts.lostAnswer == nil && facts.session?.remoteID == nil && !claimed.isDoubtful
      && openCount <= 1
  }
  /// No chunk is stored, except perhaps the shorter last one.
  var isHardlyStored: Bool { bytesStored < facts.layout.chunkSize }
  /// Chunks that could be sent if no backoff applied.
  var unsentCount: Int { facts.layout.count - doneCount - requests.chunkCount }
  /// Whether the file may be complete when this request, which has begun, ends.
  func mayComplete(_ step: StepRequest) -> Bool {
    switch step {
    case .finish, .save: true
    case .chunk: unsentCount <= 0
    case .probeChunk: facts.layout.count - doneCount <= 1
    case .probe, .verify: facts.isAllStored || facts.lostAnswer != nil
    case .create, .prepareChunk, .discover, .abort, .makeParent: false
    }
  }
  /// It has or will have a session on the server.
  var needsSession: Bool { facts.layout.count > 1 }

  // MARK: - Beginning

  /// The unit that begins the next step, or ends the file; nil when there is nothing to do now. `chunkLimit` limits how
  /// many chunks begin; 0 begins none.
  mutating func advance(
    _ proto: ProtocolInUse, chunkLimit: Int, nowMs: Int64
  ) -> FileUnit? {
    var unit = FileUnit(file: claimed.id, session: sessionID)
    facts.wallMs = nowMs
    abilities = proto.abilities(facts)
    unit.isRepeatable = abilities.repeatable
    unit.opening = abilities.chunkOpening
    // An empty file always has the same layout.
    let isEmpty = facts.file.size == 0 && claimed.direction == .upload
    if !facts.isPlanned && (!proto.plansLate || isEmpty) { plan(facts.layout, into: &unit) }
    continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs)
    return unit.isEmpty ? nil : unit
  }

  private mutating func continueInto(
    _ unit: inout FileUnit, _ proto: ProtocolInUse, chunkLimit: Int, nowMs: Int64
  ) {
    switch phase {
    case .held, .released: return
    case .ending(let ending):
      guard openCount == 0 else { return }
      let isPlaceable = if isFetched, case .place = proto.nextStep(facts) { true } else { false }
      release(ending, isPlaceable: isPlaceable, into: &unit)
    case .working:
      guard !requests.isControl else { return }
      goOn(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs)
    }
  }

  private mutating func goOn(_ unit: inout FileUnit, _ proto: ProtocolInUse, chunkLimit: Int, nowMs: Int64) {
    if abilities.needsParts && facts.isAllStored && facts.parts.isEmpty {
      unit.wantsParts = true
      phase = phase.held(.parts)
      return
    }
    switch proto.nextStep(facts) {
    case .chunks:
      guard planLate(proto, into: &unit) else { return continueInto(&unit, proto, chunkLimit: 0, nowMs: nowMs) }
      beginChunks(into: &unit, limit: chunkLimit, nowMs: nowMs)
    case .chunkThatOpensSession:
      guard planLate(proto, into: &unit) else { return continueInto(&unit, proto, chunkLimit: 0, nowMs: nowMs) }
      guard openCount == 0, chunkLimit > 0 else { return }
      beginChunks(into: &unit, limit: 1, nowMs: nowMs)
      if unit.begin != nil { unit.begin = .chunkThatOpensSession }
    case .control(let step):
      guard openCount == 0, takesTable(proto.longestTable(in: step, facts)) else { return }
      begin(step, into: &unit)
    case .openSession(let remoteID, let notes):
      unit.changes.append(.beginOwnSession(remoteID: remoteID, notes: notes))
      facts.session = SessionFacts(remoteID: remoteID, intendedAtMs: nowMs, notes: notes)
      continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs)
    case .dropSession(let failure):
      dropSession(failure, nowMs: nowMs)
      if openCount == 0 { continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs) }
    case .complete(let proof):
      unit.changes.append(.complete(receipt(proof)))
      phase = .released
    case .reuse(let proof):
      guard openCount == 0 else { return }
      unit.begin = .reusing(proof)
      phase = phase.held(.reusing)
    case .place(let proof):
      guard openCount == 0 else { return }
      startFinishing(into: &unit)
      unit.begin = .placing(proof, named: givenPath(proto))
      phase = phase.held(.placing)
    case .fail(let failure):
      unit.changes += endWithoutStep(failure, proto)
      if openCount == 0 { continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs) }
    }
  }

  private mutating func plan(_ layout: ChunkLayout, into unit: inout FileUnit) {
    facts.layout = layout
    facts.isPlanned = true
    facts.storedChunks = 0
    unit.plan = layout
    guard claimed.direction == .download else { return }
    facts.file.size = layout.size
    unit.size = layout.size
  }

  /// Determines the layout for a protocol that had to open a session first. False if that is impossible; the file then
  /// ends.
  private mutating func planLate(_ proto: ProtocolInUse, into unit: inout FileUnit) -> Bool {
    guard !facts.isPlanned else { return true }
    do throws(TransferError) {
      plan(try proto.layout(facts), into: &unit)
      return true
    } catch {
      end(.fail(Failure(.policyLimit, error.cause), keepsSession: false))
      return false
    }
  }

  private mutating func beginChunks(into unit: inout FileUnit, limit: Int, nowMs: Int64) {
    let most = abilities.parallelChunks ? abilities.mostParallel ?? .max : 1
    let count = requests.beginChunks(unsent: unsentCount, most: most, limit: limit, nowMs: nowMs)
    guard count > 0 else { return }
    // Then the proof in the answer to the last chunk can be compared.
    unit.wantsParts = abilities.needsParts && doneCount > 0 && doneCount == facts.layout.count - 1
    unit.begin = .chunks(limit: count)
  }

  /// False for a table that must wait for others.
  private mutating func takesTable(_ length: Int64?) -> Bool {
    guard let length else { return true }
    guard length <= tableRoom else { return false }
    tableLength = length
    return true
  }

  private mutating func begin(_ step: StepRequest, into unit: inout FileUnit) {
    if step == .finish { startFinishing(into: &unit) }
    unit.wantsParts = doneCount > 0 && step.usesParts
    unit.isRepeatable = !abilities.unrepeatable.contains(step.operation)
    requests.beginControl()
    unit.begin = .control(step)
  }

  private mutating func startFinishing(into unit: inout FileUnit) {
    guard !isFinishing else { return }
    isFinishing = true
    unit.changes.append(.startFinishing)
  }

  /// Its row is `active` again.
  mutating func resumeSending() { isFinishing = false }

  /// The transaction of a unit is durable: its requests may be sent.
  mutating func begun(_ begun: Begun, asked: Int, nowMs: Int64) {
    if !requests.began(begun.chunks.count, ofAsked: asked, nowMs: nowMs) {
      end(
        .fail(Failure(.engineBug, "the ledger has no chunk to send although the file is not done"), keepsSession: true))
    }
    if let session = begun.session {
      sessionID = session.id
      facts.session = session.facts
    }
    if let parts = begun.parts { facts.parts = parts }
    if let doubts = begun.doubts { facts.doubts = doubts }
    if case .held(.disowning, _) = phase { facts.disowned(begun.disownedChunks) }
    // Local work takes longer than a commit.
    if phase.isAtLocalWork { return }
    phase = phase.unheld
  }

  // MARK: - Ending

  /// The work on the local file of a download has ended.
  mutating func endLocalWork() { phase = phase.unheld }

  /// No new request begins from now on. The first reason is kept, with one exception: a file that was only to be
  /// released, but then failed, became unknown or changed while its last requests ended, ends for that reason.
  mutating func end(_ reason: FileEnding) {
    switch ending {
    case nil, .release: phase = phase.ending(explained(reason))
    case .fail, .unknown, .supersede, .duplicate, .gone: break
    }
  }

  /// The result of a request is unknown; this overrides every other reason to end.
  mutating func endInDoubt(_ failure: Failure) { phase = phase.ending(.unknown(failure)) }

  /// An attempt ended.
  mutating func close(_ job: JobStep) {
    if case .control = job.target { tableLength = 0 }
    requests.end(job.target)
  }

  /// The commit returns how many of the missing chunks the ledger had recorded as done; nothing can be decided before.
  mutating func holdForDisowning() { phase = phase.held(.disowning) }

  /// The file is complete: nothing is left to do.
  mutating func release() { phase = .released }

  /// - Parameter isPlaceable: whether its next step needs no server.
  private mutating func release(_ ending: FileEnding, isPlaceable: Bool, into unit: inout FileUnit) {
    phase = .released
    var fate = sessionFate
    if case .recut = fate, !isHardlyStored { fate = .kept }
    let release = FileRelease(
      ending: ending, sessionFate: fate, isFinishing: isFinishing, preparesChunks: abilities.chunkOpening.prepares,
      isPlaceable: isPlaceable)
    unit.changes += release.changes
  }

  func receipt(_ proof: FileProof) -> FileReceipt {
    FileReceipt(proof, location: location)
  }
}
