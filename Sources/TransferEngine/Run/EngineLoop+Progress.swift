import TransferLedger
import TransferModel
import TransferProtocols

/// What the run tells people. Nothing of it is looked at between two reports, and nothing at all when nobody listens.
extension EngineLoop {
  struct Reporting: Sendable {
    var tracker = ProgressTracker()
    var totals = ProgressTotals()
    var nextMs: Int64 = 0
    /// nil when what the run itself did calls for a count.
    var mark: ChangeMark?
    var nextMarkMs: Int64 = 0
    /// When the running count was asked for; nil when none runs.
    var countAskedMs: Int64?
    var nextCountMs: Int64 = 0
  }

  /// A look at the mark costs next to nothing; a count reads all that is left, and may take one part in a hundred of the time.
  private static let markEveryMs: Int64 = 1_000
  private static let countShare: Int64 = 100

  /// The first count, before anything is claimed.
  func countAtStart() throws(TransferError) {
    guard engine.observer.progress != nil else { return }
    reporting.totals.askedForCount()
    let (size, mark) = try engine.ledger.read { reader in (try reader.workSize(), try reader.changeMark()) }
    reporting.totals.counted(size)
    reporting.mark = mark
  }

  /// Tells where the run stands if it is time.
  func report(force: Bool) {
    guard let tell = engine.observer.progress, force || bootMs >= reporting.nextMs else { return }
    reporting.nextMs = bootMs + engine.configuration.progressEveryMs
    countAgainIfChanged()
    tell(snapshot())
  }

  private func snapshot() -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    reporting.totals.fill(&snapshot)
    let views = views()
    let look = reporting.tracker.look(views, counters: counters(), bootMs: bootMs, wallMs: wallMs)
    snapshot.filesDone = summary.done
    snapshot.filesFailed = summary.failed
    snapshot.filesUnknown = summary.unknown
    snapshot.active = views.count
    snapshot.sending = scheduler.sendingCount
    snapshot.retrying = waiting.reduce(look.waitingOutside) { $0 + (works[$1]?.machine.waitingUntil.count ?? 0) }
    snapshot.bytesInFlight = look.bytesInFlight
    snapshot.waitingForServerMs = look.waitingForServerMs
    snapshot.rateLimit = rateLimit
    snapshot.elapsedMs = bootMs - startedMs
    snapshot.files = look.files
    return snapshot
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
    guard engine.observer.progress != nil else { return }
    let limit = engine.configuration.retry.maxAttempts
    let phase = FileProgress.Phase.retrying(inMs: 0, code, number: min(failures + 1, limit), limit: limit)
    reporting.tracker.noteRetry(FileProgress(machine, phase), dueMs: dueMs)
  }

  /// A file has ended: done when there is no `code`. `held` is what the server has of it.
  func noteEnd(_ machine: FileMachine, _ code: ErrorCode?, held: Int64) {
    let size = machine.facts.layout.size
    reporting.totals.ended(size: size, bytesAcked: code == nil ? size : held)
    guard let code, engine.observer.progress != nil else { return }
    reporting.tracker.noteFailure(FileProgress(machine, .failed(code)), atMs: bootMs)
  }
}

// MARK: - Changes by others

extension EngineLoop {
  /// Has the ledger count again when somebody added files or did something to them. The count goes through the writer, after
  /// everything that this run has told it, so that no file is counted twice.
  private func countAgainIfChanged() {
    guard bootMs >= reporting.nextMarkMs else { return }
    reporting.nextMarkMs = bootMs + Self.markEveryMs
    guard reporting.countAskedMs == nil, bootMs >= reporting.nextCountMs,
      let mark = try? engine.ledger.read({ reader in try reader.changeMark() }), mark != reporting.mark
    else { return }
    reporting.mark = mark
    commitUnits()
    reporting.countAskedMs = bootMs
    reporting.totals.askedForCount()
    let mailbox = mailbox
    engine.ledger.write({ tx in try tx.workSize() }, then: { mailbox.put(.counted($0)) })
  }

  /// A count that failed is left out: it is for display, and what is wrong with the ledger will be told by a transition.
  func counted(_ result: Result<WorkSize, TransferError>) {
    let took = bootMs - (reporting.countAskedMs ?? bootMs)
    reporting.countAskedMs = nil
    reporting.nextCountMs = bootMs + took * Self.countShare
    if case .success(let size) = result { reporting.totals.counted(size) }
  }
}

extension FileProgress {
  fileprivate init(_ machine: FileMachine, _ phase: Phase) {
    self.init(
      id: machine.claimed.id, path: machine.claimed.path, bytesTotal: machine.facts.layout.size,
      bytesAcked: machine.bytesStored, phase: phase)
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
