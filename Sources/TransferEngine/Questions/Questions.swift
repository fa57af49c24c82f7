import TransferLedger
import TransferModel
import TransferProtocols

/// The loop of a run that only asks: reads what is done page by page, keeps the hosts busy as far as each allows, and
/// holds no more than a window of files in memory. Used by one thread, but for the mailbox.
///
/// A host that refuses connections again and again is given up for this run, as are destinations that refuse the
/// credentials: nothing is known of their files then, and the others are asked.
final class Questions {
  enum Event: Sendable {
    case begun(Question.Number, Result<AttemptID, TransferError>)
    case credential(Question.Number, FreshCredentials.Answer)
    case replied(Question.Number, TransferReply)
    case ended(Question.Number, Result<Bool, TransferError>)
    case heartbeat(Result<TransitionResult, TransferError>)
    case stop(StopSignal.Wish)
  }

  private static let page = 256
  private static let window = 512
  private static let beatEveryMs: Int64 = 5_000

  let mailbox = Mailbox<Event>()
  private let engine: Engine
  private let filter: RowFilter
  private let numbers = RequestNumbers()
  private let credentials: FreshCredentials
  private let isStopAsked = Lock(false)
  private var hosts: [String: QuestionHost] = [:]
  private var targets: [BatchID: QuestionTarget] = [:]
  private var running: [Question.Number: Question] = [:]
  /// What the end of a question means for its file, until it is durable; nil when it is asked again.
  private var ends: [Question.Number: QuestionEnd?] = [:]
  /// Nothing had to be asked to know these.
  private var concluded: [(DoneUpload, QuestionEnd)] = []
  private var last: Int64 = 0
  private var hasMore = true
  private var told = 0
  private var nextBeatMs: Int64 = 0
  private var sleep: SleepWatch
  private var fatal: TransferError?
  private(set) var stopped: StopSignal.Wish?

  init(engine: Engine, _ filter: RowFilter) {
    (self.engine, self.filter) = (engine, filter)
    sleep = SleepWatch(engine.clock)
    credentials = FreshCredentials(
      engine.clock, patienceMs: engine.configuration.credentialWaitMs,
      ReadStop { [isStopAsked] in isStopAsked.withLock { $0 } }, notice: engine.observer.notice)
  }

  /// Takes a wish; for any thread.
  var takesWish: @Sendable (StopSignal.Wish) -> Void {
    { [mailbox, isStopAsked] wish in
      isStopAsked.withLock { $0 = true }
      mailbox.put(.stop(wish))
    }
  }

  func work(_ tell: (DoneUpload, QuestionEnd) -> Void) throws(TransferError) -> Int {
    defer {
      mailbox.close()
      credentials.end()
    }
    while true {
      try turn(tell)
      if running.isEmpty {
        if let fatal { throw fatal }
        if stopped != nil { return try left() }
        if !hasMore, hosts.values.allSatisfy({ $0.waiting == 0 }) { return 0 }
      }
      for event in mailbox.take(timeoutMs: waitMs()) ?? [] { handle(event, tell) }
    }
  }

  private func left() throws(TransferError) -> Int {
    let counts = try engine.ledger.read { try $0.doneUploadCounts(filter) }
    return max(0, counts.standing - told)
  }

  private func handle(_ event: Event, _ tell: (DoneUpload, QuestionEnd) -> Void) {
    switch event {
    case .begun(let number, let result): begun(number, result)
    case .credential(let number, let answer): send(number, answer)
    case .replied(let number, let reply): replied(number, reply)
    case .ended(let number, let result): ended(number, result, tell)
    case .heartbeat(.success(.applied)): break
    case .heartbeat(.success(.lost)):
      fail(
        TransferError(
          .leaseLost, "keep the lease of run", NameBytes(engine.run.description), cause: "another engine took over",
          remedy: "what was found is recorded"))
    case .heartbeat(.failure(let error)): fail(error)
    case .stop(let wish):
      stopped = wish
      if wish == .now { cancel() }
    }
  }

  private func fail(_ error: TransferError) {
    if fatal == nil { fatal = error }
    isStopAsked.withLock { $0 = true }
    cancel()
  }

  private func cancel() {
    for (number, question) in running {
      question.target.resolved?.transport.cancel(ExchangeID(rawValue: number))
    }
  }

  private var isOver: Bool { stopped != nil || fatal != nil }

  // MARK: - What is asked

  private func turn(_ tell: (DoneUpload, QuestionEnd) -> Void) throws(TransferError) {
    while mayRead { try readPage() }
    for host in hosts.values { askNext(of: host) }
    for (file, end) in concluded { told(file, end, tell) }
    concluded = []
    beatIfDue()
  }

  private var mayRead: Bool {
    !isOver && hasMore && running.count + hosts.values.reduce(0, { $0 + $1.waiting }) <= Self.window - Self.page
  }

  private func told(_ file: DoneUpload, _ end: QuestionEnd, _ tell: (DoneUpload, QuestionEnd) -> Void) {
    told += 1
    tell(file, end)
  }

