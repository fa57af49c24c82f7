import TransferLedger
import TransferModel
import TransferProtocols

/// The running queries. Each has an attempt, which is durable before the request is sent and is closed in the
/// transaction that records the finding. Used by one thread; results from other threads are posted as an ``Event``.
final class QuestionRequests {
  enum Event: Sendable {
    case begun(Question.Number, Result<AttemptID, TransferError>)
    case credential(Question.Number, FreshCredentials.Answer)
    case replied(Question.Number, TransferReply)
    case ended(Question.Number, Result<Bool, TransferError>)
  }

  /// The meaning of an event for the file.
  enum Progress {
    case underWay
    /// The answer was inconclusive: the query is to be repeated when it is due.
    case unanswered(Question)
    /// The end of the query is durable.
    case ended(Question, QuestionEnd)
  }

  private let engine: Engine
  private let numbers = RequestNumbers()
  private let credentials: FreshCredentials
  /// Posts an event to the mailbox of the loop; callable from any thread.
  private let report: @Sendable (Event) -> Void
  private var running: [Question.Number: Question] = [:]
  /// The result of a query for its file, until it is durable; nil if the query is to be repeated.
  private var ends: [Question.Number: QuestionEnd?] = [:]
  /// No more requests are sent.
  private var isClosed = false

  init(_ engine: Engine, _ stop: ReadStop, report: @escaping @Sendable (Event) -> Void) {
    (self.engine, self.report) = (engine, report)
    credentials = FreshCredentials(
      engine.clock, patienceMs: engine.configuration.credentialWaitMs, stop, notice: engine.observer.notice)
  }

  var count: Int { running.count }

  /// Records the attempt of a query; the request is sent when the attempt is durable.
  func begin(_ question: Question, _ step: StepRequest) {
    question.step = step
    let number = numbers.next()
    running[number] = question
    question.target.host.gate.started(number, nowMs: engine.bootMs)
    let (run, report, file) = (engine.run, report, question.file.id)
    engine.ledger.write({ tx in try tx.beginQuestion(file, run, step.operation) }, then: { report(.begun(number, $0)) })
  }

  /// Stops sending; requests that were sent may end.
  func close() { isClosed = true }

  /// Cancels the requests that were sent.
  func cancel() {
    for (number, question) in running {
      question.target.resolved?.transport.cancel(ExchangeID(rawValue: number))
    }
  }

  /// The machine slept: ends the requests that were sent, to be repeated at once. A query changes nothing. Neither does
  /// a query wait any longer whose failure is being recorded.
  func endBySleep() {
    for question in running.values {
      question.slept()
      if question.isSent { question.endsBySleep = true }
    }
    cancel()
  }

  /// Ends the threads that obtain credentials.
  func end() { credentials.end() }

  /// - Throws: the error of the ledger if it refused a change: no further request can be recorded.
  func handle(_ event: Event) throws(TransferError) -> Progress {
    switch event {
    case .begun(let number, let result): try begun(number, result)
    case .credential(let number, let answer): send(number, answer)
    case .replied(let number, let reply): replied(number, reply)
    case .ended(let number, let result): return try ended(number, result)
    }
    return .underWay
  }

  private func begun(
    _ number: Question.Number, _ result: Result<AttemptID, TransferError>
  ) throws(TransferError) {
    guard let question = running[number] else { return }
    switch result {
    case .failure(let error):
      release(number, .interrupted)
      throw error
    case .success(let attempt):
      question.attempt = attempt
      guard let resolved = question.target.resolved, !isClosed else { return interrupt(number, question) }
      let report = report
      credentials.get(from: resolved.credentials) { report(.credential(number, $0)) }
    }
  }

