import TransferModel
import TransferReports
import Transfers

/// The result of a check.
struct CheckOutput: OutputValue {
  /// Source: the Monitoring Plugins' guidelines, "Plugin Return Codes" and "Performance data".
  enum Outcome: Int32, Sendable {
    case ok = 0
    case warning, critical, unknown

    var word: String {
      switch self {
      case .ok: "OK"
      case .warning: "WARNING"
      case .critical: "CRITICAL"
      case .unknown: "UNKNOWN"
      }
    }
  }

  let outcome: Outcome
  private let job: String?
  /// The problems found; empty if there are none.
  private let problems: [String]
  private let failed: Int
  private let refused: Int
  /// The job that refused files, the first by its name.
  private let refusingJob: String?
  private let pending: Int
  private let oldestMs: Int64?
  /// Sources still to be deleted or moved, and those that were kept although they should have been.
  private let removals: RemovalTotals
  private let callbacks: CallbacksLeft
  private let heldByQuota: Int
  /// Time since the last success; for several jobs the longest.
  private let ageMs: Int64?
  private let limits: (age: Int64?, failed: Int, refused: Int, pending: Int?)
  private let scans: CheckScans
  private let nowMs: Int64

  init(
    _ reading: CheckReading, job: String?, maxAgeMs: Int64?, maxFailed: Int, maxRefused: Int = 0, maxPending: Int?,
    scanLimits: CheckScans.Limits = CheckScans.Limits(), nowMs: Int64
  ) {
    (scans, self.nowMs) = (CheckScans(reading.scans, scanLimits, nowMs: nowMs), nowMs)
    self.job = job
    let states = reading.totals.byState
    failed = (states[.failed] ?? 0) + (states[.unknown] ?? 0)
    (refused, refusingJob) = (reading.refused.values.reduce(0, +), reading.refused.keys.min())
    pending = reading.unfinished.count
    oldestMs = reading.unfinished.oldestMs.map { max(0, nowMs - $0) }
    heldByQuota = reading.heldByQuota.values.reduce(0, +)
    ageMs = reading.jobs.compactMap { $0.succeededMs(reading) }.map { max(0, nowMs - $0) }.max()
    limits = (maxAgeMs, maxFailed, maxRefused, maxPending)
    (removals, callbacks) = (reading.removals, reading.callbacks)
    var (problems, outcome) = ([String](), Outcome.ok)
    func found(_ worse: Outcome, _ text: String) {
      problems.append(text)
      if worse.rawValue > outcome.rawValue { outcome = worse }
    }
    if let maxPending, pending - heldByQuota > maxPending {
      found(.warning, "\(Quantity.count(pending - heldByQuota, "file")) unfinished, \(maxPending) allowed")
    }
    for fault in Self.givenUp(reading) { found(.warning, fault) }
    if failed > maxFailed {
      found(.critical, "\(Quantity.count(failed, "file")) failed or unknown, \(maxFailed) allowed")
    }
    if refused > maxRefused { found(.critical, Self.refusal(reading.refused, maxRefused)) }
    if let maxAgeMs {
      for fault in Self.lateJobs(reading, job, maxAgeMs, nowMs) { found(.critical, fault) }
    }
    for fault in reading.jobs.compactMap(CheckScans.fault) { found(.warning, fault) }
    for (worse, fault) in Self.faults(scans, reading, maxAgeMs, scanLimits, nowMs) { found(worse, fault) }
    for name in reading.neverRan { found(maxAgeMs == nil ? .warning : .critical, "job \(name) has not run yet") }
    if !reading.isKnown { found(.unknown, "no job \"\(job ?? "")\" in the configuration or the ledger") }
    (self.problems, self.outcome) = (problems, outcome)
  }

  /// What was to follow the transfers, and was given up.
  private static func givenUp(_ reading: CheckReading) -> [String] {
    let (kept, callbacks) = (reading.removals.kept, reading.callbacks)
    var faults: [String] = []
    if kept > 0 { faults.append("\(Quantity.count(kept, "source")) kept that --after should have deleted or moved") }
    if callbacks.givenUp > 0 { faults.append("\(Quantity.count(callbacks.givenUp, "callback")) given up") }
    if callbacks.unheard > 0 {
      faults.append("\(Quantity.count(callbacks.unheard, "callback")) given up and deleted, and none delivered since")
    }
    return faults
  }

  /// `2 files refused by the last scan of job nightly, 0 allowed`.
  private static func refusal(_ refused: [String: Int], _ most: Int) -> String {
    let files = Quantity.count(refused.values.reduce(0, +), "file")
    let scans = (refused.count == 1 ? "scan of job " : "scans of jobs ") + refused.keys.sorted().joined(separator: ", ")
    return "\(files) refused by the last \(scans), \(most) allowed"
  }

  /// The faults of scans, and successes in the future. For a limit, what lies in the future is as bad as nothing.
  private static func faults(
    _ scans: CheckScans, _ reading: CheckReading, _ maxAgeMs: Int64?, _ limits: CheckScans.Limits, _ nowMs: Int64
  ) -> [(Outcome, String)] {
    let ofScans =
      scans.faults(of: reading.uploads, nowMs: nowMs).map { (Outcome.critical, $0) }
      + scans.ahead(nowMs: nowMs).map { (limits.isEmpty ? Outcome.warning : .critical, $0) }
    // With a limit they are among the late jobs.
    guard maxAgeMs == nil else { return ofScans }
    return ofScans + reading.jobs.compactMap { $0.successAhead(reading, nowMs: nowMs) }.map { (Outcome.warning, $0) }
  }

