import TransferLedger
import TransferModel
import TransferProtocols

/// The shell around the file machines and the scheduler: takes events from its mailbox, feeds them to the values that
/// decide, and performs what they say. Used by one thread, but for the mailbox.
final class EngineLoop: @unchecked Sendable {
  typealias JobID = Scheduler.JobID

  let engine: Engine
  let mailbox = Mailbox<EngineEvent>()
  let pool: PreparingPool
  /// Set when somebody asks for a stop: sources are not read any longer.
  private let isReadingOver = Lock(false)
  let files: FilesInWork
  let intake: FileIntake
  let hosts: Hosts
  let batches: Batches
  let room: HostRoom
  let stop: RunStop
  let tally: RunTally
  let claims: Claims
  let commits: Commits
  let numbers = RequestNumbers()
  let requests: Requests
  let inquiries: Inquiries
  let outcomes: RequestOutcomes
  let replies: ReplyHandler
  let sender: RequestSender
  let refused: RefusedUnits
  let aborts: SessionAborts

  private var nextHeartbeatMs: Int64 = 0
  var unreachable = UnreachableWatch()
  /// When people's wishes are looked for again.
  var nextControlMs: Int64 = 0

  init(engine: Engine) {
    self.engine = engine
    pool = PreparingPool(threadCount: engine.configuration.preparingThreads)
    stop = RunStop(engine)
    tally = RunTally(engine)
    claims = Claims(engine, mailbox)
    hosts = Hosts(engine)
    batches = Batches(engine, hosts: hosts, claims: claims)
    room = HostRoom(engine, stop: stop, hosts: hosts, batches: batches)
    commits = Commits(engine, mailbox)
    files = FilesInWork(
      engine, stop: stop, tally: tally, claims: claims, hosts: hosts, batches: batches, room: room, commits: commits)
    intake = FileIntake(
      engine, stop: stop, claims: claims, hosts: hosts, batches: batches, room: room, commits: commits, files: files)
    requests = Requests(numbers, batches: batches, files: files)
    inquiries = Inquiries(engine, mailbox, stop: stop, files: files, requests: requests)
    outcomes = RequestOutcomes(
      engine, tally: tally, hosts: hosts, batches: batches, files: files, requests: requests, inquiries: inquiries)
    replies = ReplyHandler(
      engine, mailbox, stop: stop, tally: tally, batches: batches, files: files, requests: requests,
      outcomes: outcomes, pool: pool)
    let readStop = ReadStop { [isReadingOver] in isReadingOver.withLock { $0 } }
    sender = RequestSender(
      engine, mailbox, stop: stop, tally: tally, hosts: hosts, files: files, requests: requests,
      inquiries: inquiries, outcomes: outcomes,
      local: LocalFiles(engine, mailbox, pool: pool, readStop: readStop))
    refused = RefusedUnits(
      stop: stop, tally: tally, hosts: hosts, commits: commits, files: files, requests: requests, outcomes: outcomes)
    aborts = SessionAborts(
      SessionAborts.Surroundings(
        engine: engine, numbers: numbers, pool: pool, batches: batches,
        report: { [mailbox] in mailbox.put(.abort($0)) }, stop: stop))
  }

