import TransferModel

/// Decides when new files of a job are only recorded, because a run of it is still sending, or waits for another
/// engine. The engine that owns the ledger sends them. Without that they would wait as long as one destination of the
/// run hangs. A value on the boot clock, in milliseconds.
struct JobRecordings: Sendable {
  /// The variable of a child that only records; it is no run of the job.
  static let variable = "_TRANSFERS_RECORD_ONLY"

  /// The last start of each job by the wall clock, with which scans are recorded.
  private var runsMs: [String: Int64] = [:]
  private var begunMs: [String: Int64] = [:]
  private var restsUntilMs: [String: Int64] = [:]

  /// A run of the job has started, and scans its sources itself.
  mutating func runStarted(_ job: String, wallMs: Int64) { runsMs[job] = wallMs }

  /// Whether it is time for another recording. Each rests as long as the one before took.
  func isRested(_ job: String, nowMs: Int64) -> Bool { begunMs[job] == nil && nowMs >= restsUntilMs[job] ?? 0 }

  /// Whether the run has read its sources: until then they would be read twice at once. `scans` is nil for a download,
  /// of which there are none: it reads nothing but lists, and has read them when its job is due again.
  func hasRead(_ job: String, _ scans: [ScanRow]?) -> Bool {
    guard let runMs = runsMs[job] else { return false }
    return scans?.contains { $0.completedMs >= runMs } ?? true
  }

  mutating func began(_ job: String, nowMs: Int64) { begunMs[job] = nowMs }

  mutating func ended(_ job: String, nowMs: Int64) {
    guard let begunMs = begunMs.removeValue(forKey: job) else { return }
    restsUntilMs[job] = nowMs + (nowMs - begunMs)
  }
}