  private func send(_ number: Question.Number, _ answer: FreshCredentials.Answer) {
    guard let question = running[number] else { return }
    if isClosed { return interrupt(number, question) }
    do throws(Failure) { try send(number, question, try answer.get()) } catch {
      // A stop was requested, but its event has not arrived yet.
      if error.code == .engineInterrupted { return interrupt(number, question) }
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
    let report = report
    question.isSent = true
    resolved.transport.start(ExchangeID(rawValue: number), request) { report(.replied(number, $0)) }
  }

  private func replied(_ number: Question.Number, _ reply: TransferReply) {
    guard let question = running[number], let context = question.context,
      let asks = question.target.resolved?.transferProtocol.laterQuestions
    else { return }
    let endsBySleep = question.endsBySleep && (!reply.isAnswered || reply.curlCode != 0)
    (question.isSent, question.endsBySleep) = (false, false)
    if endsBySleep { return interrupt(number, question, .engineSlept) }
    if reply.isCancelled && !reply.isAnswered { return interrupt(number, question) }
    let object = question.object
    let mask = SecretMask(context.credential, [context.learned], capabilities: object.facts.capabilities(nil))
    // An answer with new secrets is parsed unmasked, and nothing of it is stored.
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
    release(number, reply.map { HostGate.Outcome($0, meaning, wallMs: engine.civilMs) } ?? .interrupted)
    var result = AttemptResult(outcome: .ok)
    var found: RemoteFinding?
    var end: QuestionEnd?
    switch answer.outcome {
    case .settled: break
    case .finding(let finding) where finding.outcome == .differs && question.file.isBeingReplaced:
      end = .inconclusive("a newer version was begun: \(finding.detail)")
    case .finding(let finding): (found, end) = (finding, .found(finding))
    case .inconclusive(let text): end = .inconclusive(text)
    case .failed(let failure, let action): end = failed(question, failure, action, &result, reply)
    }
    if case .failed = answer.outcome {} else { question.target.ended(nil) }
    if let reply { result.fill(from: reply) }
    result.bytesTransferred = 0
    if result.message == nil, let end { result.message = end.message }
    close(number, question, result, found, end)
  }

  private func failed(
    _ question: Question, _ failure: Failure, _ action: FailureAction, _ result: inout AttemptResult,
    _ reply: TransferReply?
  ) -> QuestionEnd? {
    var budgetMs: Int64 = 0
    if case .retry(let isThrottled) = action {
      budgetMs = question.target.host.gate.chargeRetry(isThrottled: isThrottled)
    }
    let nowMs = engine.bootMs
    let turn = question.failed(failure, action, engine.configuration.retry, budgetMs: budgetMs, nowMs: nowMs)
    var retry = RetryDecision(notBeforeMs: engine.wallMs, isExhausted: true)
    if case .again(let wait) = turn {
      retry = RetryDecision(notBeforeMs: engine.wallMs + wait, isExhausted: false)
    }
    result = AttemptResult(Interpretation(.failed(failure, action)), reply, retry, wallMs: engine.wallMs)
    guard case .givenUp = turn else { return nil }
    question.target.ended(failure)
    return .inconclusive(failure.message)
  }

  private func interrupt(
    _ number: Question.Number, _ question: Question, _ code: ErrorCode = .engineInterrupted
  ) {
    release(number, .interrupted)
    close(number, question, AttemptResult(outcome: .interrupted, code: code), nil, nil)
  }

  /// Frees the capacity of the host for another request.
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
    let (run, report, file) = (engine.run, report, question.file.id)
    engine.ledger.write(
      { tx in try tx.endQuestion(attempt, of: file, run, result, found) }, then: { report(.ended(number, $0)) })
  }

  private func ended(
    _ number: Question.Number, _ result: Result<Bool, TransferError>
  ) throws(TransferError) -> Progress {
    guard let question = running.removeValue(forKey: number), let end = ends.removeValue(forKey: number) else {
      return .underWay
    }
    question.attempt = nil
    let counts = try result.get()
    return end.map { .ended(question, counts ? $0 : .replaced) } ?? .unanswered(question)
  }
}

extension ObjectAnswer {
  /// For a request that could not be made.
  fileprivate init(failure: Failure) { self.init(Outcome.failed(failure, .permanent)) }

  /// The meaning for the host.
  fileprivate var meaning: Interpretation {
    if case .failed(let failure, let action) = outcome { return Interpretation(.failed(failure, action)) }
    return .settled
  }
}

extension QuestionEnd {
  /// For the attempt row; nil if there is nothing to record.
  fileprivate var message: String? {
    switch self {
    case .found(let finding): finding.detail.isEmpty ? nil : finding.detail
    case .inconclusive(let text): text
    case .replaced: nil
    }
  }
}
