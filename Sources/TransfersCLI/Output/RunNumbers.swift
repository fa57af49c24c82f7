import TransferModel
import TransferReports
import Transfers

/// The results of processed files, by this process or by another one.
struct RunNumbers: Sendable, Hashable {
  var done: Int
  /// Excludes mismatched files.
  var failed: Int
  var unknown, mismatched, left: Int
  /// Cancelled by a person: as far from done as a failed file.
  var cancelled = 0
  /// Those of `cancelled` that may have arrived and that nobody has decided about.
  var undecided: [FileID] = []
  /// For a push: files not sent, because other files had delivered the same content.
  var duplicates = 0
  /// For a job: files not sent, because their sources were deleted before.
  var gone = 0
  /// For a pull: files of listings that were here already.
  var unchanged = 0
  /// For a run: files that were done, failed or unknown before it began.
  var doneBefore = 0
  var badBefore = 0
  /// Those of `left` that are paused.
  var paused: Int
  /// Those of `left` whose sources may still be being written.
  var settling = 0
  /// Those of `left` that no run with the same `--max-bytes` can transfer; at least so many.
  var tooLong = 0
  var bytesAcked, bytesTransferred: Int64
  /// Bytes of downloads that were already in a local file, and so not fetched.
  var bytesReused: Int64 = 0
  /// Further bytes that crashed requests may have sent.
  var bytesUntold: Int64 = 0
  var retries: Int
  var wallMs: Int64
  var stoppedBy: StopCause?
  /// Of a file whose failure the ledger refused to record; the command ends with it after the summary.
  var unrecorded: TransferError?
  /// Hosts that took no connections, when that is why it stopped.
  var unreachable: [String] = []
  /// The failure of the first of the files that wait for the next run.
  var waiting: Failure?

  init(_ run: RunResult) {
    (done, failed, unknown) = (run.done, run.failed - run.mismatched, run.unknown)
    (mismatched, left, paused) = (run.mismatched, run.left, run.paused)
    (bytesAcked, bytesTransferred, retries, wallMs) = (run.bytesAcked, run.bytesTransferred, run.retries, run.wallMs)
    bytesReused = run.bytesReused
    (stoppedBy, unreachable) = (run.stoppedBy, run.unreachable)
    tooLong = run.tooLong.values.reduce(0, +)
    waiting = run.waiting.min { $0.key < $1.key }?.value
  }

  /// For a run, which covers all files of the ledger that are not hidden: its own results, and the state of the others,
  /// including those left by earlier runs.
  init(_ run: RunResult, standing: FileTotals) {
    self.init(run)
    let (doneByRun, badByRun) = (done, failed + unknown + mismatched)
    count(standing)
    (left, paused) = (run.left + settling, run.paused)
    doneBefore = max(0, done - doneByRun)
    done = doneByRun
    badBefore = max(0, failed + unknown + mismatched - badByRun)
  }

  /// For the files of one push. `stop` is why the run that sent them ended; blocked batches of others are ignored.
  init(_ added: AddedTotals, wallMs: Int64, stop: StopCause?, unreachable: [String] = []) {
    self.init(added.files, wallMs: wallMs)
    (duplicates, gone, unchanged) = (added.duplicates, added.gone, added.unchanged)
    // Bytes that the server lost and got again were acknowledged twice, but count once.
    bytesAcked = min(added.bytesAckedSince, added.files.bytesMoved)
    guard left > 0, left > paused else { return }
    let others: [StopCause?] = [.paused, .deadline]
    stoppedBy = left == paused + added.overdue ? .deadline : others.contains(stop) ? nil : stop
    self.unreachable = stoppedBy == .unreachable ? unreachable : []
  }

  /// There was nothing to do.
  static let none = RunNumbers(FileTotals(), wallMs: 0)

  /// From rows.
  init(_ totals: FileTotals, wallMs: Int64) {
    self.init(RunResult())
    count(totals)
    if left > 0 && left == paused { stoppedBy = .paused }
    (bytesAcked, bytesTransferred, retries) = (totals.bytesMoved, totals.bytesTransferred, totals.retries)
    bytesReused = totals.bytesReused
    bytesUntold = totals.bytesUntold
    self.wallMs = wallMs
  }

  private mutating func count(_ totals: FileTotals) {
    done = totals.count(.done)
    unknown = totals.count(.unknown)
    mismatched = totals.mismatched
    failed = totals.count(.failed) - totals.mismatched
    cancelled = totals.count(.cancelled)
    (left, paused, settling) = (totals.left, totals.count(.paused), totals.count(.settling))
  }

  /// Settling files are left to a later run.
  mutating func leaveSettling() {
    left -= settling
    if left == 0 { stoppedBy = nil }
  }

  /// Sent again or not acknowledged so far; at least, and at most.
  var bytesUnacked: Int64 { max(0, bytesTransferred - bytesAcked) }
  var bytesUnackedAtMost: Int64 { max(0, bytesTransferred + bytesUntold - bytesAcked) }

  /// Why work is left, for people; nil if the run was neither stopped nor prevented.
  var stopReason: String? {
    switch stoppedBy {
    case nil: nil
    case .drained: "stopped on request"
    case .interrupted: "stopped immediately"
    case .unreachable: "no connection to \(Self.list(unreachable))"
    case .notDue:
      waiting.map { "files wait for \($0.code == .localDiskFull ? "space" : "URLs"): \(printable($0.message))" }
        ?? "the remaining files are not due for a long time"
    case .paused: "paused"
    case .deadline: "the deadline has passed"
    case .limit: "the limit of this run was reached"
    case .quota: "the quota of the job is used up"
    case .settling: "files are still being written, or wait for their copy"
    }
  }

  /// The first three, and how many others there are.
  private static func list(_ hosts: [String]) -> String {
    guard !hosts.isEmpty else { return "any destination" }
    let others = hosts.count > 3 ? [Quantity.count(hosts.count - 3, "other")] : []
    return (hosts.prefix(3).map(printable) + others).joined(separator: ", ")
  }

  /// ` (2 longer than --max-bytes)`, for the files that are left; empty if there are none.
  var longer: String { tooLong > 0 ? " (\(tooLong) longer than --max-bytes)" : "" }

  /// The command that continues the remaining files.
  func wayOn(_ selector: String) -> String {
    switch stoppedBy {
    case .paused: "transfers resume --state paused\(selector)"
    case .deadline: "transfers set --deadline none\(selector.isEmpty ? " --all" : selector)"
    case nil, .drained, .interrupted, .unreachable, .notDue, .limit, .quota, .settling: "transfers run"
    }
  }
}

extension ExitCode {
  /// The common rule for `push`, `run`, `wait` and `status`, each applied to its own files: unknown and cancelled files
  /// count like failed ones, whichever run left them. `added` is what a push found before it sent anything.
  init(_ files: RunNumbers, added: AddResult? = nil) {
    self.init(
      succeeded: files.done + files.doneBefore + files.duplicates + files.unchanged + (added?.counts.unchanged ?? 0)
        + (added?.counts.known ?? 0),
      failed: files.failed + files.unknown + files.cancelled + (added?.counts.failed ?? 0)
        + (added?.counts.unknown ?? 0),
      mismatched: files.mismatched, left: files.left + (added?.counts.busy ?? 0))
  }
}