  private func readPage() throws(TransferError) {
    let files = try engine.ledger.read { try $0.doneUploads(filter, after: last, limit: Self.page) }
    hasMore = files.count == Self.page
    for file in files {
      last = file.id.rawValue
      let target = try target(of: file.batch)
      target.host.add(Question(file, target), nowMs: engine.bootMs)
    }
  }

  private func target(of batch: BatchID) throws(TransferError) -> QuestionTarget {
    if let known = targets[batch] { return known }
    guard let settings = try engine.ledger.read({ try $0.batchSettings(batch) }) else {
      throw TransferError(
        .bug, "read the settings of batch", NameBytes(batch.description), cause: "the row is missing",
        remedy: "run \"transfers store check\"")
    }
    let target: QuestionTarget
    do throws(TransferError) {
      let resolved = try engine.resolver.resolve(settings)
      target = QuestionTarget(resolved, host(resolved.host))
    } catch {
      target = QuestionTarget(refused: error, host(""))
    }
    targets[batch] = target
    return target
  }

  private func host(_ name: String) -> QuestionHost {
    if let known = hosts[name] { return known }
    let host = QuestionHost(HostGate(engine.concurrency(name, workers: engine.configuration.workers)))
    hosts[name] = host
    return host
  }

  private func askNext(of host: QuestionHost) {
    if host.gate.opensInARow >= engine.configuration.breakerOpensBeforeGivingUp {
      for question in host.takeAll() { concluded.append((question.file, .untold("its host takes no connections"))) }
    }
    while !isOver, running.count < engine.configuration.workers, let question = host.take(nowMs: engine.bootMs) {
      ask(question)
    }
    if isOver { _ = host.takeAll() }
  }

  private func ask(_ question: Question) {
    guard let step = step(question) else { return }
    question.step = step
    let number = numbers.next()
    running[number] = question
    question.target.host.gate.started(number, nowMs: engine.bootMs)
    let (run, mailbox, file) = (engine.run, mailbox, question.file.id)
    engine.ledger.write(
      { tx in try tx.beginQuestion(file, run, step.operation) }, then: { mailbox.put(.begun(number, $0)) })
  }

  /// nil for a file that need not, or cannot, be asked about: then it is concluded.
  private func step(_ question: Question) -> StepRequest? {
    let target = question.target
    if question.file.isMerged {
      concluded.append((question.file, .untold("another ledger recorded it: ask there")))
    } else if let refusal = target.refusal {
      concluded.append((question.file, .untold(refusal)))
    } else if let step = target.resolved?.transferProtocol.laterQuestions?.question(about: question.object) {
      return step
    } else {
      let name = target.resolved?.transferProtocol.name ?? ""
      concluded.append((question.file, .untold("\(name) cannot ask about it, or what it would ask with was pruned")))
    }
    return nil
  }

  // MARK: - Requests

  private func begun(_ number: Question.Number, _ result: Result<AttemptID, TransferError>) {
    guard let question = running[number] else { return }
    switch result {
    case .failure(let error):
      release(number, .interrupted)
      fail(error)
    case .success(let attempt):
      question.attempt = attempt
      guard let resolved = question.target.resolved, !isOver else { return interrupt(number, question) }
      let mailbox = mailbox
      credentials.get(from: resolved.credentials) { mailbox.put(.credential(number, $0)) }
    }
  }

  private func send(_ number: Question.Number, _ answer: FreshCredentials.Answer) {
    guard let question = running[number] else { return }
    if isOver { return interrupt(number, question) }
    do throws(Failure) { try send(number, question, try answer.get()) } catch {
      conclude(number, question, .init(failure: error), nil)
    }
  }

  private func send(
    _ number: Question.Number, _ question: Question, _ credential: Credential?
  ) throws(Failure) {
    guard let resolved = question.target.resolved, let asks = resolved.transferProtocol.laterQuestions else { return }
    let context = RequestContext(
      wallMs: engine.civilMs, credential: credential, learned: question.target.learned, failures: question.failures)
    question.context = context
    var request = try asks.request(question.step, about: question.object, context)
    request.credentialLabel = resolved.credentials.label
    let mailbox = mailbox
    resolved.transport.start(ExchangeID(rawValue: number), request) { mailbox.put(.replied(number, $0)) }
  }

  private func replied(_ number: Question.Number, _ reply: TransferReply) {
    guard let question = running[number], let context = question.context,
      let asks = question.target.resolved?.transferProtocol.laterQuestions
    else { return }
    if reply.isCancelled && !reply.isAnswered { return interrupt(number, question) }
    let object = question.object
    let mask = SecretMask(context.credential, [context.learned], capabilities: object.facts.capabilities(nil))
    // The answer that brings new secrets is read as it came, and nothing of it is kept.
    let bringsSecrets = question.step == .discover && reply.status < 300
    let masked = mask.applied(to: reply)
    let answer = asks.answer(bringsSecrets ? reply : masked, to: question.step, about: object, context)
    if let learned = answer.learned { question.target.learned = learned }
    var kept = masked
    if bringsSecrets { kept.body = [] }
    conclude(number, question, answer, kept)
  }

