import TransferLedger
import TransferModel
import TransferProtocols

/// Reports the progress of the run to the observer. Used by the engine's thread.
final class ProgressReporter {
  private let engine: Engine
  private let rate: RunRate
  private let mailbox: Mailbox<EngineEvent>
  private let tally: RunTally
  private let hosts: Hosts
  private let batches: Batches
  private let commits: Commits
  private let files: FilesInWork
  private let requests: Requests

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, rate: RunRate, tally: RunTally, hosts: Hosts, batches: Batches,
    commits: Commits, files: FilesInWork, requests: Requests
  ) {
    (self.engine, self.mailbox, self.rate, self.tally, self.hosts) = (engine, mailbox, rate, tally, hosts)
    (self.batches, self.commits, self.files, self.requests) = (batches, commits, files, requests)
  }

  /// Reports progress if a report is due.
  func report(force: Bool) {
    guard let tell = engine.observer.progress, tally.takesReport(force: force) else { return }
    if tally.takesCount() { countAgain() }
    var snapshot = tally.snapshot(
      views(), counters: requests.bytesInFlight(), sending: hosts.scheduler.sendingCount,
      waiting: files.waitingCount, rateLimit: rateLimit)
    if files.listings > 0 { snapshot.totalIsKnown = false }
    tell(snapshot)
  }

  /// The count is done by the writer, after all earlier writes of this run, so that no file is counted twice.
  private func countAgain() {
    commits.writeGathered()
    let mailbox = mailbox
    engine.ledger.write({ tx in try tx.workSize() }, then: { mailbox.put(.counted($0)) })
  }

  /// The limit of all active batches together: batches may have their own rates.
  private var rateLimit: Int64? {
    var sum: Int64 = 0
    for destination in batches.all where destination.files > 0 {
      guard let own = destination.rate else { return rate.bytesPerSecond }
      let (more, overflows) = sum.addingReportingOverflow(own)
      sum = overflows ? .max : more
    }
    return sum == 0 ? rate.bytesPerSecond : min(sum, rate.bytesPerSecond ?? sum)
  }

  /// The files with a running request, or in backoff.
  private func views() -> [ProgressTracker.View] {
    var views: [FileID: ProgressTracker.View] = [:]
    for (id, pending) in requests.all where pending.phase == .sending {
      guard let machine = files[pending.file]?.machine else { continue }
      var view = views[pending.file] ?? Self.view(machine)
      view.isBusy = true
      if let range = pending.range { view.sending.append((id, range.length)) }
      if pending.step.step.endsFile { view.finishingSinceMs = min(view.finishingSinceMs ?? .max, pending.sentMs) }
      views[pending.file] = view
    }
    for id in files.waiting where views[id] == nil {
      if let machine = files[id]?.machine { views[id] = Self.view(machine) }
    }
    return Array(views.values)
  }

  private static func view(_ machine: FileMachine) -> ProgressTracker.View {
    ProgressTracker.View(
      id: machine.claimed.id, path: machine.claimed.path, size: machine.facts.layout.size,
      bytesAcked: machine.bytesStored, dueMs: machine.backoffs.firstMs)
  }
}

extension StepRequest {
  /// All bytes are sent; only the server has work left.
  fileprivate var endsFile: Bool {
    switch self {
    case .finish, .save, .verify: true
    case .create, .probe, .chunk, .prepareChunk, .probeChunk, .discover, .abort, .makeParent: false
    }
  }
}
