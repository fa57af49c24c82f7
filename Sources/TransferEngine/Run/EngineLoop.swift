import TransferLedger
import TransferModel
import TransferProtocols

/// The loop of one run: takes events from its mailbox, passes each to its owner, lets the owners do the work that is
/// due after every batch of events, until the run is finished (``RunEnd``). Used by one thread, except for the mailbox.
///
/// It owns all parts, and each part refers only to parts made before it in ``init(engine:)``: there are no references
/// upwards. Information for a higher part is posted as an event, or polled in ``turn()``. Parts that are not private
/// here are used by ``Engine``, or by tests of their own.
final class EngineLoop: @unchecked Sendable {
  let mailbox = Mailbox<EngineEvent>()
  private let engine: Engine
  private let pool: PreparingPool
  /// Set when a stop is requested: sources are no longer read.
  private let isReadingOver = Lock(false)

  // The run: its end, its results, its writes to the ledger.
  let stop: RunStop
  let tally: RunTally
  let claims: Claims
  let commits: Commits
  // Destinations.
  private let rate: RunRate
  let hosts: Hosts
  let batches: Batches
  let room: HostRoom
  // Active files and their requests.
  let files: FilesInWork
  private let localOutcomes: LocalOutcomes
  let intake: FileIntake
  let requests: Requests
  private let inquiries: Inquiries
  let outcomes: RequestOutcomes
  private let replies: ReplyHandler
  private let local: LocalFiles
  let sender: RequestSender
  let refused: RefusedUnits
  // Concurrent activities.
  let aborts: SessionAborts
  private let control: ControlRequests
  let closed: ClosedHosts
  let shutdown: Shutdown
  private let heartbeat: Heartbeat
  private let upkeep: SourceUpkeep
  let limits: RunLimits
  private let patience: RunPatience
  let end: RunEnd
  private let reporter: ProgressReporter
  private let inFlight: InFlightNotes
  let wakeUp: WakeUp

