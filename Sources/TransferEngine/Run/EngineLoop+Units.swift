import TransferLedger
import TransferModel
import TransferProtocols

/// What is written of a file in one turn, and what follows when it leaves the engine.
extension EngineLoop {
  /// Asks the machine of `file` what is next and adds it to this turn's transaction.
  func advance(_ file: FileID, ended: EndedAttempt? = nil, changes: [FileChange] = []) {
    guard let work = works[file], work.refusal == nil else { return }
    if ended == nil && changes.isEmpty && waitsForDiscovery(work) { return }
    let chunks = chunkRoom(work)
    work.machine.facts.learned = work.destination.learned
    var unit =
      work.machine.advance(work.destination.resolved.transferProtocol, chunkLimit: chunks, nowMs: wallMs)
      ?? FileUnit(file: file, session: work.machine.sessionID)
    unit.ended = ended
    unit.changes = changes + unit.changes
    unit.staged = work.machine.claimed.staged
    if work.target != nil && unit.plan != nil { tally.needsCount() }
    noteWaiting(work)
    if work.machine.isReleased { released(work, unit) } else if chunks > 0 || !isStopping { noteHunger(work) }
    guard !unit.isEmpty else { return }
    if unit.begin == .control(.discover) { work.destination.discoverer = file }
    enqueue(unit, work)
  }

  /// For the next commit.
  func enqueue(_ unit: FileUnit, _ work: FileWork) {
    if let begin = unit.begin {
      work.destination.requests += begin.requestCount
    }
    commits.append(unit)
  }

  /// One file asks what a destination can do; the others wait for the answer instead of asking too.
  private func waitsForDiscovery(_ work: FileWork) -> Bool {
    let file = work.machine.claimed.id
    guard let discoverer = work.destination.discoverer, discoverer != file, work.machine.ending == nil else {
      return false
    }
    work.destination.undecided.append(file)
    return true
  }

  /// The files that may go on because the request that asked has ended, whatever came of it. To be advanced after its
  /// own.
  func takeUndecided(_ job: Job) -> [FileID] {
    guard job.step.step == .discover else { return [] }
    defer {
      job.destination.discoverer = nil
      job.destination.undecided = []
    }
    return job.destination.undecided
  }

  func noteWaiting(_ work: FileWork) {
    let id = work.machine.claimed.id
    if work.machine.waitingUntil.isEmpty || work.machine.isReleased { waiting.remove(id) } else { waiting.insert(id) }
  }

  /// How many more chunks of this file may begin now.
  private func chunkRoom(_ work: FileWork) -> Int {
    if isStopping { return 0 }
    let ofFile = work.concurrency.limit - work.machine.openCount
    let repeatable = work.machine.abilities.repeatable
    // What must not be repeated is begun only when a connection is free: a crash then leaves no doubt about requests
    // that were never sent.
    let host = work.destination.host
    let overall = repeatable ? room.room(host) : hosts.connections(host) - host.requests
    let ofBatch = work.destination.share.map {
      (repeatable ? $0 * Batches.aheadOfShare : $0) - work.destination.requests
    }
    return max(repeatable && work.machine.openCount == 0 ? 1 : 0, min(ofFile, overall, ofBatch ?? .max))
  }

  private func noteHunger(_ work: FileWork) {
    let machine = work.machine
    guard machine.ending == nil, machine.unsentCount > machine.waitingUntil.count else { return }
    if !machine.abilities.repeatable || machine.facts.session != nil || machine.openCount > 0 {
      turns.append(machine.claimed.id)
    }
  }

  /// A file left the engine: counts it and tells people.
  private func released(_ work: FileWork, _ unit: FileUnit) {
    let machine = work.machine
    works[machine.claimed.id] = nil
    batches.fileLeft(work.destination)
    sessionSlots.release(machine.claimed.id)
    if work.wish != nil { tally.needsCount() }
    let isThrownAway = unit.changes.contains(where: \.throwsAway)
    if isThrownAway {
      // It is to come again, in this generation or the next.
      tally.stored(bytes: -machine.bytesStored)
      tally.needsCount()
    }
    let held = isThrownAway ? 0 : machine.bytesStored
    for change in unit.changes {
      tally.count(change, of: machine, wish: work.wish, held: held)
      if case .requeue(let notBeforeMs, _, _) = change { claims.wake(atMs: notBeforeMs ?? wallMs) }
    }
  }
}

extension Begin {
  var requestCount: Int {
    switch self {
    case .chunks(let limit): limit
    case .chunkThatOpensSession, .control, .question: 1
    case .placing: 0
    }
  }
}
