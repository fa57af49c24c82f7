import TransferLedger
import TransferModel
import TransferProtocols

/// The shell around the file machines and the scheduler: takes events from its mailbox, feeds them to the values that
/// decide, and performs what they say. Used by one thread, but for the mailbox.
final class EngineLoop: @unchecked Sendable {
  enum Event: Sendable {
    case claimed(Result<[ClaimedFile], TransferError>)
    case committed(Result<[Begun], TransferError>, [FileUnit], isRepeat: Bool)
    case abandoned(Result<AbandonedFile, TransferError>, FileID, reason: String)
    case abort(SessionAborts.Event)
    case prepared(JobID, Result<Prepared, PreparationFailure>)
    case replied(JobID, TransferReply)
    case read(JobID, ReplyReading.Result)
    case heard(JobID, InterimReply)
    case placed(FileID, FileProof, Result<Void, Failure>)
    case knownSessions(Result<Set<String>, TransferError>, ListedSessions)
    case heartbeat(Result<TransitionResult, TransferError>)
    case counted(Result<WorkSize, TransferError>)
    case markedOverdue(Result<OverduePart, TransferError>)
    case diskTrouble(TransferError)
    case stop(StopSignal.Wish)
  }
  typealias JobID = Scheduler.JobID

  let engine: Engine
  let mailbox = Mailbox<Event>()
  let journal: SendingJournal?
  let pool: PreparingPool
  /// Set when somebody asks for a stop: sources are not read any longer.
  private let isReadingOver = Lock(false)
  var scheduler: Scheduler
  var works: [FileID: Work] = [:]
  /// Those of them with chunks that back off.
  var waiting: Set<FileID> = []
  var jobs: [JobID: Job] = [:]
  /// Requests that end their files, at their servers now.
  var awaited: Set<JobID> = []
  let destinations: DestinationTable
  var shares = HostShares()
  /// Of them, those that there is work for now, and that may be asked.
  var hostsInUse = 0
  /// Files of which the ledger refused a change.
  var refused: Set<FileID> = []
  /// How often the source of a file changed in this run, by its newest generation.
  var changes: [FileID: Int] = [:]
  var summary = RunResult()
  var progress: RunProgress

  var commits = CommitQueue()
  let numbers = RequestNumbers()
  /// Requests asked of the ledger that have not come back as jobs yet.
  var beginning = 0
  /// Files that have chunks to send.
  var turns = FileTurns()
  var sessionSlots = SessionSlots()

  private(set) lazy var aborts = SessionAborts(
    SessionAborts.Surroundings(
      engine: engine, numbers: numbers, pool: pool,
      destination: { [unowned self] batch throws(TransferError) in try destination(of: batch) },
      report: { [mailbox] in mailbox.put(.abort($0)) }, fail: { [unowned self] in fail($0) }))

  var claims = ClaimPacing()
  var stop: StopSequence
  var dice = SystemRandomNumberGenerator()
  let startedMs: Int64
  private var nextHeartbeatMs: Int64 = 0
  var unreachable = UnreachableWatch()
  var holds = BatchHolds()
  /// Those with a share of the connections.
  var sharing: [BatchDestination] = []
  /// When people's wishes are looked for again.
  var nextControlMs: Int64 = 0

  init(engine: Engine) {
    self.engine = engine
    journal = engine.ledger.sendingJournal()
    destinations = DestinationTable(engine)
    pool = PreparingPool(threadCount: engine.configuration.preparingThreads)
    scheduler = Scheduler(
      workers: engine.configuration.workers, bytesAtOnce: engine.configuration.bytesAtOnce,
      newConcurrency: { engine.concurrency($0, workers: $1) })
    stop = StopSequence(drainMs: engine.configuration.drainMs)
    progress = RunProgress(
      isHeard: engine.observer.progress != nil, everyMs: engine.configuration.progressEveryMs)
    startedMs = engine.clock.bootMs
  }

  /// Of this run: what is due and how long it waits.
  var wallMs: Int64 { engine.clock.wallMs }
  /// Of this moment: what people and servers go by.
  var civilMs: Int64 { engine.clock.civilMs }
  var bootMs: Int64 { engine.clock.bootMs }
  /// Begun requests to keep ahead of the connections: what is sent while two commits gather and run, so that many files
  /// share a commit and no connection waits for one.
  /// For all that a single host may have.
  var targetAhead: Int { max(64, reach * 16) }
  /// Connections that may be used by now.
  var reach: Int {
    let workers = engine.configuration.workers
    return engine.configuration.startsSlowly ? min(workers, max(Concurrency.usualFirst * 2, scheduler.reach)) : workers
  }
  var isStopping: Bool { stop.isStopping }

  var readStop: ReadStop { ReadStop { [isReadingOver] in isReadingOver.withLock { $0 } } }

  /// Takes a wish from any thread. What ends for it is heard of after the wish.
  func ask(_ wish: StopSignal.Wish) {
    mailbox.put(.stop(wish))
    isReadingOver.withLock { $0 = true }
  }

