import TransferLedger
import TransferModel
import TransferProtocols

/// Looks up the names that servers give to uploads, before anything is opened under them. Owner of the
/// ``GivenUploads``. Used by the engine's thread.
final class UploadLookups {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let files: FilesInWork
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private var given = GivenUploads()

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, files: FilesInWork, requests: Requests,
    outcomes: RequestOutcomes
  ) {
    (self.engine, self.mailbox, self.stop) = (engine, mailbox, stop)
    (self.files, self.requests, self.outcomes) = (files, requests, outcomes)
  }

  /// Whether the answer names a new upload: it is then concluded after the lookup.
  func take(_ meaning: Interpretation, _ reply: TransferReply, of pending: PendingRequest, _ work: FileWork) -> Bool {
    guard let name = name(in: meaning, pending, work) else { return false }
    pending.phase = .answered
    ask(GivenUpload(request: pending.id, file: pending.file, name: name, place: .answer(meaning, reply)))
    return true
  }

  /// An interim answer to a running request named its session. A reply that arrives before the result of the lookup is
  /// held until then.
  func hear(_ session: OpenedSession, _ pending: PendingRequest, _ work: FileWork) {
    guard !pending.isNaming, work.machine.facts.session?.remoteID == nil else { return }
    let step = pending.step.step
    let named = work.destination.resolved.transferProtocol.uploadName(
      .opened(session), to: step, work.machine.facts)
    guard let name = named else { return open(session, pending, work) }
    pending.isNaming = true
    ask(GivenUpload(request: pending.id, file: pending.file, name: name, place: .interim(session)))
  }

  private func name(in meaning: Interpretation, _ pending: PendingRequest, _ work: FileWork) -> UploadName? {
    work.destination.resolved.transferProtocol.uploadName(meaning, to: pending.step.step, work.machine.facts)
  }

  private func ask(_ upload: GivenUpload) {
    let mailbox = mailbox
    upload.askWhetherItIsTaken(engine.ledger) { mailbox.put(.lookedUp($0, upload)) }
  }

  /// The name was looked up. Another upload may have got it since.
  func lookedUp(_ result: Result<Bool, TransferError>, _ upload: GivenUpload) {
    guard let pending = requests[upload.request], let work = files[upload.file] else { return }
    if case .failure(let error) = result { stop.fail(error) }
    let isTaken = (try? result.get()).map { $0 || !given.take(upload.name, work) { files[$0] != nil } }
    switch upload.place {
    case .answer(let meaning, let reply):
      guard let isTaken else { return outcomes.interrupt(pending.id, reply) }
      outcomes.conclude(pending.id, isTaken ? upload.refusal : meaning, reply: reply, identityNow: pending.identityNow)
    case .interim(let session):
      pending.isNaming = false
      // The final answer may say what became of the body, without the session.
      if isTaken == false, work.refusal == nil { open(session, pending, work) }
      guard let reply = pending.heldReply else { return }
      pending.heldReply = nil
      mailbox.put(.replied(pending.id, reply))
    }
  }

  /// The name of the session becomes durable at once.
  private func open(_ session: OpenedSession, _ pending: PendingRequest, _ work: FileWork) {
    let changes = work.machine.heard(pending.step, session, work.destination.resolved.transferProtocol)
    if !changes.isEmpty { files.advance(pending.file, changes: changes) }
  }
}
