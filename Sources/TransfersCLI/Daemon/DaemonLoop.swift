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
  /// Interval between checks of an unchanged ledger: deadlines pass and engines crash without changing it.
  private static let lookMs: Int64 = 1_000
  /// Wait after a job could not be started, in milliseconds.
  private static let startPauseMs: Int64 = 10_000

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
  private var plan = DaemonPlan()
  private var watch = DaemonWatch()
  private var recordings = JobRecordings()
  private let folders: FolderLook
  private var demand = EngineDemand()
  private var jobDemands = JobDemands()
  private var seen: StoreMark?
  private var lookAtMs: Int64 = 0
  private var startAtMs: Int64 = 0
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
    folders = FolderLook(ledger.path, context.clock)
    crew = try DaemonCrew()
  }

  private var held: HeldConfig { config.held }
  private var clock: any TransferClock { context.clock }

  /// Runs until a stop is requested and all children have ended.
  func run() throws(CommandFailure) {
    context.signals?.handle { [requests] signal, count in
      requests.withLock { ($0.stops, $0.signal) = (count, signal) }
      return true
    }
    context.signals?.reload { [requests] in requests.withLock { $0.reload = true } }
    configure()
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
        startJobs()
        startEngine()
        reporter.tell(status)
      }
      reporter.petWatchdog(stepMs: Self.stepMs) { !isEngineStuck() }
      usleep(useconds_t(Self.stepMs * 1_000))
    }
  }

  // MARK: Configuration

  private func configure() {
    let starts = reporter.attempt { () throws(TransferError) in try ledger.read { try $0.jobs() } } ?? []
    plan.configure(
      held.schedules, starts: Dictionary(starts.map { ($0.job, $0.startedMs) }) { $1 }, nowMs: clock.wallMs)
    for remark in watch.configure(held, config.watched, context) { reporter.say(remark) }
  }

  private func reload(_ read: Result<DaemonConfig, CommandFailure>) {
    switch read {
    case .success(let config):
      self.config = config
      configure()
      reporter.say("configuration reloaded: \(status)")
    case .failure(let error):
      context.err.writeLine(error.line)
      reporter.warn("the old configuration stays in force")
    }
    reporter.notice.ready(status)
  }

  // MARK: Children

  private func startJobs() {
    for remark in watch.listen(nowMs: clock.bootMs) { reporter.say(remark) }
    guard clock.bootMs >= startAtMs else { return }
    let timely = plan.due(nowMs: clock.wallMs, running: crew.jobs)
    let hinted = watch.due(nowMs: clock.bootMs, running: crew.jobs)
    for name in timely + hinted.filter({ !timely.contains($0) }) {
      guard startJob(name) else { return }
    }
    recordForRunningJobs()
  }

  /// New files of jobs that are due while they run are recorded for the engine that owns the ledger.
  private func recordForRunningJobs() {
    let timely = plan.dueToRecord(nowMs: clock.wallMs, running: crew.jobs)
    let hinted = watch.dueToRecord(nowMs: clock.bootMs, running: crew.jobs)
    for name in Set(timely + hinted).sorted() where recordings.isRested(name, nowMs: clock.bootMs) {
      let isDownload = held.config.jobs[name]?.direction == .download
      guard recordings.hasRead(name, isDownload ? nil : scans(of: name)) else { continue }
      do throws(ChildFailure) {
        try crew.startRecording(name, ["job", "run"] + terms + ["--", name], held)
      } catch {
        reporter.warn("record files of job \(name): \(error.text)")
        startAtMs = clock.bootMs + Self.startPauseMs
        return
      }
      recordings.began(name, nowMs: clock.bootMs)
      plan.recorded(name, nowMs: clock.wallMs)
      watch.recordingBegan(name, clock)
    }
  }

  private func scans(of job: String) -> [ScanRow] {
    reporter.attempt { () throws(TransferError) in try ledger.read { try $0.scans(ofJob: job, limit: 100) } } ?? []
  }

  /// False if the job could not be started, which was reported: it stays due.
  private func startJob(_ name: String) -> Bool {
    // The engine that owns the ledger may be a child of ours: the job waits for it, and then knows its result.
    let policy = held.config.jobs[name]?["if_locked"]?.value ?? "wait"
    guard start(name, ["job", "run", "--if-locked", policy] + terms + ["--", name]) else {
      startAtMs = clock.bootMs + Self.startPauseMs
      return false
    }
    plan.started(name, nowMs: clock.wallMs)
    watch.started(name, clock)
    recordings.runStarted(name, wallMs: clock.wallMs)
    return true
  }

  private var terms: [String] { ["--quiet", "--store", EscapedArgument.encode(Array(ledger.path.utf8))] }

  /// False if the process could not be started, which was reported.
  private func start(_ job: String?, _ words: [String]) -> Bool {
    do throws(ChildFailure) {
      try crew.start(job, words, held)
      return true
    } catch {
      reporter.warn("start \(job.map { "job \($0)" } ?? "an engine"): \(error.text)")
      return false
    }
  }

  private func reap() {
    for (job, code, isAside) in crew.reap() {
      if let job, isAside {
        recordings.ended(job, nowMs: clock.bootMs)
        watch.recordingEnded(job, nowMs: clock.bootMs) { scans(of: job) }
      } else if let job {
        jobDemands.ended(job, nowMs: clock.bootMs)
        watch.ended(job, nowMs: clock.bootMs) { scans(of: job) }
      } else if !isAside {
        demand.ended(nowMs: clock.bootMs)
      }
      if !isAside { skipOwnChanges() }
      let what = job.map { isAside ? "the recording for \($0)" : "job \($0)" } ?? "engine"
      if common.verbose { reporter.say("\(what) ended with \(code)") }
    }
  }

  /// An engine whose run has ended is none any more, even if its process still waits for a callback.
  private func setIdleEngineAside() {
    guard let pid = crew.enginePID,
      let run = reporter.attempt({ () throws(TransferError) in try ledger.read { try $0.engine(self.clock) } })?.run,
      run.endedMs != nil, run.pid == pid
    else { return }
    crew.setEngineAside()
    demand.ended(nowMs: clock.bootMs)
    skipOwnChanges()
  }

  /// What a child wrote itself does not count as a change.
  private func skipOwnChanges() {
    seen = reporter.attempt { () throws(TransferError) in try ledger.changeMark() } ?? seen
    lookAtMs = 0
  }

  private func startEngine() {
    setIdleEngineAside()
    guard !crew.hasEngine else { return }
    guard let mark = reporter.attempt({ () throws(TransferError) in try ledger.changeMark() }) else { return }
    if let seen, mark != seen { demand.changed() }
    guard mark != seen || clock.bootMs >= lookAtMs else { return }
    (seen, lookAtMs) = (mark, clock.bootMs + Self.lookMs)
    guard var look = reporter.attempt({ () throws(TransferError) in try ledger.read(self.look) }) else { return }
    if look.engine == .settled, folders.findsWork() { look.engine = .left }
    startJobsAgain(look.jobs)
    guard demand.isNeeded(look.engine, jobsRun: !crew.jobs.isEmpty, nowMs: clock.bootMs) else {
      // A job may be about to send the files.
      if look.engine == .left { lookAtMs = clock.bootMs + Self.stepMs }
      return
    }
    if start(nil, ["run"] + terms) { folders.taken() } else { demand.ended(nowMs: clock.bootMs) }
  }

  private func look(_ reader: StoreReader) throws -> DaemonLook { try DaemonLook(reader, held.config, clock) }

  /// Runs jobs again that have left files which no other run sends.
  private func startJobsAgain(_ left: Set<String>) {
    for name in jobDemands.due(left, running: crew.jobs, nowMs: clock.bootMs) where clock.bootMs >= startAtMs {
      guard startJob(name) else { return }
    }
  }

  // MARK: Signs of life

  private var status: String {
    let jobs = plan.count == 1 ? "1 scheduled job" : "\(plan.count) scheduled jobs"
    let running = crew.jobs.sorted()
    let watched = watch.count > 0 ? ", \(watch.count) watched" : ""
    return jobs + watched + (running.isEmpty ? "" : ", running \(running.joined(separator: " "))")
      + (crew.hasEngine ? ", sending" : "") + (reporter.ledgerError.map { ", \($0)" } ?? "")
  }

  /// Whether our engine has had no heartbeat for a minute.
  private func isEngineStuck() -> Bool {
    let engine = reporter.attempt { () throws(TransferError) in try ledger.read { try $0.engine(self.clock) } }
    guard let run = engine?.run, run.endedMs == nil, engine?.isAlive == false else { return false }
    return crew.has(Int64(run.pid))
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
    guard try LedgerAccess.read(ledger, { try DaemonLook.isWorkLeft($0, nowMs: self.clock.wallMs) }) else { return }
    throw CommandFailure(.workLeft, "stopped with files left", remedy: "transfers daemon")
  }
}
