import TransferLedger
import TransferModel
import TransferProtocols

/// The active files: the changes of each in one iteration of the loop, and the consequences of its release. Owner of
/// the ``FilesInBackoff``, ``FileTurns``, ``SessionSlots`` and ``TableRoom``. Used by the engine's thread.
final class FilesInWork {
  private let engine: Engine
  private let stop: RunStop
  private let tally: RunTally
  private let claims: Claims
  private let hosts: Hosts
  private let batches: Batches
  private let room: HostRoom
  private let commits: Commits
  private(set) var all: [FileID: FileWork] = [:]
  /// The number of active listings.
  private(set) var listings = 0
  private var inBackoff = FilesInBackoff()
  /// Files with chunks to send.
  private var turns = FileTurns()
  private var sessionSlots = SessionSlots()
  private var tableRoom = TableRoom()

  init(
    _ engine: Engine, stop: RunStop, tally: RunTally, claims: Claims, hosts: Hosts, batches: Batches, room: HostRoom,
    commits: Commits
  ) {
    (self.engine, self.stop, self.tally, self.claims) = (engine, stop, tally, claims)
    (self.hosts, self.batches, self.room, self.commits) = (hosts, batches, room, commits)
  }

  subscript(file: FileID) -> FileWork? { all[file] }
  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }

  /// Active files with chunks in backoff.
  var waiting: some Collection<FileID> { inBackoff.ids }
  /// The number of these chunks.
  var waitingCount: Int { inBackoff.chunkCount }

  /// Time until the next backoff ends, in milliseconds; nil for none.
  func waitMs(nowMs: Int64) -> Int64? { inBackoff.waitMs(nowMs: nowMs) }

  /// Whether any file is being placed.
  var isPlacing: Bool { all.contains { $0.value.machine.isPlacing } }

  // MARK: - Advancing files

  /// A file was claimed.
  func add(_ work: FileWork) {
    let file = work.machine.claimed.id
    work.destination.files += 1
    all[file] = work
    if work.isListing { listings += 1 }
    if work.machine.needsSession && !work.machine.isFetched && work.machine.ending == nil {
      sessionSlots.request(file)
    } else {
      advance(file)
    }
  }

  /// Gets the next step from the machine of `file` and adds it to the transaction of this iteration.
  func advance(_ file: FileID, ended: EndedAttempt? = nil, changes: [FileChange] = []) {
    guard let work = all[file], work.refusal == nil else { return }
    if ended == nil, changes.isEmpty, work.machine.ending == nil, work.destination.discovery.holds(file) { return }
    let chunks = chunkRoom(work)
    work.machine.facts.learned = work.destination.learned
    tableRoom.count(work.machine.requests.tableLength, for: file)
    var unit =
      work.machine.advance(
        work.destination.resolved.transferProtocol, chunkLimit: chunks, tableRoom: tableRoom.left, nowMs: engine.wallMs)
      ?? FileUnit(file: file, session: work.machine.sessionID)
    tableRoom.count(work.machine.requests.tableLength, for: file)
    unit.ended = ended
    unit.changes = changes + unit.changes
    unit.staged = work.machine.claimed.staged
    unit.sha256 = work.knownSHA256
    unit.content = work.deliveredDigest
    if work.target != nil && (unit.plan != nil || changes.contains(where: \.plansFile)) { tally.needsCount() }
    inBackoff.note(work)
    if work.machine.isReleased { released(work, unit) } else if chunks > 0 || !stop.isStopping { noteUnsent(work) }
    guard !unit.isEmpty else { return }
    if unit.begin == .control(.discover) { work.destination.discovery.begin(file) }
    if work.machine.isReleased, let target = work.unusedTarget {
      return commits.append(unit, after: { target.removeUnused() })
    }
    enqueue(unit, work)
  }

  /// Adds the unit to the next commit.
  func enqueue(_ unit: FileUnit, _ work: FileWork) {
    if let begin = unit.begin { work.destination.requests += begin.requestCount }
    commits.append(unit)
  }

  /// The transaction of a unit, which requested `asked` requests, is durable. nil if the file is no longer active.
  func begun(_ begun: Begun, asked: Int) -> FileWork? {
    if begun.admitted > 0 || begun.isRequeued {
      claims.wake()
      tally.needsCount()
    }
    guard let work = all[begun.file] else { return nil }
    let wasHeld = work.machine.isHeld
    work.machine.begun(begun, asked: begun.control == nil ? asked : 0, nowMs: engine.wallMs)
    work.destination.requests -= asked - begun.chunks.count - (begun.control == nil ? 0 : 1)
    inBackoff.note(work)
    if begun.disownedChunks > 0 { tally.needsCount() }
    if wasHeld { advance(begun.file) }
    return all[begun.file]
  }

  /// Records the partial file in the ledger before any stored bytes are recorded.
  func notePartial(_ region: TargetRegion?, _ work: FileWork) {
    guard let file = region?.file, work.recorded.inode == 0 || !file.identity.isSameFile(as: work.recorded) else {
      return
    }
    work.recorded = file.identity
    advance(work.machine.claimed.id, changes: [.notePartialFile(file.identity)])
  }

  /// The partial file is a copy of another file.
  func noteCopy(_ partial: SourceIdentity, _ work: FileWork) {
    work.recorded = partial
    advance(work.machine.claimed.id, changes: [.notePartialFile(partial)])
  }

  // MARK: - Sharing capacity

  /// Queues files whose backoff has ended. Files that only wait, and for long, are released until they are due.
  func wakeWaiting() {
    let now = engine.wallMs
    for id in inBackoff.due(nowMs: now) { turns.append(id) }
    for (id, due) in inBackoff.idle(nowMs: now) {
      all[id]?.machine.end(.release(notBeforeMs: due, nil, isFailure: false))
      advance(id)
    }
  }

  /// Lets files open an upload session while fewer than the configured number have one.
  func startSessions() {
    let perHost = room.sessionsPerHost
    while let file = sessionSlots.next(mostPerHost: perHost, hosts: hosts.all.count, place: sessionPlace) {
      advance(file)
    }
  }

  private func sessionPlace(_ file: FileID) -> SessionSlots.Place? {
    all[file].map { work in
      SessionSlots.Place(
        host: work.destination.host.name, batch: work.destination.batch, share: work.destination.share)
    }
  }

  /// Gives queued files with unsent chunks their share, in turn.
  func advanceWaiting() {
    for _ in 0..<turns.count {
      guard let file = turns.popFirst() else { return }
      advance(file)
    }
  }

  /// How many more chunks of this file may begin now.
  private func chunkRoom(_ work: FileWork) -> Int {
    if stop.isStopping { return 0 }
    let ofFile = (work.isToBeIdentified ? 1 : work.concurrency.limit) - work.machine.openCount
    let repeatable = work.machine.abilities.repeatable
    // Requests that are not repeatable are begun only when a connection is free: after a crash there is then no doubt
    // about requests that were never sent.
    let host = work.destination.host
    let overall = repeatable ? room.requests(for: host) : hosts.connections(host) - host.requests
    let ofBatch = work.destination.share.map {
      (repeatable ? $0 * Batches.aheadOfShare : $0) - work.destination.requests
    }
    return max(repeatable && work.machine.openCount == 0 ? 1 : 0, min(ofFile, overall, ofBatch ?? .max))
  }

  private func noteUnsent(_ work: FileWork) {
    let machine = work.machine
    // The end of a control step or a hold continues the file.
    guard machine.mayBeginChunks, machine.unsentCount > machine.backoffs.count else { return }
    if !machine.abilities.repeatable || machine.facts.session != nil || machine.openCount > 0 {
      turns.append(machine.claimed.id)
    }
  }

  // MARK: - Releases

  /// A file was released: counts it and notifies the observer.
  private func released(_ work: FileWork, _ unit: FileUnit) {
    let machine = work.machine
    remove(machine.claimed.id)
    batches.fileLeft(work.destination, machine.claimed.id)
    if work.requestedAction != nil || work.isListing { tally.needsCount() }
    let isThrownAway = unit.changes.contains(where: \.throwsAway)
    if isThrownAway {
      // It will be claimed again, in this generation or the next.
      tally.stored(bytes: -machine.bytesStored)
      tally.needsCount()
    }
    let held = isThrownAway ? 0 : machine.bytesStored
    for change in unit.changes {
      tally.count(change, of: machine, requestedAction: work.requestedAction, held: held)
      if case .release(let notBeforeMs, _, _) = change { claims.wake(atMs: notBeforeMs ?? engine.wallMs) }
    }
  }

  /// Leaves a file without open requests to the recovery of the next run, which releases it.
  func forget(_ file: FileID) {
    guard let work = remove(file) else { return }
    work.destination.files -= 1
  }

  /// If the ledger refused a change of a file, the file ends in the ledger after its requests have ended.
  func endRefused(_ work: FileWork) {
    guard let reason = work.refusal, work.requests.isEmpty else { return }
    let file = work.machine.claimed.id
    guard remove(file) != nil else { return }
    batches.fileLeft(work.destination, file)
    tally.needsCount()
    abandon(file, reason)
  }

  func abandon(_ file: FileID, _ reason: String) {
    let run = engine.run
    commits.write(
      { tx in try tx.abandonFile(file, run, message: reason) }, then: { .abandoned($0, file, reason: reason) })
  }

  @discardableResult
  private func remove(_ file: FileID) -> FileWork? {
    sessionSlots.release(file)
    tableRoom.count(0, for: file)
    inBackoff.remove(file)
    let work = all.removeValue(forKey: file)
    if work?.isListing ?? false { listings -= 1 }
    work?.destination.collections?.ended(file)
    return work
  }
}
