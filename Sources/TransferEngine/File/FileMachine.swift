import TransferLedger
import TransferModel
import TransferProtocols

/// One claimed file: a value that turns events (an attempt ended, a step was begun) into changes of rows and the next
/// step. It does no I/O and reads no clock.
///
/// Its state consists of two values: its ``FilePhase`` (working, held by a commit, ending, released) and its
/// ``OpenRequests`` (parallel chunks, or one control step).
struct FileMachine: Sendable {
  let claimed: ClaimedFile
  let location: String
  /// The abilities of the protocol for this file, as far as known.
  private(set) var abilities: ProtocolAbilities
  var facts: TransferFacts
  var sessionID: SessionID?

  /// Chunks that are done.
  var doneCount: Int { facts.storedChunks }
  /// Acknowledged by the server.
  var bytesStored: Int64 { facts.acked }
  private(set) var phase = FilePhase.working
  private(set) var requests = OpenRequests.none
  var backoffs: ChunkBackoffs
  /// Its row is `finishing`.
  var isFinishing = false
  var lostSession: LostSession?
  /// Another file that has delivered the same content.
  var original: DeliveredFile?
  /// The new layout if the file is to be released and divided again, unless a whole chunk is stored by then.
  var shorterLayout: ChunkLayout?
  /// Consecutive attempts without progress, as far as is known here.
  var failures: Int
  /// Consecutive repairs without a stored chunk.
  var repairsInARow = 0
  /// Consecutive requests for chunks for which the ledger had none.
  var emptyBegins = 0
  private static let emptyBeginLimit = 100

  /// It waits for the result of a commit, or of local work, before it continues.
  var isHeld: Bool { if case .held = phase { true } else { false } }
  var isReleased: Bool { phase == .released }
  /// It waits for neither a control step nor a commit, and is not ending.
  var mayBeginChunks: Bool { phase == .working && requests != .control }
  /// A completely fetched download.
  var isFetched: Bool { claimed.direction == .download && facts.isPlanned && facts.isAllStored }
  /// It waits until its partial file has been moved to its final name.
  var isPlacing: Bool { if case .held(.placing, _) = phase { true } else { false } }
  /// Why it is to be released; nil while it works, and after it was released.
  var ending: FileEnding? { phase.ending }

  init(claimed: ClaimedFile, layout: ChunkLayout, location: String, abilities: ProtocolAbilities) {
    self.claimed = claimed
    self.location = location
    self.abilities = abilities
    var file = FileFacts(
      uid: claimed.uid, key: claimed.key, size: layout.size, mtimeMs: claimed.identity.mtimeNs / 1_000_000)
    file.expected = claimed.expected
    file.properties = claimed.properties
    facts = TransferFacts(file: file, layout: layout)
    facts.session = claimed.session?.facts
    facts.claimed(lostAnswer: claimed.lostAnswer)
    sessionID = claimed.session?.id
    facts.storedChunks = claimed.doneChunks
    facts.acked = claimed.doneBytes
    facts.hasLosses = claimed.hasLosses
    backoffs = ChunkBackoffs(claimed.waitingUntil)
    facts.isPlanned = claimed.layout != nil
    facts.past = claimed.past
    failures = claimed.failures
  }

