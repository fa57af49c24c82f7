import TransferLedger
import TransferModel
import TransferProtocols

/// What people are told of the files in work.
extension EngineLoop {
  /// Tells where the run stands if it is time.
  func report(force: Bool) {
    guard let tell = engine.observer.progress, progress.takesReport(nowMs: bootMs, force: force) else { return }
    countAgainIfChanged()
    let standing = RunProgress.Standing(
      result: summary, views: views(), counters: counters(), sending: scheduler.sendingCount,
      waiting: waiting.reduce(0) { $0 + (works[$1]?.machine.waitingUntil.count ?? 0) }, rateLimit: rateLimit,
      elapsedMs: bootMs - startedMs)
    tell(progress.snapshot(standing, bootMs: bootMs, wallMs: wallMs))
  }

  /// The count goes through the writer, after everything that this run has told it, so that no file is counted twice.
  private func countAgainIfChanged() {
    guard progress.takesLook(nowMs: bootMs), let mark = try? engine.ledger.read({ reader in try reader.changeMark() }),
      progress.takesCount(mark, nowMs: bootMs)
    else { return }
    commitUnits()
    let mailbox = mailbox
    engine.ledger.write({ tx in try tx.workSize() }, then: { mailbox.put(.counted($0)) })
  }

  /// Of all that is in work together: batches may have rates of their own.
  private var rateLimit: Int64? {
    var sum: Int64 = 0
    for destination in destinations.all where destination.files > 0 {
      guard let rate = destination.rate else { return engine.configuration.rate }
      let (more, overflows) = sum.addingReportingOverflow(rate)
      sum = overflows ? .max : more
    }
    return sum == 0 ? engine.configuration.rate : min(sum, engine.configuration.rate ?? sum)
  }

  /// The files with a request that runs, or that wait for a backoff.
  private func views() -> [ProgressTracker.View] {
    var views: [FileID: ProgressTracker.View] = [:]
    for (id, job) in jobs where job.phase == .sending {
      guard let machine = works[job.file]?.machine else { continue }
      var view = views[job.file] ?? Self.view(machine)
      view.isBusy = true
      if let range = job.range { view.sending.append((id, range.length)) }
      if job.step.step.endsFile { view.finishingSinceMs = min(view.finishingSinceMs ?? .max, job.sentMs) }
      views[job.file] = view
    }
    for id in waiting where views[id] == nil {
      if let machine = works[id]?.machine { views[id] = Self.view(machine) }
    }
    return Array(views.values)
  }

  private static func view(_ machine: FileMachine) -> ProgressTracker.View {
    ProgressTracker.View(
      id: machine.claimed.id, path: machine.claimed.path, size: machine.facts.layout.size,
      bytesAcked: machine.bytesStored, dueMs: machine.waitingUntil.min())
  }

  /// Body bytes that are out of what runs.
  func counters() -> [JobID: Int64] {
    var counters: [JobID: Int64] = [:]
    for transport in destinations.transports {
      for (id, bytes) in transport.bytesInFlight() { counters[id.rawValue] = bytes }
    }
    return counters
  }

  func noteRetry(_ machine: FileMachine, _ code: ErrorCode, failures: Int, dueMs: Int64) {
    let limit = engine.configuration.retry.maxAttempts
    let phase = FileProgress.Phase.retrying(inMs: 0, code, number: min(failures + 1, limit), limit: limit)
    progress.retried(FileProgress(machine, phase, bytesAcked: machine.bytesStored), dueMs: dueMs)
  }

  /// A file has ended: done when there is no `code`. `held` is what the server has of it.
  func noteEnd(_ machine: FileMachine, _ code: ErrorCode?, held: Int64) {
    let acked = code == nil ? machine.facts.layout.size : held
    progress.ended(size: machine.facts.layout.size, bytesAcked: acked)
    if let code { progress.failed(FileProgress(machine, .failed(code), bytesAcked: acked), nowMs: bootMs) }
  }
}

extension FileProgress {
  fileprivate init(_ machine: FileMachine, _ phase: Phase, bytesAcked: Int64) {
    self.init(
      id: machine.claimed.id, path: machine.claimed.path, bytesTotal: machine.facts.layout.size,
      bytesAcked: bytesAcked, phase: phase)
  }
}

extension StepRequest {
  /// All bytes are there; what is left is the server's.
  fileprivate var endsFile: Bool {
    switch self {
    case .finish, .save, .verify: true
    case .create, .probe, .chunk, .prepareChunk, .probeChunk, .discover, .abort, .makeParent: false
    }
  }
}