  init(engine: Engine) throws(TransferError) {
    self.engine = engine
    pool = try PreparingPool(threadCount: engine.configuration.preparingThreads)
    stop = RunStop(engine)
    tally = RunTally(engine)
    claims = Claims(engine, mailbox)
    commits = Commits(engine, mailbox, pool: pool)
    rate = RunRate(engine)
    hosts = Hosts(engine, rate: rate)
    batches = Batches(engine, rate: rate, hosts: hosts, claims: claims)
    room = HostRoom(engine, stop: stop, hosts: hosts, batches: batches)
    files = FilesInWork(
      engine, stop: stop, tally: tally, claims: claims, hosts: hosts, batches: batches, room: room, commits: commits)
    localOutcomes = LocalOutcomes(engine, tally: tally, files: files)
    intake = FileIntake(
      engine, stop: stop, claims: claims, hosts: hosts, batches: batches, room: room, commits: commits, files: files)
    let numbers = RequestNumbers()
    requests = Requests(numbers, batches: batches, files: files)
    inquiries = Inquiries(engine, mailbox, stop: stop, files: files, requests: requests)
    let readStop = ReadStop { [isReadingOver] in isReadingOver.withLock { $0 } }
    let urls = FreshURLs(readStop)
    let credentials = FreshCredentials(
      engine.clock, patienceMs: engine.configuration.credentialWaitMs, readStop, notice: engine.observer.notice)
    outcomes = RequestOutcomes(
      engine, tally: tally, hosts: hosts, batches: batches, files: files, requests: requests, inquiries: inquiries,
      urls: urls, credentials: credentials)
    replies = ReplyHandler(
      engine, mailbox, stop: stop, tally: tally, batches: batches, files: files, requests: requests,
      outcomes: outcomes, pool: pool)
    local = LocalFiles(engine, mailbox, pool: pool, readStop: readStop, urls: urls, credentials: credentials)
    sender = RequestSender(
      engine, mailbox, stop: stop, tally: tally, hosts: hosts, files: files, requests: requests,
      inquiries: inquiries, outcomes: outcomes, local: local)
    refused = RefusedUnits(
      stop: stop, tally: tally, hosts: hosts, commits: commits, files: files, requests: requests, outcomes: outcomes)
    aborts = SessionAborts(
      SessionAborts.Surroundings(
        engine: engine, numbers: numbers, pool: pool, credentials: credentials, batches: batches,
        report: { [mailbox] in mailbox.put(.abort($0)) }, stop: stop))
    control = ControlRequests(
      engine, stop: stop, hosts: hosts, batches: batches, commits: commits, files: files, requests: requests,
      outcomes: outcomes, aborts: aborts)
    patience = RunPatience(engine, batches: batches, files: files, claims: claims, commits: commits)
    closed = ClosedHosts(
      engine, stop: stop, patience: patience, claims: claims, hosts: hosts, batches: batches, commits: commits,
      files: files, intake: intake, requests: requests, outcomes: outcomes)
    shutdown = Shutdown(
      engine, stop: stop, tally: tally, hosts: hosts, commits: commits, files: files, requests: requests,
      outcomes: outcomes, aborts: aborts)
    upkeep = SourceUpkeep(
      engine, mailbox, stop: stop, tally: tally, claims: claims, pool: pool, readStop: readStop)
    limits = RunLimits(
      engine, stop: stop, hosts: hosts, batches: batches, requests: requests, outcomes: outcomes, files: files,
      intake: intake, claims: claims, commits: commits, shutdown: shutdown)
    end = RunEnd(
      engine,
      RunEnd.Parts(
        stop: stop, claims: claims, commits: commits, batches: batches, room: room, files: files, intake: intake,
        requests: requests, aborts: aborts, closed: closed, upkeep: upkeep, limits: limits, patience: patience))
    heartbeat = Heartbeat(engine, mailbox, stop: stop, hosts: hosts)
    reporter = ProgressReporter(
      engine, mailbox, rate: rate, tally: tally, hosts: hosts, batches: batches, commits: commits, files: files,
      requests: requests)
    inFlight = InFlightNotes(engine, requests: requests)
    wakeUp = WakeUp(
      engine, stop: stop, claims: claims, commits: commits, hosts: hosts, batches: batches, requests: requests,
      outcomes: outcomes, aborts: aborts, heartbeat: heartbeat)
  }

  /// Accepts a stop request from any thread. Events caused by it arrive after it.
  func ask(_ level: StopSignal.Level) {
    mailbox.put(.stop(level))
    isReadingOver.withLock { $0 = true }
  }

  /// Runs until there is nothing more to do, or a stop is complete.
  func work() throws(TransferError) -> RunResult {
    defer { close() }
    try patience.begin()
    try batches.left.look()
    try tally.countAtStart()
    aborts.beginPass(counts: true)
    while true {
      turn()
      if let fatal = stop.sequence.fatal, end.isQuiet, files.isEmpty || !fatal.leavesLedgerUsable { throw fatal }
      if try end.isReached(), !upkeep.beginsRest() { break }
      guard let events = mailbox.take(timeoutMs: engine.clock.machineMs(waitMs())) else { break }
      wakeUp.look()
      for event in events { handle(event) }
    }
    if let diskTrouble = stop.sequence.diskTrouble { throw diskTrouble }
    try limits.tellLeftOut()
    reporter.report(force: true)
    return tally.end(stop.cause)
  }

  /// Takes no further events, and ends the threads of its parts. Blocking.
  func close() {
    mailbox.close()
    local.end()
    inFlight.end()
    pool.stop()
  }

