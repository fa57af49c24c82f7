import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The jobs whose sources the daemon watches, and the events received about them.
struct DaemonWatch {
  private var watcher: SourceWatcher?
  private var jobs: Set<String> = []
  /// The longest rest after runs that found nothing new, in milliseconds, by job.
  private var longestRestMs: [String: Int64] = [:]
  private var hints = WatchHints()
  /// The same events, as reasons to record new files while a run of the job continues.
  private var recordHints = WatchHints()
  /// Starts by the wall clock, because scans are recorded with it.
  private var startedMs: [String: Int64] = [:]
  private var recordingMs: [String: Int64] = [:]

  var count: Int { jobs.count }

  /// The jobs of a configuration that are to be watched, and what cannot be watched, as text for people.
  struct Watched: Sendable {
    var sources: [String: SourceWatcher.Sources] = [:]
    var remarks: [String] = []
  }

  static func sources(of held: HeldConfig, store: String, _ context: Context) -> Watched {
    let ownFiles = held.config.metricsFiles
    var watched = Watched()
    for (name, job) in held.config.jobs.sorted(by: { $0.key < $1.key }) where job.isWatched {
      do throws(CommandFailure) {
        // The sources are the same for all destinations.
        guard let (command, inner) = try JobLine(job, context.configured(held.config)).parsed([]).first,
          let push = command as? PushCommand
        else { continue }
        watched.sources[name] = SourceWatcher.Sources(
          named: push.batch.namedSources, options: try push.batch.upload(inner), store: store, files: ownFiles)
      } catch {
        watched.remarks.append("job \(name) is not watched: \(error.text)")
      }
    }
    return watched
  }

  /// Watches the jobs of a configuration, instead of those of the previous one.
  /// - Returns: what cannot be watched, as text for people.
  mutating func configure(_ held: HeldConfig, _ watched: Watched, _ context: Context) -> [String] {
    var remarks = watched.remarks
    jobs = Set(watched.sources.keys)
    hints.keep(jobs)
    recordHints.keep(jobs)
    longestRestMs = held.schedules.mapValues(\.longestRestMs)
    guard !jobs.isEmpty else {
      watcher = nil
      return remarks
    }
    watcher = watcher ?? SourceWatcher(context.clock)
    if watcher == nil { remarks.append("nothing is watched: \(systemText(errno))") }
    watcher?.watch(watched.sources)
    return remarks
  }

  /// Takes the events received since the last call.
  /// - Returns: other remarks, as text for people.
  mutating func listen(nowMs: Int64) -> [String] {
    guard let news = watcher?.take() else { return [] }
    for job in news.changed.intersection(jobs) {
      hints.note(job, nowMs: nowMs)
      recordHints.note(job, nowMs: nowMs)
    }
    return news.remarks.map { "job \($0.job): \($0.text)" }
  }

  /// The jobs to run because of these events.
  func due(nowMs: Int64, running: Set<String>) -> [String] { hints.due(nowMs: nowMs, running: running) }

  /// Call this also if the job starts for another reason: its scan covers the events received until now.
  mutating func started(_ job: String, _ clock: any TransferClock) {
    guard jobs.contains(job) else { return }
    startedMs[job] = clock.wallMs
    hints.started(job, nowMs: clock.bootMs)
    recordHints.forget(job)
  }

  /// The running jobs whose new files are to be recorded because of events since they started.
  func dueToRecord(nowMs: Int64, running: Set<String>) -> [String] {
    recordHints.due(nowMs: nowMs, running: []).filter { running.contains($0) }
  }

  mutating func recordingBegan(_ job: String, _ clock: any TransferClock) {
    guard jobs.contains(job) else { return }
    recordingMs[job] = clock.wallMs
    recordHints.started(job, nowMs: clock.bootMs)
  }

  /// - Parameter scans: reads the last complete scans of the job.
  mutating func ended(_ job: String, nowMs: Int64, scans: () -> [ScanRow]) {
    guard let startedMs = startedMs.removeValue(forKey: job), let longestRestMs = longestRestMs[job] else { return }
    let foundNew = Self.foundNew(scans(), sinceMs: startedMs)
    hints.ended(job, foundNew: foundNew, longestRestMs: longestRestMs, nowMs: nowMs)
  }

  /// - Parameter scans: as for ``ended(_:nowMs:scans:)``.
  mutating func recordingEnded(_ job: String, nowMs: Int64, scans: () -> [ScanRow]) {
    guard let begunMs = recordingMs.removeValue(forKey: job), let longestRestMs = longestRestMs[job] else { return }
    let foundNew = Self.foundNew(scans(), sinceMs: begunMs)
    recordHints.ended(job, foundNew: foundNew, longestRestMs: longestRestMs, nowMs: nowMs)
  }

  private static func foundNew(_ scans: [ScanRow], sinceMs: Int64) -> Bool {
    scans.contains { $0.completedMs >= sinceMs && $0.counts.added > 0 }
  }
}
