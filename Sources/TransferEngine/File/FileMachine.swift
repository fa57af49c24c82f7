import TransferLedger
import TransferModel
import TransferProtocols

/// One claimed file: a value that turns events (an attempt ended, a step was begun) into changes of rows and the next
/// step. It does no I/O and reads no clock.
///
/// Its state consists of values: its ``FilePhase`` (working, held by a commit, ending, released), its ``FileRequests``
/// (parallel chunks or one control step, and the chunks in backoff), what it knows of the server (`TransferFacts`), its
/// ``FileFailures``, and the ``SessionFate``. What an event means for them is decided by ``FileAdvance`` (the next
/// step), ``AnsweredAttempt``, ``FailedAttempt``, ``InterruptedAttempt`` and ``LocalWorkEnd``.
struct FileMachine: Sendable {
  let claimed: ClaimedFile
  let location: String
  /// It was found by the scan of a job, which the next run repeats: what is deleted before its turn is nothing to send.
  let isOfScan: Bool
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
  /// What becomes of its session when it is released.
  var sessionFate = SessionFate.kept
  var failureCounts: FileFailures

  /// It waits for the result of a commit, or of local work, before it continues.
  var isHeld: Bool { if case .held = phase { true } else { false } }
  var isReleased: Bool { phase == .released }
  /// It waits for neither a control step nor a commit, and is not ending.
  var mayBeginChunks: Bool { phase.isAtWork && !requests.isControl }
  /// Its row is `finishing`.
  var isFinishing: Bool { phase.isFinishing }
  /// Consecutive attempts without progress, as far as is known here.
  var failures: Int { failureCounts.count }
  /// Why it is to be released; nil while it works, and after it was released.
  var ending: FileEnding? { phase.ending }