  /// Requests with an open attempt, and those requested from the ledger.
  var openCount: Int { requests.count }
  var isWhole: Bool { facts.layout.count == 1 }
  /// No request of an earlier run can have left anything of the file on the server.
  var isUntouched: Bool {
    claimed.session == nil && claimed.lostAnswer == nil && !claimed.isDoubtful && bytesStored == 0
  }
  /// No chunk is stored, except perhaps the shorter last one.
  var isHardlyStored: Bool { bytesStored < facts.layout.chunkSize }
  /// Chunks that could be sent if no backoff applied.
  var unsentCount: Int { facts.layout.count - doneCount - chunkCount }
  /// Chunks that are open or requested from the ledger.
  private var chunkCount: Int { requests == .control ? 0 : requests.count }
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
      guard requests != .control else { return }
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
      guard openCount == 0 else { return }
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
      if let renewal = proto.places?.renewal(after: failure, facts), openCount == 0 {
        unit.changes += renewed(renewal, failure)
      } else {
        end(.fail(failure, keepsSession: false))
      }
      if openCount == 0 { continueInto(&unit, proto, chunkLimit: chunkLimit, nowMs: nowMs) }
    }
  }

  /// The path from the name that the server supplied; nil if the path does not change.
  private func givenPath(_ proto: ProtocolInUse) -> NameBytes? {
    guard let name = proto.bodiesInAnswers?.givenName(facts) else { return nil }
    let folder = claimed.path.bytes.prefix(through: claimed.path.bytes.lastIndex(of: 0x2F) ?? 0)
    let path = NameBytes(Array(folder) + name.bytes)
    return path == claimed.path ? nil : path
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

  /// This counts as a failure, so that a server whose sessions expire at once does not keep us busy forever.
  private mutating func dropSession(_ failure: Failure, nowMs: Int64) {
    lostSession = .gone
    guard failures < Self.dropLimit else { return end(.fail(failure, keepsSession: false)) }
    let delay: Int64 = failures == 0 ? 0 : 1_000 << Int64(min(failures, 6))
    end(.requeue(notBeforeMs: nowMs + delay, failure.code, isFailure: true))
  }

  private static let dropLimit = 10

  private mutating func beginChunks(into unit: inout FileUnit, limit: Int, nowMs: Int64) {
    let due = backoffs.dueCount(nowMs: nowMs)
    let untried = backoffs.isFailingWidely ? 0 : unsentCount - backoffs.count
    let ready = untried + due
    let most = abilities.parallelChunks ? abilities.mostParallel ?? .max : 1
    let count = min(limit, ready, most - chunkCount)
    guard count > 0 else { return }
    backoffs.begin(count, nowMs: nowMs)
    requests.ask(count)
    // Then the proof in the answer to the last chunk can be compared.
    unit.wantsParts = abilities.needsParts && doneCount > 0 && doneCount == facts.layout.count - 1
    unit.begin = .chunks(limit: count)
  }

  private mutating func begin(_ step: StepRequest, into unit: inout FileUnit) {
    if step == .finish { startFinishing(into: &unit) }
    unit.wantsParts = doneCount > 0 && step.usesParts
    unit.isRepeatable = !abilities.unrepeatable.contains(step.operation)
    requests = .control
    unit.begin = .control(step)
  }

  private mutating func startFinishing(into unit: inout FileUnit) {
    guard !isFinishing else { return }
    isFinishing = true
    unit.changes.append(.startFinishing)
  }

  /// The transaction of a unit is durable: its requests may be sent.
  mutating func begun(_ begun: Begun, asked: Int, nowMs: Int64) {
    requests.began(begun.chunks.count, ofAsked: asked)
    emptyBegins = asked > 0 && begun.chunks.isEmpty ? emptyBegins + 1 : 0
    if emptyBegins > Self.emptyBeginLimit {
      end(
        .fail(Failure(.engineBug, "the ledger has no chunk to send although the file is not done"), keepsSession: true))
    }
    // Fewer than requested: the ledger's clock was behind ours when a backoff ended.
    backoffs.add(asked - begun.chunks.count, untilMs: nowMs + 20)
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
    case nil, .requeue: phase = phase.ending(reason)
    case .fail, .unknown, .supersede, .duplicate: break
    }
  }

  /// The result of a request is unknown; this overrides every other reason to end.
  mutating func endInDoubt(_ failure: Failure) { phase = phase.ending(.unknown(failure)) }

  /// An attempt ended.
  mutating func close(_ job: JobStep) {
    switch job.target {
    case .chunk: requests.endChunk()
    case .control: requests = .none
    }
  }

  /// The commit returns how many of the missing chunks the ledger had recorded as done; nothing can be decided before.
  mutating func holdForDisowning() { phase = phase.held(.disowning) }

  /// The file is complete: nothing is left to do.
  mutating func release() { phase = .released }

  /// Running requests of an ending file are useless, unless it was only released (a pause, a drain, a deadline).
  var othersAreInVain: Bool {
    if lostSession != nil || shorterLayout != nil { return true }
    guard case .requeue(_, _, isFailure: false)? = ending else { return ending != nil }
    return false
  }

  /// - Parameter isPlaceable: whether its next step needs no server.
  private mutating func release(_ ending: FileEnding, isPlaceable: Bool, into unit: inout FileUnit) {
    phase = .released
    if let lostSession {
      // The ledger accepts no changes of a finishing file. If chunks have uploads of their own, those that still exist
      // are aborted.
      let isLeft = abilities.chunkOpening.prepares || lostSession == .useless
      let end = isLeft ? FileChange.giveUpSession : .endSession(.gone)
      unit.changes += (isFinishing ? [.resumeSending] : []) + [end]
      // The chunks of a duplicate are not changed, so that the ledger can check that none of them may have arrived.
      if !ending.isDuplicate { unit.changes.append(.resetChunks) }
    }
    switch ending {
    case .fail(let failure, let keepsSession):
      unit.changes.append(.fail(failure.code, failure.message, keepsSession: keepsSession))
    case .unknown(let failure):
      unit.changes.append(.unknown(failure.code, failure.message))
    case .supersede(let identity, let notBeforeMs):
      unit.changes.append(.supersede(identity, notBeforeMs: notBeforeMs))
    case .duplicate(let other): unit.changes.append(.endDuplicate(other))
    case .requeue(let dueMs, let code, let isFailure):
      // A file that waits without its own cause waits for its server. Placing does not need the server.
      let notBeforeMs = isPlaceable && code == nil && lostSession == nil ? nil : dueMs
      if let shorterLayout, lostSession == nil, isHardlyStored {
        unit.changes += [.giveUpSession, .resetChunks, .recut(shorterLayout)]
      }
      unit.changes.append(.requeue(notBeforeMs: notBeforeMs, code, isFailure: isFailure))
    }
  }

  func receipt(_ proof: FileProof) -> FileReceipt {
    FileReceipt(proof, location: location)
  }
}
