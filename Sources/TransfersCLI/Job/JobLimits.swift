import TransferModel
import Transfers

/// The limits of the runs of a job: an engine that another command starts does not have them.
struct JobLimits: Sendable, Hashable {
  /// `max_bytes` or `max_duration`: what they leave waits for the next run of the job.
  let hasEnd: Bool
  /// That of the job, or of the place that it names; nil for no limit.
  private let rate: RateTimetable?
  private let group: String?

  init(_ job: ConfigSection, _ config: Config) {
    hasEnd = job["max_bytes"] != nil || job["max_duration"] != nil
    let isUpload = job.direction == .upload
    let words = job[isUpload ? "to" : "from"]?.values ?? []
    let places = words.compactMap { config.place($0, isUpload ? .destination : .source)?.section }
    func value(_ key: String) -> String? { (job[key] ?? places.lazy.compactMap { $0[key] }.first)?.value }
    let timetable = value("rate").flatMap { RunRateSetting(argument: $0) }?.timetable
    rate = timetable.flatMap { $0.lowest == nil ? nil : $0 }
    group = value("rate_group")
  }

  /// Whether an engine with the other limits keeps these too.
  func areKept(by other: JobLimits?) -> Bool {
    guard !hasEnd else { return false }
    guard let lowest = rate?.lowest else { return true }
    guard let highest = other?.rate?.highest else { return false }
    return highest <= lowest && (group == nil || group == other?.group)
  }

  /// The jobs of a daemon's configuration whose files an engine with these limits leaves to their own runs: the daemon
  /// runs them, or what is left is for their next run only.
  static func leftJobs(_ config: Config, by other: JobLimits?) -> Set<String> {
    let left = config.jobs.filter { _, job in
      let limits = JobLimits(job, config)
      return !limits.areKept(by: other) && (limits.hasEnd || (try? JobSchedule(job)) != nil)
    }
    return Set(left.keys)
  }

  /// The same for a run of this job, or for a run of no job, if a daemon started it. Other runs send everything: while
  /// a job of cron leaves its files to them, no run of its own follows.
  static func leftJobs(_ context: Context, by job: ConfigSection?) -> Set<String> {
    guard context.variable(DaemonLifeline.variable) != nil else { return [] }
    let left = leftJobs(context.config, by: job.map { JobLimits($0, context.config) })
    return left.subtracting([job?.name].compactMap(\.self))
  }
}

extension RateTimetable {
  /// The lowest of its limits; nil if it has none.
  fileprivate var lowest: Int64? { entries.compactMap(\.bytesPerSecond).min() }

  /// The highest of its limits; nil if there are times without one.
  fileprivate var highest: Int64? {
    let limits = entries.compactMap(\.bytesPerSecond)
    return limits.count == entries.count ? limits.max() : nil
  }
}