  init(
    claimed: ClaimedFile, layout: ChunkLayout, location: String, abilities: ProtocolAbilities, isOfScan: Bool = false
  ) {
    (self.claimed, self.location, self.abilities, self.isOfScan) = (claimed, location, abilities, isOfScan)
    facts = TransferFacts(of: claimed, layout)
    sessionID = claimed.session?.id
    requests = FileRequests(ChunkBackoffs(claimed.waitingUntil))
    failureCounts = FileFailures(claimed.failures)
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
  /// A completely fetched download.
  var isFetched: Bool { claimed.direction == .download && facts.isPlanned && facts.isAllStored }
  /// It waits until its partial file has been moved to its final name.
  var isPlacing: Bool { if case .held(.placing, _) = phase { true } else { false } }

  /// Whether its next step is `place`.
  func isToBePlaced(_ proto: ProtocolInUse) -> Bool {
    guard phase.isAtWork, openCount == 0, case .place = proto.nextStep(facts) else { return false }
    return true
  }

  /// Whether it is completely fetched, and is being placed, is to be placed, or waits for the ledger before that.
  func needsNoServer(_ proto: ProtocolInUse) -> Bool { isPlacing || isFetched && (isHeld || isToBePlaced(proto)) }

  // MARK: - Events

  /// The unit that begins the next step, or ends the file; nil when there is nothing to do now. `chunkLimit` limits how
  /// many chunks begin; 0 begins none. `tableRoom` limits the table of published checksums that is requested now; see
  /// ``TableRoom``.
  mutating func advance(
    _ proto: ProtocolInUse, chunkLimit: Int, tableRoom: Int64 = .max, nowMs: Int64
  ) -> FileUnit? {
    FileAdvance.unit(of: &self, proto, chunkLimit: chunkLimit, tableRoom: tableRoom, nowMs: nowMs)
  }

  /// An attempt ended and the protocol interpreted its answer. Returns the changes that belong to the end of the
  /// attempt; ``advance(_:chunkLimit:tableRoom:nowMs:)`` determines the next step.
  mutating func concluded(_ request: BegunRequest, _ meaning: Interpretation, _ retry: RetryDecision) -> [FileChange] {
    AnsweredAttempt(request: request, retry: retry).conclude(meaning, &self)
  }

  /// The file was renamed, or could not be; see ``LocalWorkEnd``.
  mutating func placed(
    _ result: Result<SourceIdentity?, Failure>, _ proof: FileProof, retryMs: Int64, renewal: [String: String]? = nil
  ) -> [FileChange] {
    LocalWorkEnd(proof: proof, retryMs: retryMs).placed(result, renewal: renewal, &self)
  }

  /// Intact data was copied from the local file, or could not be.
  mutating func reused(_ result: Result<Reused, Failure>, _ proof: FileProof, retryMs: Int64) -> [FileChange] {
    LocalWorkEnd(proof: proof, retryMs: retryMs).reused(result, &self)
  }

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

  /// An interim answer named the session while its request is still running. From now on the request counts as one with
  /// an open session, regardless of how it began: after a crash the session can be queried.
  mutating func heard(_ request: BegunRequest, _ session: OpenedSession, _ proto: ProtocolInUse) -> [FileChange] {
    guard !facts.name(session).isEmpty else { return [] }
    let opened = FileChange.openSession(remoteID: session.remoteID, expiresAtMs: session.expiresAtMs)
    let operation = request.step.operation
    guard abilities.unrepeatable.contains(operation), !proto.abilities(facts).unrepeatable.contains(operation) else {
      return [opened]
    }
    return [opened, .askAbout(request.attempt)]
  }

  /// We stopped the request ourselves, or never sent it; see ``InterruptedAttempt``.
  mutating func interrupted(_ request: BegunRequest, mayHaveArrived: Bool) -> [FileChange] {
    InterruptedAttempt(request: request, mayHaveArrived: mayHaveArrived).end(&self)
  }

  // MARK: - Transitions

  /// Notes the time, and what the protocol can do for the file now.
  mutating func look(_ proto: ProtocolInUse, nowMs: Int64) {
    facts.wallMs = nowMs
    abilities = proto.abilities(facts)
  }

  /// Begins the last step; the changes that its row needs.
  mutating func startFinishing() -> [FileChange] {
    guard phase == .working else { return [] }
    phase = .finishing
    return [.startFinishing]
  }

  /// Its row is `active` again.
  mutating func resumeSending() { phase = phase.resumed }

  /// Running requests of an ending file are useless, unless it was only released (a pause, a drain, a deadline).
  var othersAreInVain: Bool {
    if sessionFate != .kept { return true }
    guard case .release(_, _, isFailure: false)? = ending else { return ending != nil }
    return false
  }

  /// Another file has delivered the same content. Nothing of this one was sent, so a session that was intended for it
  /// does not exist.
  mutating func isDuplicate(of original: DeliveredFile) {
    if sessionID != nil { sessionFate.lose(.gone) }
    end(.duplicate(original))
  }

  /// The received data is wrong: everything is requested again from another place.
  mutating func renewed(_ notes: [String: String], _ failure: Failure) -> [FileChange] {
    end(.release(notBeforeMs: nil, failure.code, isFailure: false))
    return (isFinishing ? [.resumeSending] : []) + [.renewSession(notes, failure)]
  }

  /// The work on the local file of a download has ended.
  mutating func endLocalWork() { phase = phase.unheld }

  /// No new request begins from now on. The first reason is kept, with one exception: a file that was only to be
  /// released, but then failed, became unknown or changed while its last requests ended, ends for that reason.
  mutating func end(_ reason: FileEnding) {
    switch ending {
    case nil, .release: phase = phase.ending(reason.explained(by: facts))
    case .fail, .unknown, .supersede, .duplicate, .gone: break
    }
  }

  /// The result of a request is unknown; this overrides every other reason to end.
  mutating func endInDoubt(_ failure: Failure) { phase = phase.ending(.unknown(failure)) }

  /// An attempt ended.
  mutating func close(_ request: BegunRequest) { requests.end(request.target) }

  /// An attempt ended, and this is what its answer means.
  mutating func close(_ request: BegunRequest, learning meaning: Interpretation) -> FactsUpdate {
    let table = requests.tableLength
    close(request)
    let update = facts.apply(meaning, to: request.step, abilities)
    if facts.blocks != nil { requests.keepTable(table) }
    failureCounts.note(update, facts)
    return update
  }

  /// Nothing can be decided before the result of a commit, or of local work.
  mutating func hold(_ hold: FilePhase.Hold) { phase = phase.held(hold) }

  /// The file is complete: nothing is left to do.
  mutating func release() { phase = .released }

  /// The last changes of the file, which is ending and has no open request.
  /// - Parameter isPlaceable: whether its next step needs no server.
  mutating func endRelease(isPlaceable: Bool) -> [FileChange] {
    guard let ending else { return [] }
    var fate = sessionFate
    if case .recut = fate, !isHardlyStored { fate = .kept }
    let release = FileRelease(
      ending: ending, sessionFate: fate, isFinishing: isFinishing, preparesChunks: abilities.chunkOpening.prepares,
      isPlaceable: isPlaceable)
    phase = .released
    return release.changes
  }

  func receipt(_ proof: FileProof) -> FileReceipt { FileReceipt(proof, location: location) }
}
