import TransferLedger
import TransferModel
import TransferProtocols

/// The loop of a run that only queries: keeps the hosts as busy as each allows, and reports the findings. Used by one
/// thread, except for the mailbox.
///
/// A host that keeps refusing connections is given up for this run, as are destinations that refuse the credentials:
/// their files are inconclusive, and the others are queried.
final class Questions {
  enum Event: Sendable {
    case request(QuestionRequests.Event)
    case heartbeat(Result<TransitionResult, TransferError>)
    case stop(StopSignal.Level)
  }

  private static let beatEveryMs: Int64 = 5_000

  let mailbox = Mailbox<Event>()
  private let engine: Engine
  private let filter: RowFilter
  private let backlog: QuestionBacklog
  private let requests: QuestionRequests
  private let isStopAsked: Lock<Bool>
  /// To be reported in the next iteration: these results needed no query.
  private var concluded: [(DoneUpload, QuestionEnd)] = []
  private var told = 0
  private var nextBeatMs: Int64 = 0
  private var sleep: SleepWatch
  /// Not recorded yet.
  private var slept: MachineSleep?
  private var fatal: TransferError?
  private(set) var stopped: StopSignal.Level?

  init(engine: Engine, _ filter: RowFilter) {
    (self.engine, self.filter) = (engine, filter)
    backlog = QuestionBacklog(engine, filter)
    sleep = SleepWatch(engine.clock)
    let (isStopAsked, mailbox) = (Lock(false), mailbox)
    self.isStopAsked = isStopAsked
    requests = QuestionRequests(
      engine, ReadStop { isStopAsked.withLock { $0 } }, report: { mailbox.put(.request($0)) })
  }

  /// Accepts a stop request; callable from any thread.
  var takesStop: @Sendable (StopSignal.Level) -> Void {
    { [mailbox, isStopAsked] level in
      isStopAsked.withLock { $0 = true }
      mailbox.put(.stop(level))
    }
  }

  /// - Returns: the number of files that were not queried because of a stop.
  func work(_ tell: (DoneUpload, QuestionEnd) -> Void) throws(TransferError) -> Int {
    defer {
      mailbox.close()
      requests.end()
    }
    while true {
      try turn(tell)
      if requests.count == 0 {
        if let fatal { throw fatal }
        if stopped != nil { return try left() }
        if backlog.isEmpty { return 0 }
      }
      let events = mailbox.take(timeoutMs: waitMs()) ?? []
      lookAtSleep()
      for event in events { handle(event, tell) }
    }
  }

  private func left() throws(TransferError) -> Int {
    let counts = try engine.ledger.read { try $0.doneUploadCounts(filter) }
    return max(0, counts.standing - told)
  }

  private func handle(_ event: Event, _ tell: (DoneUpload, QuestionEnd) -> Void) {
    switch event {
    case .request(let event):
      do throws(TransferError) { advance(try requests.handle(event), tell) } catch { fail(error) }
    case .heartbeat(.success(.applied)): break
    case .heartbeat(.success(.lost)):
      fail(
        TransferError(
          .leaseLost, "keep the lease of run", NameBytes(engine.run.description), cause: "another engine took over",
          remedy: "the findings so far are recorded"))
    case .heartbeat(.failure(let error)): fail(error)
    case .stop(let level):
      stopped = level
      requests.close()
      if level == .now { requests.cancel() }
    }
  }

  private func advance(_ progress: QuestionRequests.Progress, _ tell: (DoneUpload, QuestionEnd) -> Void) {
    switch progress {
    case .underWay: break
    case .unanswered(let question): if !isOver { backlog.add(question) }
    case .ended(let question, let end): told(question.file, end, tell)
    }
  }

  private func fail(_ error: TransferError) {
    if fatal == nil { fatal = error }
    isStopAsked.withLock { $0 = true }
    requests.close()
    requests.cancel()
  }

  private var isOver: Bool { stopped != nil || fatal != nil }

  private func told(_ file: DoneUpload, _ end: QuestionEnd, _ tell: (DoneUpload, QuestionEnd) -> Void) {
    told += 1
    tell(file, end)
  }

  // MARK: - Queries

  private func turn(_ tell: (DoneUpload, QuestionEnd) -> Void) throws(TransferError) {
    while mayRead { try backlog.readPage() }
    for question in backlog.takeUnreachable() {
      concluded.append((question.file, .inconclusive("its host refuses connections")))
    }
    while !isOver, requests.count < engine.configuration.workers, let question = backlog.take() { ask(question) }
    if isOver { backlog.removeAll() }
    for (file, end) in concluded { told(file, end, tell) }
    concluded = []
    beatIfDue()
  }

  private var mayRead: Bool { !isOver && backlog.hasRoom(running: requests.count) }

  private func ask(_ question: Question) {
    switch question.firstStep {
    case .success(let step): requests.begin(question, step)
    case .failure(let inconclusive): concluded.append((question.file, .inconclusive(inconclusive.reason)))
    }
  }

  // MARK: - Time

  /// Before events are handled, so that the errors of connections that died in a sleep are recognised.
  private func lookAtSleep() {
    guard let found = sleep.look(engine.clock) else { return }
    slept = MachineSleep(lengthMs: (slept?.lengthMs ?? 0) + found.lengthMs)
    nextBeatMs = engine.bootMs
    guard found.endsConnections else { return }
    backlog.slept()
    requests.endBySleep()
  }

  private func beatIfDue() {
    guard engine.bootMs >= nextBeatMs else { return }
    nextBeatMs = engine.bootMs + Self.beatEveryMs
    let (run, mailbox) = (engine.run, mailbox)
    let (civilMs, bootMs, processorMs) = (engine.civilMs, engine.bootMs, engine.clock.processorMs)
    let slept = slept
    self.slept = nil
    engine.ledger.write(
      { tx in
        _ = try tx.addUpAttempts()
        let beat = try tx.heartbeat(run, civilMs: civilMs, bootMs: bootMs, processorMs: processorMs)
        if let slept, beat == .applied { try tx.noteSleep(slept, run) }
        return beat
      }, then: { mailbox.put(.heartbeat($0)) })
  }

  private func waitMs() -> Int64 {
    if mayRead { return 1 }
    let nowMs = engine.bootMs
    return max(1, min(1_000, nextBeatMs - nowMs, backlog.waitMs(nowMs: nowMs) ?? 1_000))
  }
}
