import TransferModel
import Transfers

/// The runs of jobs that the daemon starts: at their times, because something appeared in their folders, and again for
/// files that only they may send. Used by the main thread.
final class DaemonJobs {
  /// Wait after a job could not be started, in milliseconds.
  private static let startPauseMs: Int64 = 10_000

  private let ledger: OpenStore
  private let context: Context
  private let reporter: DaemonReporter
  private let crew: DaemonCrew
  private var plan = DaemonPlan()
  private var watch = DaemonWatch()
  private var recordings = JobRecordings()
  private var demands = JobDemands()
  private var startAtMs: Int64 = 0

  init(_ ledger: OpenStore, _ reporter: DaemonReporter, _ crew: DaemonCrew, _ context: Context) {
    (self.ledger, self.reporter, self.crew, self.context) = (ledger, reporter, crew, context)
  }

  private var clock: any TransferClock { context.clock }

  /// `2 scheduled jobs, 1 watched`.
  var status: String {
    let jobs = plan.count == 1 ? "1 scheduled job" : "\(plan.count) scheduled jobs"
    return jobs + (watch.count > 0 ? ", \(watch.count) watched" : "")
  }

  func configure(_ config: DaemonConfig) {
    let starts = reporter.attempt { () throws(TransferError) in try ledger.read { try $0.jobs() } } ?? []
    plan.configure(
      config.held.schedules, starts: Dictionary(starts.map { ($0.job, $0.startedMs) }) { $1 }, nowMs: clock.wallMs)
    for remark in watch.configure(config.held, config.watched, context) { reporter.say(remark) }
  }

  /// Starts the jobs that are due.
  func startDue(_ held: HeldConfig) {
    for remark in watch.listen(nowMs: clock.bootMs) { reporter.say(remark) }
    guard clock.bootMs >= startAtMs else { return }
    let timely = plan.due(nowMs: clock.wallMs, running: crew.jobs)
    let hinted = watch.due(nowMs: clock.bootMs, running: crew.jobs)
    for name in timely + hinted.filter({ !timely.contains($0) }) {
      guard start(name, held) else { return }
    }
    recordForRunning(held)
  }

  /// New files of jobs that are due while they run are recorded for the engine that owns the ledger.
  private func recordForRunning(_ held: HeldConfig) {
    let timely = plan.dueToRecord(nowMs: clock.wallMs, running: crew.jobs)
    let hinted = watch.dueToRecord(nowMs: clock.bootMs, running: crew.jobs)
    for name in Set(timely + hinted).sorted() where recordings.isRested(name, nowMs: clock.bootMs) {
      let isDownload = held.config.jobs[name]?.direction == .download
      guard recordings.hasRead(name, isDownload ? nil : scans(of: name)) else { continue }
      do throws(ChildFailure) {
        try crew.startRecording(name, ["job", "run"] + DaemonCrew.terms(ledger) + ["--", name], held)
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

  /// Runs jobs again that have left files which no other run sends.
  func startAgain(_ left: Set<String>, _ held: HeldConfig) {
    for name in demands.due(left, running: crew.jobs, nowMs: clock.bootMs) where clock.bootMs >= startAtMs {
      guard start(name, held) else { return }
    }
  }

  /// False if the job could not be started, which was reported: it stays due.
  private func start(_ name: String, _ held: HeldConfig) -> Bool {
    // The engine that owns the ledger may be a child of ours: the job waits for it, and then knows its result.
    let policy = held.config.jobs[name]?["if_locked"]?.value ?? "wait"
    do throws(ChildFailure) {
      try crew.start(name, ["job", "run", "--if-locked", policy] + DaemonCrew.terms(ledger) + ["--", name], held)
    } catch {
      reporter.warn("start job \(name): \(error.text)")
      startAtMs = clock.bootMs + Self.startPauseMs
      return false
    }
    plan.started(name, nowMs: clock.wallMs)
    watch.started(name, clock)
    recordings.runStarted(name, wallMs: clock.wallMs)
    return true
  }

  /// A run has ended.
  func ended(_ job: String) {
    demands.ended(job, nowMs: clock.bootMs)
    watch.ended(job, nowMs: clock.bootMs) { scans(of: job) }
  }

  /// A recording of new files has ended.
  func recordingEnded(_ job: String) {
    recordings.ended(job, nowMs: clock.bootMs)
    watch.recordingEnded(job, nowMs: clock.bootMs) { scans(of: job) }
  }
}