  func handle(_ event: EngineEvent) {
    switch event {
    case .claimed(let result): intake.claimed(result)
    case .committed(let result, let units, let isRepeat): committed(result, units, isRepeat: isRepeat)
    case .abandoned(let result, let file, let reason): refused.abandoned(result, file, reason: reason)
    case .abort(let event): aborts.handle(event)
    case .prepared(let pending, let result): sender.prepared(pending, result)
    case .replied(let pending, let reply): replies.replied(pending, reply)
    case .read(let pending, let result): replies.wasRead(pending, result)
    case .heard(let id, let reply): replies.heard(id, reply)
    case .placed(let file, let proof, let result): localOutcomes.placed(file, proof, result)
    case .localWorkEnded(let unit): commits.localWorkEnded(unit)
    case .reused(let file, let proof, let result): localOutcomes.reused(file, proof, result)
    case .knownSessions(let result, let listed): replies.sessionsAreKnown(result, listed)
    case .lookedUp(let result, let upload): replies.uploads.lookedUp(result, upload)
    case .examined(let result, let listed): replies.pageIsExamined(result, listed)
    case .heartbeat(let result): heartbeat.ended(result)
    case .counted(let result): tally.counted(result)
    case .markedOverdue(let result): control.markedOverdue(result)
    case .postponed(let result): closed.postponed(result)
    case .networkWaitsEnded(let result): wakeUp.networkWaitsEnded(result)
    case .looked(let result): upkeep.looked(result)
    case .removed(let result): upkeep.removed(result)
    case .diskTrouble(let error): shutdown.diskTroubled(error)
    case .stop(let level): shutdown.ask(level)
    }
  }

  /// A write of units has ended.
  private func committed(_ result: Result<[Begun], TransferError>, _ units: [FileUnit], isRepeat: Bool) {
    commits.ended()
    switch result {
    case .failure(let error): refused.failed(error, units, isRepeat: isRepeat)
    case .success(let all):
      for (begun, unit) in zip(all, units) { sender.begun(begun, asked: unit.requestCount) }
    }
  }

  /// Waiting longer would not help, or would leave connections idle.
  private var isCommitDue: Bool { stop.isStopping || hosts.scheduler.readyCount < hosts.reach || commits.isDue }

  /// Keeps enough requests begun ahead of the connections: active files first, then new ones.
  func beginMore() {
    room.countHosts()
    files.wakeWaiting()
    files.startSessions()
    files.advanceWaiting()
    intake.claimMore()
  }

  /// Work after every batch of events.
  func turn() {
    control.applyIfDue()
    if rate.hasChanged(isSending: !requests.isEmpty) {
      hosts.setBytesAtOnce(rate.bytesAtOnce)
      batches.rateHasChanged()
    }
    batches.quotas.look()
    sender.sendReady()
    aborts.send(isStopping: stop.isStopping)
    inquiries.askDue()
    if !stop.isStopping {
      closed.release()
      beginMore()
    }
    upkeep.workIfDue()
    limits.apply()
    if isCommitDue { commits.writeGathered() }
    if let dead = closed.allThatIsLeft() { shutdown.giveUp(on: dead) }
    if stop.isStopping {
      // Also set if the run ends without a stop request.
      isReadingOver.withLock { $0 = true }
      shutdown.goOn()
    }
    heartbeat.beatIfDue()
    inFlight.noteIfDue()
    reporter.report(force: false)
  }

  /// How long to wait for the mailbox, in milliseconds.
  private func waitMs() -> Int64 {
    let (wallMs, bootMs) = (engine.wallMs, engine.bootMs)
    var wait = min(1_000, control.nextMs - bootMs)
    wait = min(wait, upkeep.waitMs(nowMs: bootMs), limits.waitMs())
    if let look = rate.waitMs(nowMs: bootMs) { wait = min(wait, look) }
    if let due = commits.dueMs { wait = min(wait, due - bootMs) }
    if !stop.isStopping && intake.mayClaim { wait = min(wait, claims.nextMs - wallMs) }
    if let opening = hosts.scheduler.nextOpeningMs(nowMs: bootMs) { wait = min(wait, opening - bootMs) }
    if let backoff = files.waitMs(nowMs: wallMs) { wait = min(wait, backoff) }
    if let due = tally.reportDueMs { wait = min(wait, due - bootMs) }
    if let drain = stop.sequence.waitMs(nowMs: bootMs) { wait = min(wait, drain) }
    return max(1, wait)
  }
}