  /// Of this run: what is due and how long it waits.
  var wallMs: Int64 { engine.clock.wallMs }
  /// Of this moment: what people and servers go by.
  var civilMs: Int64 { engine.clock.civilMs }
  var bootMs: Int64 { engine.clock.bootMs }
  var isStopping: Bool { stop.isStopping }

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
    try tally.countAtStart()
    aborts.beginPass(counts: true)
    while true {
      turn()
      if let fatal = stop.sequence.fatal, isQuiet, files.isEmpty || !fatal.leavesLedgerUsable { throw fatal }
      if try isFinished() { break }
      guard let events = mailbox.take(timeoutMs: waitMs()) else { break }
      for event in events { handle(event) }
    }
    if let diskTrouble = stop.sequence.diskTrouble { throw diskTrouble }
    report(force: true)
    return tally.end(stop.cause)
  }

  private func handle(_ event: EngineEvent) {
    switch event {
    case .claimed(let result): intake.claimed(result)
    case .committed(let result, let units, let isRepeat): committed(result, units, isRepeat: isRepeat)
    case .abandoned(let result, let file, let reason): refused.abandoned(result, file, reason: reason)
    case .abort(let event): aborts.handle(event)
    case .prepared(let job, let result): sender.prepared(job, result)
    case .replied(let job, let reply): replies.replied(job, reply)
    case .read(let job, let result): replies.wasRead(job, result)
    case .heard(let id, let reply): replies.heard(id, reply)
    case .placed(let file, let proof, let result): files.placed(file, proof, result)
    case .knownSessions(let result, let listed): replies.sessionsAreKnown(result, listed)
    case .heartbeat(let result): heartbeat(result)
    case .counted(let result): tally.counted(result)
    case .markedOverdue(let result): markedOverdue(result)
    case .diskTrouble(let error): diskTroubled(error)
    case .stop(let wish): stopAsked(wish)
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
  private var isCommitDue: Bool { isStopping || hosts.scheduler.readyCount < hosts.reach || commits.isDue }

  /// Keeps enough begun requests ahead of the connections: files in work first, then new ones.
  private func beginMore() {
    room.countHosts()
    files.wakeWaiting()
    files.startSessions()
    files.feedHungry()
    intake.claimMore()
  }

  /// What is done after every batch of events.
  private func turn() {
    obeyPeople()
    sender.sendReady()
    aborts.send(isStopping: isStopping)
    inquiries.askDue()
    if !isStopping {
      releaseClosed()
      beginMore()
    }
    if isCommitDue { commits.writeGathered() }
    giveUpWhenUnreachable()
    if isStopping { keepStopping() }
    beat()
    report(force: false)
  }

  /// Nothing runs that could still report.
  private var isQuiet: Bool {
    requests.areAllReady && aborts.isQuiet && !commits.isWriting && !claims.isClaiming
  }

  private func isFinished() throws(TransferError) -> Bool {
    guard files.isEmpty, requests.isEmpty, commits.isEmpty, aborts.isIdle, isQuiet else { return false }
    if stop.sequence.wish != nil || !engine.configuration.claimsFiles { return true }
    guard claims.nextMs > wallMs else { return false }
    let without = batches.resting
    // An abort that failed so often waits for another run; its time must not keep this one awake.
    let countsAborts = aborts.hasPassesLeft
    let (left, isReady, next) = try engine.ledger.read { reader in
      let next = try reader.nextDueMs(without: without, countsAborts: countsAborts)
      return (try reader.isAnythingLeft(), try reader.hasReadyFiles(without: without), next)
    }
    if isReady {
      // Added since the last claim came back empty; or it waits for a host that is closed for the time being.
      if try room.hasClaimableFiles() { claims.wake() }
      return false
    }
    guard let due = next, left.files || (left.aborts && countsAborts) else { return true }
    if left.aborts && countsAborts && due <= wallMs {
      aborts.beginPass(counts: true)
      return false
    }
    if due - wallMs > engine.configuration.patienceMs {
      stop.end(for: .notDue)
      return true
    }
    claims.wake(atMs: max(due, wallMs))
    return false
  }

  /// How long the mailbox may be waited for, in milliseconds.
  private func waitMs() -> Int64 {
    var wait = min(1_000, nextControlMs - bootMs)
    if let due = commits.dueMs { wait = min(wait, due - bootMs) }
    if !isStopping && intake.mayClaim { wait = min(wait, claims.nextMs - wallMs) }
    if let opening = hosts.scheduler.nextOpeningMs(nowMs: bootMs) { wait = min(wait, opening - bootMs) }
    if let backoff = files.waitMs(nowMs: wallMs) { wait = min(wait, backoff) }
    if let due = tally.reportDueMs { wait = min(wait, due - bootMs) }
    if let drain = stop.sequence.waitMs(nowMs: bootMs) { wait = min(wait, drain) }
    return max(1, wait)
  }

  private func beat() {
    guard bootMs >= nextHeartbeatMs else { return }
    nextHeartbeatMs = bootMs + 5_000
    let run = engine.run
    let mailbox = mailbox
    let (civilMs, bootMs) = (engine.clock.civilMs, bootMs)
    let learned = hosts.takeLearnedConcurrency()
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

  func fail(_ error: TransferError) { stop.fail(error) }
}