  /// Runs until there is nothing more to do, or a stop is complete.
  func work() throws(TransferError) -> RunResult {
    defer {
      mailbox.close()
      pool.stop()
    }
    try progress.countAtStart(engine.ledger)
    aborts.beginPass(counts: true)
    while true {
      turn()
      if let fatal = stop.fatal, isQuiet, works.isEmpty || !fatal.leavesLedgerUsable { throw fatal }
      if try isFinished() { break }
      guard let events = mailbox.take(timeoutMs: waitMs()) else { break }
      for event in events { handle(event) }
    }
    if let diskTrouble = stop.diskTrouble { throw diskTrouble }
    summary.wallMs = bootMs - startedMs
    report(force: true)
    return summary
  }

  private func handle(_ event: Event) {
    switch event {
    case .claimed(let result): claimed(result)
    case .committed(let result, let units, let isRepeat): committed(result, units, isRepeat: isRepeat)
    case .abandoned(let result, let file, let reason): abandoned(result, file, reason)
    case .abort(let event): aborts.handle(event)
    case .prepared(let job, let result): prepared(job, result)
    case .replied(let job, let reply): replied(job, reply)
    case .read(let job, let result): wasRead(job, result)
    case .heard(let id, let reply): heard(id, reply)
    case .placed(let file, let proof, let result): placed(file, proof, result)
    case .knownSessions(let result, let listed): sessionsAreKnown(result, listed)
    case .heartbeat(let result): heartbeat(result)
    case .counted(let result): progress.counted(result, nowMs: bootMs)
    case .markedOverdue(let result): markedOverdue(result)
    case .diskTrouble(let error): diskTroubled(error)
    case .stop(let wish): stopAsked(wish)
    }
  }

  /// What is done after every batch of events.
  private func turn() {
    obeyPeople()
    startSending()
    aborts.send(isStopping: isStopping)
    askBeside()
    if !isStopping {
      releaseClosed()
      beginMore()
    }
    if isCommitDue { commitUnits() }
    giveUpWhenUnreachable()
    if isStopping { keepStopping() }
    beat()
    report(force: false)
  }

  /// Nothing runs that could still report.
  private var isQuiet: Bool {
    jobs.values.allSatisfy { $0.phase == .ready } && aborts.isQuiet && commits.running == 0 && !claims.isClaiming
  }

  private func isFinished() throws(TransferError) -> Bool {
    guard works.isEmpty, jobs.isEmpty, commits.isEmpty, aborts.isIdle, isQuiet else { return false }
    if stop.wish != nil || !engine.configuration.claimsFiles { return true }
    guard claims.nextMs > wallMs else { return false }
    let without = restingBatches
    // An abort that failed so often waits for another run; its time must not keep this one awake.
    let countsAborts = aborts.hasPassesLeft
    let (left, isReady, next) = try engine.ledger.read { reader in
      let next = try reader.nextDueMs(without: without, countsAborts: countsAborts)
      return (try reader.isAnythingLeft(), try reader.hasReadyFiles(without: without), next)
    }
    if isReady {
      // Added since the last claim came back empty; or it waits for a host that is closed for the time being.
      if try hasClaimableFiles() { claims.wake(atMs: wallMs) }
      return false
    }
    guard let due = next, left.files || (left.aborts && countsAborts) else { return true }
    if left.aborts && countsAborts && due <= wallMs {
      aborts.beginPass(counts: true)
      return false
    }
    if due - wallMs > engine.configuration.patienceMs {
      summary.stoppedBy = .notDue
      return true
    }
    claims.wake(atMs: max(due, wallMs))
    return false
  }

  /// How long the mailbox may be waited for, in milliseconds.
  private func waitMs() -> Int64 {
    var wait = min(1_000, nextControlMs - bootMs)
    if let due = commits.dueMs { wait = min(wait, due - bootMs) }
    if !isStopping && mayClaim { wait = min(wait, claims.nextMs - wallMs) }
    if let opening = scheduler.nextOpeningMs(nowMs: bootMs) { wait = min(wait, opening - bootMs) }
    for id in waiting {
      // One that is due already waits for room, and room comes with an event.
      for due in works[id]?.machine.waitingUntil ?? [] where due > wallMs { wait = min(wait, due - wallMs) }
    }
    if let due = progress.dueMs { wait = min(wait, due - bootMs) }
    if let drain = stop.waitMs(nowMs: bootMs) { wait = min(wait, drain) }
    return max(1, wait)
  }

  private func beat() {
    guard bootMs >= nextHeartbeatMs else { return }
    nextHeartbeatMs = bootMs + 5_000
    let run = engine.run
    let mailbox = mailbox
    let (civilMs, bootMs) = (engine.clock.civilMs, bootMs)
    let learned = takeLearnedConcurrency()
    engine.ledger.write(
      { tx in
        for (host, count) in learned { try tx.noteHost(host, requestsAtOnce: count, run) }
        _ = try tx.addUpAttempts()
        return try tx.heartbeat(run, civilMs: civilMs, bootMs: bootMs)
      }, then: { mailbox.put(.heartbeat($0)) })
  }

  private func heartbeat(_ result: Result<TransitionResult, TransferError>) {
    switch result {
    case .success(.applied): break
    case .success(.lost):
      fail(
        TransferError(
          .leaseLost, "keep the lease of run", NameBytes(engine.run.description),
          cause: "another engine took over", remedy: "nothing was lost; see \"transfers status\""))
    case .failure(let error): fail(error)
    }
  }

  /// The first error that ends the run stands.
  func fail(_ error: TransferError) {
    guard stop.fail(error) else { return }
    if error.leavesLedgerUsable { stopAsked(.now) }
  }
}
