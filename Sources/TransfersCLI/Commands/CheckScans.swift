import TransferModel
import TransferReports
import Transfers

/// What a check finds in the last complete scans and the last results of jobs.
struct CheckScans: Sendable {
  struct Limits: Sendable {
    var ageMs: Int64?
    var files: Int?
    var isEmpty: Bool { ageMs == nil && files == nil }
  }

  /// By how much clocks may differ, in milliseconds.
  private static let clockToleranceMs: Int64 = 60_000

  /// Results of runs that began nothing; those of transfers are counted by files.
  private static let faults: Set<String> = Set(
    [.error, .store, .usage, .badData, .noSource, .unavailable, .auth, .config, .empty].map(\ExitCode.name))

  /// The newest scan of each checked job; one in the future only if the job has no other.
  private let newest: [String: ScanRow]
  private let limits: Limits

  init(_ scans: [ScanRow], _ limits: Limits, nowMs: Int64) {
    newest = Self.newest(of: scans, nowMs: nowMs)
    self.limits = limits
  }

  private static func newest(of scans: [ScanRow], nowMs: Int64) -> [String: ScanRow] {
    func rank(_ scan: ScanRow) -> (Int, Int64) { (isAhead(scan.completedMs, nowMs) ? 0 : 1, scan.completedMs) }
    return Dictionary(scans.map { ($0.job, $0) }) { rank($0) >= rank($1) ? $0 : $1 }
  }

  /// How many files the newest scan of each job refused, without jobs that have none. A job that is no longer among
  /// those of the configuration has none: no run would ever find out that they are accepted.
  static func refused(_ scans: [ScanRow], configured: Set<String>, nowMs: Int64) -> [String: Int] {
    let newest = newest(of: scans, nowMs: nowMs).filter { configured.isEmpty || configured.contains($0.key) }
    return newest.mapValues { scans.refused(inScan: $0) }.filter { $0.value > 0 }
  }

  /// Whether a time lies in the future: the clock was set back.
  static func isAhead(_ ms: Int64, _ nowMs: Int64) -> Bool { ms - nowMs > clockToleranceMs }

  /// What is wrong with the last run of a job; nil for nothing.
  static func fault(_ row: JobRow) -> String? {
    guard faults.contains(row.result) else { return nil }
    let message = row.message.map { ": \($0)" } ?? ""
    // The performance data begin after a vertical bar.
    return "the last run of job \(row.job) ended with \(row.result)\(message)".replacing("|", with: "/")
  }

  /// The fault of a time that lies in the future; nil if it does not.
  static func ahead(_ what: String, _ ms: Int64, nowMs: Int64) -> String? {
    guard isAhead(ms, nowMs) else { return nil }
    return "\(what) is \(Quantity.duration(ms - nowMs)) in the future: the clock was set back"
  }

  /// Faults of scans in the future, in words: nothing is known of what the jobs have found since then.
  func ahead(nowMs: Int64) -> [String] {
    newest.values.sorted { $0.job < $1.job }.compactMap { scan in
      Self.ahead("the last complete scan of job \(scan.job)", scan.completedMs, nowMs: nowMs)
    }
  }

  /// Faults of the scans of jobs, in words. A job of the configuration that downloads has none.
  func faults(of jobs: [String], nowMs: Int64) -> [String] {
    var found: [String] = []
    for job in jobs where !limits.isEmpty {
      guard let scan = newest[job] else {
        found.append("job \(job) has no complete scan")
        continue
      }
      if let mostMs = limits.ageMs, nowMs - scan.completedMs > mostMs {
        found.append("the last complete scan of job \(job) is \(Quantity.duration(nowMs - scan.completedMs)) ago")
      }
      if let fewest = limits.files, scan.counts.seen < fewest {
        let seen = Quantity.count(scan.counts.seen, "file")
        found.append("the last complete scan of job \(job) found \(seen), at least \(fewest) expected")
      }
    }
    return found
  }

  /// Time since the oldest of these scans, in milliseconds; nil if there is none.
  func ageMs(_ nowMs: Int64) -> Int64? { newest.values.map { max(0, nowMs - $0.completedMs) }.max() }

  /// The files in these scans; nil if there is none.
  var files: Int? { newest.isEmpty ? nil : newest.values.reduce(0) { $0 + $1.counts.seen } }

  /// Performance data: `scan=40s;;93600;0 scan_files=118;;1:;0`. `1:` is the range from 1 on.
  func data(_ nowMs: Int64) -> [String] {
    guard let ageMs = ageMs(nowMs), let files else { return [] }
    return [
      "scan=\(ageMs / 1_000)s;;\(limits.ageMs.map { "\($0 / 1_000)" } ?? "");0",
      "scan_files=\(files);;\(limits.files.map { "\($0):" } ?? "");0",
    ]
  }

  /// The rows of jobs, where a scan counts as a success that is newer than the last end of its job, if all that the job
  /// has recorded is settled: its runs left their files to another engine, which has sent them. One that refused files
  /// is no success.
  static func counting(_ scans: [ScanRow], settled: Set<String>, in rows: [JobRow]) -> [JobRow] {
    var rows = rows
    for scan in scans where !scan.job.isEmpty && settled.contains(scan.job) && scans.refused(inScan: scan) == 0 {
      if let n = rows.firstIndex(where: { $0.job == scan.job }) {
        guard scan.completedMs > rows[n].endedMs else { continue }
        rows[n].succeededMs = max(rows[n].succeededMs ?? .min, scan.completedMs)
      } else {
        rows.append(
          JobRow(
            job: scan.job, startedMs: scan.completedMs, endedMs: scan.completedMs, result: "skipped", message: nil,
            succeededMs: scan.completedMs))
      }
    }
    return rows
  }
}
