import TransferLedger
import TransferModel
import TransferProtocols

/// A last request whose answer does not come is asked about while it is still awaited: the answer may have been lost on
/// the way, and its connection does not say so. What is found decides only whether it is waited for any longer. The
/// request itself is neither repeated nor ended before the server has shown that the file is there.
extension EngineLoop {
  /// Of a request that ends a file: when the server is asked about it, and how the asking stands.
  struct Inquiry {
    var dueMs: Int64
    /// Doubled with each question.
    var intervalMs: Int64
    var isAsking = false
    /// The question, once it is begun.
    var question: JobID?
    /// The answer that came while the question ran.
    var held: TransferReply?
    /// The question found the file.
    var isFound = false
  }

  /// A request went out: one that ends its file may be asked about later.
  func awaitEnd(_ id: JobID, _ job: Job) {
    guard job.step.step == .finish || job.step.step == .save else { return }
    let interval = engine.configuration.askAfterMs
    job.inquiry = Inquiry(dueMs: bootMs + interval, intervalMs: interval)
    awaited.insert(id)
  }

  /// Asks about those that have been awaited for long.
  func askBeside() {
    for id in awaited {
      guard let job = jobs[id], let inquiry = job.inquiry, job.phase == .sending else {
        awaited.remove(id)
        continue
      }
      if bootMs >= inquiry.dueMs, !inquiry.isAsking, inquiry.held == nil, !inquiry.isFound, !isStopping {
        ask(about: id, job)
      }
    }
  }

  private func ask(about id: JobID, _ job: Job) {
    guard let work = files[job.file], work.refusal == nil, work.machine.ending == nil else { return }
    work.machine.facts.learned = work.destination.learned
    guard let step = work.machine.question(beside: job.step.step, work.destination.resolved.transferProtocol) else {
      awaited.remove(id)
      return
    }
    job.inquiry?.isAsking = true
    var unit = FileUnit(file: job.file, session: work.machine.sessionID)
    unit.begin = .question(step, beside: id)
    files.enqueue(unit, work)
  }

  /// Whether the reply has to wait: the file may leave the engine with it, and no attempt may be open then.
  func waitsForQuestion(_ job: Job, _ reply: TransferReply) -> Bool {
    guard let inquiry = job.inquiry, inquiry.isAsking else { return false }
    job.inquiry?.held = reply
    if let question = inquiry.question { callOff(question, of: job) }
    return true
  }

  private func callOff(_ question: JobID, of job: Job) {
    guard let asking = jobs[question] else { return }
    switch asking.phase {
    case .sending: job.destination.resolved.transport.cancel(ExchangeID(rawValue: question))
    case .ready: for id in hosts.takeReady(where: { $0 == question }) { interrupt(id, nil) }
    case .preparing, .answered: break
    }
  }

  /// What is asked is answered already.
  func isMoot(_ job: Job) -> Bool { job.beside.map { jobs[$0]?.inquiry?.held != nil } ?? false }

  /// A question was answered, or came to nothing.
  func questionEnded(_ id: JobID, _ job: Job, _ meaning: Interpretation, _ reply: TransferReply?) {
    let now = RetryDecision(notBeforeMs: wallMs, isExhausted: false)
    var result = AttemptResult(meaning, reply, now, wallMs: wallMs)
    // It fails nothing.
    if result.outcome == .fatal || result.outcome == .unknown { result.outcome = .retry }
    let isFound = if case .finished = meaning.outcome { true } else { false }
    endQuestion(id, job, result, isFound: isFound)
  }

  func endQuestion(_ id: JobID, _ job: Job, _ result: AttemptResult, isFound: Bool = false) {
    guard jobs.removeValue(forKey: id) != nil, let work = files[job.file], let asked = job.beside else { return }
    work.jobs.remove(id)
    work.destination.requests -= 1
    var result = result
    result.bytesTransferred = 0
    files.advance(job.file, ended: EndedAttempt(attempt: job.step.attempt, result: result))
    guard let waiting = jobs[asked], var inquiry = waiting.inquiry else { return }
    let held = inquiry.held
    inquiry.intervalMs *= 2
    inquiry.dueMs = bootMs + inquiry.intervalMs
    (inquiry.isAsking, inquiry.question, inquiry.held, inquiry.isFound) = (false, nil, nil, isFound)
    waiting.inquiry = inquiry
    if let held { return replied(asked, held) }
    if isFound { waiting.destination.resolved.transport.cancel(ExchangeID(rawValue: asked)) }
  }
}

extension Job {
  /// We ended the request because the file is there: its answer is lost, and the protocol asks as after any lost
  /// answer.
  func lostAnswer(_ reply: TransferReply) -> TransferReply {
    guard inquiry?.isFound == true, reply.isCancelled, !reply.isAnswered else { return reply }
    var lost = reply
    lost.isCancelled = false
    lost.curlCode = 28
    lost.curlMessage = "no answer came, and the file was found at the server"
    return lost
  }
}

extension FileMachine {
  /// What the server can be asked about a last step whose answer has not come; nil for nothing. Only a look at what the
  /// step makes: a question about the session may end the request at some servers.
  func question(beside step: StepRequest, _ proto: ProtocolInUse) -> StepRequest? {
    var asked = facts
    (asked.lostAnswer, asked.isAbsent) = (step.operation, false)
    // The server is only slow as yet: an older version of the same size must not be taken for what it is making.
    guard abilities.verifiesContent, case .control(.verify) = proto.nextStep(asked) else { return nil }
    return .verify
  }
}
