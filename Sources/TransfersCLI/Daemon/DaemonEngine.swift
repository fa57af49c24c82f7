import TransferModel
import Transfers

/// The engine that the daemon starts for files that are left. Sees the ledger change by its mark, and checks it now and
/// then even so: deadlines pass and engines crash without changing it. Used by the main thread.
final class DaemonEngine {
  /// Interval between checks of an unchanged ledger, in milliseconds.
  private static let lookMs: Int64 = 1_000

  private let ledger: OpenStore
  private let clock: any TransferClock
  private let reporter: DaemonReporter
  private let crew: DaemonCrew
  private let jobs: DaemonJobs
  private let folders: FolderLook
  private var demand = EngineDemand()
  private var seen: StoreMark?
  private var lookAtMs: Int64 = 0

  init(
    _ ledger: OpenStore, _ jobs: DaemonJobs, _ reporter: DaemonReporter, _ crew: DaemonCrew, _ clock: any TransferClock
  ) {
    (self.ledger, self.jobs, self.reporter, self.crew, self.clock) = (ledger, jobs, reporter, crew, clock)
    folders = FolderLook(ledger.path, clock)
  }

  /// Starts an engine if files are left for one, and jobs again whose files only they may send.
  /// - Parameter stepMs: when the caller comes again.
  func startIfNeeded(_ held: HeldConfig, stepMs: Int64) {
    setIdleAside()
    guard !crew.hasEngine else { return }
    guard let mark = reporter.attempt({ () throws(TransferError) in try ledger.changeMark() }) else { return }
    if let seen, mark != seen { demand.changed() }
    guard mark != seen || clock.bootMs >= lookAtMs else { return }
    (seen, lookAtMs) = (mark, clock.bootMs + Self.lookMs)
    let read = reporter.attempt { () throws(TransferError) in
      try ledger.read { try DaemonLook($0, held.config, self.clock) }
    }
    guard var look = read else { return }
    if look.engine == .settled, folders.findsWork() { look.engine = .left }
    jobs.startAgain(look.jobs, held)
    guard demand.isNeeded(look.engine, jobsRun: !crew.jobs.isEmpty, nowMs: clock.bootMs) else {
      // A job may be about to send the files.
      if look.engine == .left { lookAtMs = clock.bootMs + stepMs }
      return
    }
    start(held)
  }

  private func start(_ held: HeldConfig) {
    do throws(ChildFailure) {
      try crew.start(nil, ["run"] + DaemonCrew.terms(ledger), held)
      folders.taken()
    } catch {
      reporter.warn("start an engine: \(error.text)")
      ended()
    }
  }

  /// An engine whose run has ended is none any more, even if its process still waits for a callback.
  private func setIdleAside() {
    guard let pid = crew.enginePID,
      let run = reporter.attempt({ () throws(TransferError) in try ledger.read { try $0.engine(self.clock) } })?.run,
      run.endedMs != nil, run.pid == pid
    else { return }
    crew.setEngineAside()
    ended()
    skipOwnChanges()
  }

  func ended() { demand.ended(nowMs: clock.bootMs) }

  /// What a child wrote itself does not count as a change.
  func skipOwnChanges() {
    seen = reporter.attempt { () throws(TransferError) in try ledger.changeMark() } ?? seen
    lookAtMs = 0
  }

  /// Whether our engine has had no heartbeat for a minute.
  var isStuck: Bool {
    let engine = reporter.attempt { () throws(TransferError) in try ledger.read { try $0.engine(self.clock) } }
    guard let run = engine?.run, run.endedMs == nil, engine?.isAlive == false else { return false }
    return crew.has(Int64(run.pid))
  }
}