  private func conclude(
    _ number: Question.Number, _ question: Question, _ answer: ObjectAnswer, _ reply: TransferReply?
  ) {
    let meaning = answer.meaning
    release(number, reply.map { HostGate.Outcome($0, meaning) } ?? .interrupted)
    var result = AttemptResult(outcome: .ok)
    var found: RemoteFinding?
    var end: QuestionEnd?
    switch answer.outcome {
    case .settled: break
    case .finding(let finding) where finding.verdict == .differs && question.file.isBeingReplaced:
      end = .untold("a newer version was begun: \(finding.detail)")
    case .finding(let finding): (found, end) = (finding, .found(finding))
    case .untold(let text): end = .untold(text)
    case .failed(let failure, let remedy): end = failed(question, failure, remedy, &result, reply)
    }
    if case .failed = answer.outcome {} else { question.target.ended(nil) }
    if let reply { result.fill(from: reply) }
    result.bytesTransferred = 0
    if result.message == nil, let end { result.message = end.message }
    close(number, question, result, found, end)
  }

  private func failed(
    _ question: Question, _ failure: Failure, _ remedy: Remedy, _ result: inout AttemptResult, _ reply: TransferReply?
  ) -> QuestionEnd? {
    var budgetMs: Int64 = 0
    if case .retry(let isThrottled) = remedy {
      budgetMs = question.target.host.gate.chargeRetry(isThrottled: isThrottled)
    }
    let nowMs = engine.bootMs
    let turn = question.failed(failure, remedy, engine.configuration.retry, budgetMs: budgetMs, nowMs: nowMs)
    var retry = RetryDecision(notBeforeMs: engine.wallMs, isExhausted: true)
    if case .again(let wait) = turn {
      retry = RetryDecision(notBeforeMs: engine.wallMs + wait, isExhausted: false)
    }
    result = AttemptResult(Interpretation(.failed(failure, remedy)), reply, retry, wallMs: engine.wallMs)
    guard case .givenUp = turn else { return nil }
    question.target.ended(failure)
    return .untold(failure.message)
  }

  private func interrupt(_ number: Question.Number, _ question: Question) {
    release(number, .interrupted)
    close(number, question, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil, nil)
  }

  /// The host may be asked for something else.
  private func release(_ number: Question.Number, _ outcome: HostGate.Outcome) {
    guard let question = running[number] else { return }
    question.target.host.gate.ended(number, outcome, nowMs: engine.bootMs)
    if question.attempt == nil { running[number] = nil }
  }

  private func close(
    _ number: Question.Number, _ question: Question, _ result: AttemptResult, _ found: RemoteFinding?,
    _ end: QuestionEnd?
  ) {
    guard let attempt = question.attempt else { return }
    ends[number] = .some(end)
    let (run, mailbox, file) = (engine.run, mailbox, question.file.id)
    engine.ledger.write(
      { tx in try tx.endQuestion(attempt, of: file, run, result, found) },
      then: { mailbox.put(.ended(number, $0)) })
  }

  private func ended(
    _ number: Question.Number, _ result: Result<Bool, TransferError>, _ tell: (DoneUpload, QuestionEnd) -> Void
  ) {
    guard let question = running.removeValue(forKey: number), let end = ends.removeValue(forKey: number) else { return }
    question.attempt = nil
    switch result {
    case .failure(let error): fail(error)
    case .success(let counts):
      if let end { return told(question.file, counts ? end : .replaced, tell) }
      if !isOver { question.target.host.add(question, nowMs: engine.bootMs) }
    }
  }

  // MARK: - Time

  private func beatIfDue() {
    guard engine.bootMs >= nextBeatMs else { return }
    nextBeatMs = engine.bootMs + Self.beatEveryMs
    let (run, mailbox) = (engine.run, mailbox)
    let (civilMs, bootMs, processorMs) = (engine.civilMs, engine.bootMs, engine.clock.processorMs)
    let slept = sleep.look(engine.clock)
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
    let waits = hosts.values.compactMap { $0.waitMs(nowMs: nowMs) }
    return max(1, min(1_000, nextBeatMs - nowMs, waits.min() ?? 1_000))
  }
}

extension ObjectAnswer {
  /// The request could not be made.
  fileprivate init(failure: Failure) { self.init(Outcome.failed(failure, .permanent)) }

  /// As far as the host is concerned.
  fileprivate var meaning: Interpretation {
    if case .failed(let failure, let remedy) = outcome { return Interpretation(.failed(failure, remedy)) }
    return .settled
  }
}

extension QuestionEnd {
  /// For the record of the attempt; nil where there is nothing to say.
  fileprivate var message: String? {
    switch self {
    case .found(let finding): finding.detail.isEmpty ? nil : finding.detail
    case .untold(let text): text
    case .replaced: nil
    }
  }
}
