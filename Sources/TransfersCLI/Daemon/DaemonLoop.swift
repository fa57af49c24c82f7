import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The loop of the daemon, on the main thread: four times a second it checks which children have ended, which jobs are
/// due, and whether the ledger has changed. It transfers nothing itself, so that it neither grows nor hangs.
final class DaemonLoop {
  private static let stepMs: Int64 = 250

  private struct Requests {
    var stops = 0
    var signal: Int32 = 0
    var reload = false
  }

  private let ledger: OpenStore
  private let common: CommonOptions
  private let context: Context
  private let reporter: DaemonReporter
  private let crew: DaemonCrew
  private let requests = Lock(Requests())
  private var config: DaemonConfig
  private let reloads: ConfigReload
  private let jobs: DaemonJobs
  private let engine: DaemonEngine
  /// The number of stop requests that were passed on to the children.
  private var stops = 0

  init(
    _ ledger: OpenStore, _ watched: WatchOption, _ common: CommonOptions, _ context: Context
  ) throws(CommandFailure) {
    (self.ledger, self.common, self.context) = (ledger, common, context)
    reporter = DaemonReporter(context, isQuiet: common.quiet)
    let read = { @Sendable [store = ledger.path] () throws(CommandFailure) -> DaemonConfig in
      try DaemonConfig(watched, common, context, store: store)
    }
    reloads = ConfigReload(read)
    config = try read()
    crew = try DaemonCrew()
    jobs = DaemonJobs(ledger, reporter, crew, context)
    engine = DaemonEngine(ledger, jobs, reporter, crew, context.clock)
  }

  /// Runs until a stop is requested and all children have ended.
  func run() throws(CommandFailure) {
    context.signals?.handle { [requests] signal, count in
      requests.withLock { ($0.stops, $0.signal) = (count, signal) }
      return true
    }
    context.signals?.reload { [requests] in requests.withLock { $0.reload = true } }
    jobs.configure(config)
    reporter.notice.ready(status)
    reporter.say("ready: \(status)")
    while true {
      let now = requests.withLock { requests in
        defer { requests.reload = false }
        return requests
      }
      reap()
      if now.stops > stops { stop(now.signal, now.stops) }
      if stops > 0, crew.isEmpty { return try conclude(now.signal) }
      if stops == 0 {
        if now.reload {
          reporter.notice.reloading()
          reloads.begin()
        }
        if let read = reloads.take() { reload(read) }
        jobs.startDue(config.held)
        engine.startIfNeeded(config.held, stepMs: Self.stepMs)
        reporter.tell(status)
      }
      reporter.petWatchdog(stepMs: Self.stepMs) { !engine.isStuck }
      usleep(useconds_t(Self.stepMs * 1_000))
    }
  }

  private func reload(_ read: Result<DaemonConfig, CommandFailure>) {
    switch read {
    case .success(let config):
      self.config = config
      jobs.configure(config)
      reporter.say("configuration reloaded: \(status)")
    case .failure(let error):
      context.err.writeLine(error.line)
      reporter.warn("the old configuration stays in force")
    }
    reporter.notice.ready(status)
  }

  private func reap() {
    for (job, code, isAside) in crew.reap() {
      if let job {
        if isAside { jobs.recordingEnded(job) } else { jobs.ended(job) }
      } else if !isAside {
        engine.ended()
      }
      if !isAside { engine.skipOwnChanges() }
      let what = job.map { isAside ? "the recording for \($0)" : "job \($0)" } ?? "engine"
      if common.verbose { reporter.say("\(what) ended with \(code)") }
    }
  }

  private var status: String {
    let running = crew.jobs.sorted()
    return jobs.status + (running.isEmpty ? "" : ", running \(running.joined(separator: " "))")
      + (crew.hasEngine ? ", sending" : "") + (reporter.ledgerError.map { ", \($0)" } ?? "")
  }

  // MARK: The end

  private func stop(_ signal: Int32, _ count: Int) {
    if stops == 0 {
      reporter.notice.stopping()
      reporter.say("stopping")
    }
    stops = count
    crew.signal(signal)
  }

  private func conclude(_ signal: Int32) throws(CommandFailure) {
    guard stops == 1 else {
      throw CommandFailure(
        signal == SIGINT ? .interrupted : .terminated, "stopped immediately; the state is saved",
        remedy: "transfers daemon", signal: signal)
    }
    // Includes files that another engine is sending.
    let nowMs = context.clock.wallMs
    guard try LedgerAccess.read(ledger, { try DaemonLook.isWorkLeft($0, nowMs: nowMs) }) else { return }
    throw CommandFailure(.workLeft, "stopped with files left", remedy: "transfers daemon")
  }
}
