import TransferLedger
import TransferModel
import TransferProtocols

/// Queries the results of finishing requests whose answers are overdue, while they are still running: the answer may
/// have been lost although the connection shows no error. The finding only decides whether to keep waiting. The request
/// itself is neither repeated nor ended before the server has shown that it has the file. Used by the engine's thread.
final class Inquiries {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let files: FilesInWork
  private let requests: Requests
  /// Finishing requests that were sent and are not answered.
  private var awaited: Set<PendingRequest.ID> = []

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, files: FilesInWork, requests: Requests) {
    (self.engine, self.mailbox, self.stop) = (engine, mailbox, stop)
    (self.files, self.requests) = (files, requests)
  }

  /// A request was sent: if it finishes its file, its result may be queried later.
  func sent(_ pending: PendingRequest) {
    guard pending.step.step == .finish || pending.step.step == .save else { return }
    pending.inquiry = Inquiry(everyMs: engine.configuration.askAfterMs, nowMs: engine.bootMs)
    awaited.insert(pending.id)
  }

  /// Sends queries for requests that have been unanswered for long.
  func askDue() {
    for id in awaited {
      guard let pending = requests[id], let inquiry = pending.inquiry, pending.phase == .sending else {
        awaited.remove(id)
        continue
      }
      if inquiry.isDue(nowMs: engine.bootMs), !stop.isStopping { ask(about: pending) }
    }
  }

  private func ask(about pending: PendingRequest) {
    guard let work = files[pending.file], work.refusal == nil, work.machine.ending == nil else { return }
    work.machine.facts.learned = work.destination.learned
    guard let step = work.machine.question(beside: pending.step.step, work.destination.resolved.transferProtocol) else {
      awaited.remove(pending.id)
      return
    }
    pending.inquiry?.ask()
    var unit = FileUnit(file: pending.file, session: work.machine.sessionID)
    unit.begin = .question(step, beside: pending.id)
    files.enqueue(unit, work)
  }

  /// The request that the query is about has been answered.
  func isMoot(_ pending: PendingRequest) -> Bool { pending.beside.map { requests[$0]?.inquiry?.held != nil } ?? false }

  /// A query was answered, or failed.
  func ended(_ id: PendingRequest.ID, _ result: AttemptResult, isFound: Bool = false) {
    guard let (pending, _) = requests.end(id), let asked = pending.beside else { return }
    var result = result
    result.bytesTransferred = 0
    files.advance(pending.file, ended: EndedAttempt(attempt: pending.step.attempt, result: result))
    guard let waiting = requests[asked], waiting.inquiry != nil else { return }
    if let held = waiting.inquiry?.end(isFound: isFound, nowMs: engine.bootMs) {
      // The held reply is processed as if it arrived now.
      mailbox.put(.replied(asked, held))
    } else if isFound {
      waiting.cancel()
    }
  }
}

extension FileMachine {
  /// The query for a finishing step without an answer; nil for none. It only examines the result of the step, because a
  /// query about the session may end the running request on some servers.
  func question(beside step: StepRequest, _ proto: ProtocolInUse) -> StepRequest? {
    var asked = facts
    (asked.lostAnswer, asked.isAbsent) = (step.operation, false)
    // The server may only be slow: an older version of the same size must not be mistaken for the result.
    guard abilities.verifiesContent, case .control(.verify) = proto.nextStep(asked) else { return nil }
    return .verify
  }
}