  /// Jobs without a success within the time, or with one in the future.
  private static func lateJobs(_ reading: CheckReading, _ job: String?, _ maxAgeMs: Int64, _ nowMs: Int64) -> [String] {
    if reading.jobs.isEmpty, reading.isKnown, reading.neverRan.isEmpty {
      return [job.map { "job \($0) has not run yet" } ?? "no job has run yet"]
    }
    return reading.jobs.compactMap { row in
      guard let success = row.succeededMs(reading) else { return "job \(row.job) has never succeeded" }
      if let fault = row.successAhead(reading, nowMs: nowMs) { return fault }
      guard nowMs - success > maxAgeMs else { return nil }
      return "the last success of job \(row.job) is \(Quantity.duration(nowMs - success)) ago"
    }
  }

  static let form = ReportForm<CheckOutput>(
    "transfers.check/1",
    [
      .facts([
        .text("line", "") { $0.line }.saying { printable($0.line) },
        .text("verdict") { $0.outcome.word }, .integer("code") { $0.outcome.rawValue }, .text("job") { $0.job }.label(),
        .list("problems") { $0.problems }.saying { _ in nil },
        .integer("files_failed") { $0.failed }, .integer("files_refused") { $0.refused },
        .integer("files_unfinished") { $0.pending },
        .integer("sources_to_remove") { $0.removals.waiting }, .integer("sources_put_off") { $0.removals.putOff },
        .integer("sources_kept") { $0.removals.kept },
        .integer("callbacks_given_up") { $0.callbacks.givenUp },
        .integer("callbacks_forgotten") { $0.callbacks.forgotten },
        .integer("files_held_by_quota") { $0.heldByQuota },
        .duration("oldest_unfinished_ms") { $0.oldestMs }, .duration("last_success_age_ms") { $0.ageMs },
        .duration("last_scan_age_ms") { $0.scans.ageMs($0.nowMs) }, .integer("last_scan_files") { $0.scans.files },
      ]),
      RemovalFigures.reasons { $0.removals },
    ])

  var remedy: String {
    let selector = job.map { " --job \($0)" } ?? ""
    // The plan names each file, with the cause and the remedy.
    if failed <= limits.failed, refused > limits.refused, let refusingJob {
      return "transfers job run -n \(refusingJob)"
    }
    return failed > limits.failed ? "transfers report failures\(selector)" : "transfers status\(selector)"
  }

  /// `2 sources, put off: its folder does not exist`. This is not a problem: a removal may be put off any number of
  /// times without being given up.
  private var putOff: String? {
    // The performance data begin after a vertical bar.
    removals.putOff > 0 ? RemovalFigures.waiting(removals)?.replacing("|", with: "/") : nil
  }

  /// `TRANSFERS OK - job nightly: 12 unfinished, 0 failed | failed=0;;0 pending=12;1000 age=7200s;;93600`
  var line: String {
    let about = job.map { "job \($0): " } ?? ""
    let told =
      (problems.isEmpty
        ? "\(failed) failed, \(pending) unfinished" + (heldByQuota > 0 ? " (\(heldByQuota) wait for a quota)" : "")
          + (ageMs.map { ", last success \(Quantity.duration($0)) ago" } ?? "")
        : problems.joined(separator: "; "))
      + (putOff.map { "; to delete or move: \($0)" } ?? "")
    var data = [
      "failed=\(failed);;\(limits.failed);0", "refused=\(refused);;\(limits.refused);0",
      "pending=\(pending);\(limits.pending.map { "\($0)" } ?? "");;0",
    ]
    if let ageMs { data.append("age=\(ageMs / 1000)s;;\(limits.age.map { "\($0 / 1000)" } ?? "");0") }
    data += scans.data(nowMs)
    if removals.waiting + removals.kept > 0 {
      data += ["to_remove=\(removals.waiting);;;0", "put_off=\(removals.putOff);;;0", "kept=\(removals.kept);0;;0"]
    }
    if let oldestMs { data.append("oldest=\(oldestMs / 1000)s;;;0") }
    return "TRANSFERS \(outcome.word) - \(about)\(told) | \(data.joined(separator: " "))"
  }
}

extension JobRow {
  /// The end of the last run that did all it may: with the files that are left, a quota does not count as a failure.
  fileprivate func succeededMs(_ reading: CheckReading) -> Int64? {
    guard reading.heldByQuota[job] != nil, result == ExitCode.workLeft.name else { return succeededMs }
    return max(succeededMs ?? .min, endedMs)
  }

  /// The fault of a success in the future; nil if there is none.
  fileprivate func successAhead(_ reading: CheckReading, nowMs: Int64) -> String? {
    succeededMs(reading).flatMap { CheckScans.ahead("the last success of job \(job)", $0, nowMs: nowMs) }
  }
}
