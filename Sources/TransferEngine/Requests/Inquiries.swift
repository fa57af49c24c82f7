import TransferLedger
import TransferModel
import TransferProtocols

/// Asks about last requests whose answers do not come, while they are still awaited: the answer may have been lost on
/// the way, and its connection does not say so. What is found decides only whether it is waited for any longer. The
/// request itself is neither repeated nor ended before the server has shown that the file is there. Used by the
/// engine's thread.
final class Inquiries {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let files: FilesInWork
  private let requests: Requests
  /// Requests that end their files, at their servers now.
  private var awaited: Set<Job.ID> = []

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, files: FilesInWork, requests: Requests) {
    (self.engine, self.mailbox, self.stop) = (engine, mailbox, stop)
    (self.files, self.requests) = (files, requests)
  }

  /// A request went out: one that ends its file may be asked about later.
  func sent(_ job: Job) {
    guard job.step.step == .finish || job.step.step == .save else { return }
    job.inquiry = Inquiry(everyMs: engine.configuration.askAfterMs, nowMs: engine.bootMs)
    awaited.insert(job.id)
  }

  /// Asks about those that have been awaited for long.
  func askDue() {
    for id in awaited {
      guard let job = requests[id], let inquiry = job.inquiry, job.phase == .sending else {
        awaited.remove(id)
        continue
      }
      if inquiry.isDue(nowMs: engine.bootMs), !stop.isStopping { ask(about: job) }
    }
  }

  private func ask(about job: Job) {
    guard let work = files[job.file], work.refusal == nil, work.machine.ending == nil else { return }
    work.machine.facts.learned = work.destination.learned
    guard let step = work.machine.question(beside: job.step.step, work.destination.resolved.transferProtocol) else {
      awaited.remove(job.id)
      return
    }
    job.inquiry?.ask()
    var unit = FileUnit(file: job.file, session: work.machine.sessionID)
    unit.begin = .question(step, beside: job.id)
    files.enqueue(unit, work)
  }

  /// What is asked is answered already.
  func isMoot(_ job: Job) -> Bool { job.beside.map { requests[$0]?.inquiry?.held != nil } ?? false }

  /// A question was answered, or came to nothing.
  func ended(_ id: Job.ID, _ result: AttemptResult, isFound: Bool = false) {
    guard let (job, _) = requests.end(id), let asked = job.beside else { return }
    var result = result
    result.bytesTransferred = 0
    files.advance(job.file, ended: EndedAttempt(attempt: job.step.attempt, result: result))
    guard let waiting = requests[asked], waiting.inquiry != nil else { return }
    if let held = waiting.inquiry?.end(isFound: isFound, nowMs: engine.bootMs) {
      // As if it came only now.
      mailbox.put(.replied(asked, held))
    } else if isFound {
      waiting.cancel()
    }
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
