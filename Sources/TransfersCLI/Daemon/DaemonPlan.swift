import TransferModel

/// Which jobs are due. A pure value: times in, names out.
struct DaemonPlan: Sendable {
  private struct Entry: Sendable {
    let schedule: JobSchedule
    /// The last start; nil if the job has never run.
    var lastMs: Int64?
    let sinceMs: Int64
    /// When the job is due; nil for never.
    var nextMs: Int64?
    /// When its new files are due to be recorded if it still runs then.
    var recordMs: Int64?
  }

  private let zone: TimeZoneOffsets
  private var entries: [String: Entry] = [:]
  private var lookedMs: Int64 = .min

  init(in zone: TimeZoneOffsets = .system) { self.zone = zone }

  /// Takes over the jobs of a configuration. The due time of a job that stays depends on its last start.
  /// - Parameter starts: last starts by earlier daemons and other programs, by job.
  mutating func configure(_ schedules: [String: JobSchedule], starts: [String: Int64], nowMs: Int64) {
    var entries: [String: Entry] = [:]
    for (name, schedule) in schedules {
      let old = self.entries[name]
      let lastMs = [old?.lastMs, starts[name]].compactMap { $0 }.max()
      let sinceMs = old?.schedule == schedule ? old?.sinceMs ?? nowMs : nowMs
      entries[name] = scheduled(Entry(schedule: schedule, lastMs: lastMs, sinceMs: sinceMs), nowMs)
    }
    self.entries = entries
  }

  /// The jobs to start now, ordered by due time; excludes running jobs.
  mutating func due(nowMs: Int64, running: Set<String>) -> [String] {
    // If the clock was set back, the computed times may be far in the future.
    if nowMs < lookedMs { entries = entries.mapValues { scheduled($0, nowMs) } }
    lookedMs = nowMs
    let due = entries.filter { name, entry in entry.nextMs.map { $0 <= nowMs } ?? false && !running.contains(name) }
    return due.keys.sorted { (entries[$0]?.nextMs ?? 0, $0) < (entries[$1]?.nextMs ?? 0, $1) }
  }

  /// The running jobs that are due as well. They run again when they have ended; until then their new files are to be
  /// recorded, once for each time.
  func dueToRecord(nowMs: Int64, running: Set<String>) -> [String] {
    running.filter { name in entries[name]?.recordMs.map { $0 <= nowMs } ?? false }.sorted()
  }

  /// New files of a running job are being recorded.
  mutating func recorded(_ name: String, nowMs: Int64) {
    guard let entry = entries[name] else { return }
    entries[name]?.recordMs = entry.schedule.next(lastMs: nowMs, sinceMs: entry.sinceMs, nowMs: nowMs, in: zone)
  }

  mutating func started(_ name: String, nowMs: Int64) {
    guard var entry = entries[name] else { return }
    entry.lastMs = nowMs
    entries[name] = scheduled(entry, nowMs)
  }

  private func scheduled(_ entry: Entry, _ nowMs: Int64) -> Entry {
    var entry = entry
    entry.nextMs = entry.schedule.next(lastMs: entry.lastMs, sinceMs: entry.sinceMs, nowMs: nowMs, in: zone)
    entry.recordMs = entry.nextMs
    return entry
  }

  var count: Int { entries.count }
}

/// Decides when to start an engine for recorded files. A value on the boot clock, in milliseconds.
struct EngineDemand: Sendable {
  enum Look: Hashable, Sendable {
    /// Another process is the engine.
    case owned
    /// No file continues without a person.
    case settled
    case left
  }

  /// Wait after an engine has ended and left files.
  static let firstWaitMs: Int64 = 5_000
  static let longestWaitMs: Int64 = 300_000
  /// Minimum pause between two engines.
  private static let pauseMs: Int64 = 1_000
  /// How long files are left to a running job that may have recorded them and be about to send them.
  private static let courtesyMs: Int64 = 500

  private var waitMs = Self.firstWaitMs
  private var notBeforeMs: Int64 = 0
  private var earliestMs: Int64 = 0
  private var leftSinceMs: Int64?

  /// The ledger was changed by another process: files that could not be sent may now be sendable.
  mutating func changed() { notBeforeMs = 0 }

  /// Whether to start an engine.
  mutating func isNeeded(_ look: Look, jobsRun: Bool, nowMs: Int64) -> Bool {
    guard look == .left else {
      leftSinceMs = nil
      if look == .settled { waitMs = Self.firstWaitMs }
      return false
    }
    let sinceMs = leftSinceMs ?? nowMs
    leftSinceMs = sinceMs
    guard nowMs >= max(notBeforeMs, earliestMs) else { return false }
    return !jobsRun || nowMs - sinceMs >= Self.courtesyMs
  }

  /// An engine has ended.
  mutating func ended(nowMs: Int64) {
    leftSinceMs = nil
    earliestMs = nowMs + Self.pauseMs
    notBeforeMs = nowMs + waitMs
    waitMs = min(Self.longestWaitMs, waitMs * 2)
  }
}
