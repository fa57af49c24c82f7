import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension RunNumbers {
  /// ` (2 of them before this run)`, for failed and unknown files; empty if there are none.
  var earlier: String { badBefore > 0 ? " (\(badBefore) of them before this run)" : "" }
}

extension RunNumbers {
  /// ` (f7 and 2 others may have arrived)`; empty if none may have.
  fileprivate var mayHaveArrived: String {
    guard let file = undecided.first else { return "" }
    let others = undecided.count > 1 ? " and \(Quantity.count(undecided.count - 1, "other"))" : ""
    return " (\(file)\(others) may have arrived)"
  }
}

extension EngineSession {
  /// Prints the summary and ends with the exit code of the numbers. `add` is what a push recorded before; suggested
  /// commands are then limited to its batches.
  func conclude(
    _ numbers: RunNumbers, add: AddResult?, destination: String, storePath: String, sinceMs: Int64
  ) throws(CommandFailure) {
    let (value, failure) = try requireSuccess(
      numbers, add: add, destination: destination, storePath: storePath, sinceMs: sinceMs)
    try common.print(value, store: StoreIdentity.read(storePath, context), context)
    if let failure { throw failure }
  }

  /// The summary, and its failure; nil on success. `job` is the job that was run, if any.
  func requireSuccess(
    _ numbers: RunNumbers, add: AddResult?, destination: String, storePath: String, sinceMs: Int64, job: String? = nil
  ) throws(CommandFailure) -> (RunOutput, CommandFailure?) {
    var numbers = numbers
    if numbers.cancelled > 0 { numbers.undecided = try undecided(storePath, add?.files.batches) }
    let (failed, unknown) = (numbers.failed + (add?.counts.failed ?? 0), numbers.unknown + (add?.counts.unknown ?? 0))
    let status = ExitCode(numbers, added: add)
    let problems =
      status == .ok ? [] : try problems(storePath, add, numbers.badBefore > 0 ? nil : sinceMs)
    let removals = try removals(storePath, add?.files.batches, sinceMs, job: job)
    if let remark = RemovalFigures.remark(removals) {
      // A source that is kept for good needs a person, so this is printed even after a quiet run.
      if removals.kept > 0 { reporter.announce(remark) } else { reporter.say(remark) }
    }
    let value = RunOutput(
      numbers, add: add, addOutput: add.map { AddOutput(result: $0, destination: destination) }, status: status,
      problems: problems, removals: removals)
    if numbers.left > 0, let signal = stoppingSignal {
      return (
        value,
        CommandFailure(
          signal == SIGINT ? .interrupted : .terminated,
          "stopped immediately with \(Quantity.count(numbers.left, "file")) left",
          remedy: "transfers run", signal: signal)
      )
    }
    // Not "work left": another run would not help.
    if let error = numbers.unrecorded { return (value, CommandFailure(error)) }
    guard status != .ok else { return (value, nil) }
    let bad = Self.words(failed: failed, unknown: unknown, cancelled: numbers.cancelled) + numbers.mayHaveArrived
    let failure = CommandFailure(
      status, text(status, numbers, add, bad: bad),
      remedy: remedy(status, numbers, add, bad: failed + unknown + numbers.mismatched))
    return (value, failure)
  }

  /// The cancelled files that may have arrived and that nobody has decided about.
  private func undecided(_ storePath: String, _ batches: [BatchID]?) throws(CommandFailure) -> [FileID] {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var filter = RowFilter.states([.cancelled])
    filter.withinBatches = batches?.map(\.rawValue)
    return try LedgerAccess.read(ledger) { try $0.undecided(filter) }
  }

  /// The causes of failed files, most frequent first; without a time, of all files that are not hidden. What the scan
  /// of `add` could not read counts, also if an earlier scan has recorded the failure.
  private func problems(
    _ storePath: String, _ add: AddResult?, _ sinceMs: Int64?
  ) throws(CommandFailure) -> [FailureRow] {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var filter = RowFilter()
    filter.withinBatches = add?.files.batches.map(\.rawValue)
    filter.finishedSinceMs = sinceMs
    return try LedgerAccess.read(ledger) { reader in
      filter.leavesOutHidden = try reader.hasHiddenRows()
      let rows = try add.map { try reader.failures(filter, and: $0) } ?? reader.failures(filter)
      return sinceMs == nil ? rows.filter { $0.files > 0 } : rows
    }
  }

  /// Sources that `--after` should have deleted or moved, but that still exist: those of the batches of a push, of all
  /// batches of a job, or all after a run. Sources kept since before `sinceMs` are not counted, because an earlier run
  /// reported them; those of a job may have been kept by any engine since its last run ended.
  private func removals(
    _ storePath: String, _ batches: [BatchID]?, _ sinceMs: Int64, job: String?
  ) throws(CommandFailure) -> RemovalTotals {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { reader in
      guard let job else {
        var filter = RowFilter()
        filter.withinBatches = batches?.map(\.rawValue)
        return try reader.removals(filter, keptSinceMs: sinceMs)
      }
      let lastMs = try reader.jobs().first { $0.job == job }?.endedMs ?? .min
      return try reader.removals(ofJob: job, keptSinceMs: min(lastMs, sinceMs))
    }
  }

  private func text(_ status: ExitCode, _ numbers: RunNumbers, _ add: AddResult?, bad: String) -> String {
    let left = numbers.left > 0 ? ", \(numbers.left) left\(numbers.longer)" : ""
    let remaining = Quantity.count(numbers.left, "file")
    let bad = bad + numbers.earlier + Self.named(add)
    return switch status {
    case .mismatch: "\(Quantity.count(numbers.mismatched, "file")) arrived corrupted"
    case .workLeft where numbers.left == 0: add.map { AddOutput.busy($0.counts) } ?? "stopped"
    case .workLeft: "\(numbers.stopReason ?? "stopped") with \(remaining) left\(numbers.longer)"
    case .allFailed where numbers.unknown > 0: "nothing is known to have succeeded: \(bad)"
    case .allFailed: "nothing succeeded: \(bad)"
    default: "\(bad), \(numbers.done) done\(left)"
    }
  }

  /// Problems in words: `1 file failed, 2 unknown`.
  private static func words(failed: Int, unknown: Int, cancelled: Int) -> String {
    let parts = [(failed, "failed"), (unknown, "unknown"), (cancelled, "cancelled")].filter { $0.0 > 0 }
    return parts.enumerated().map { n, part in
      "\(n == 0 ? Quantity.count(part.0, "file") : "\(part.0)") \(part.1)"
    }.joined(separator: ", ")
  }

  private func remedy(_ status: ExitCode, _ numbers: RunNumbers, _ add: AddResult?, bad: Int) -> String {
    let selector = RunOutput.selector(add)
    guard status == .workLeft else {
      guard bad == 0 && numbers.cancelled > 0 else { return Self.remedy(ofBad: bad, add, selector) }
      // A retry of all would repeat what may have arrived.
      guard numbers.undecided.isEmpty else { return "transfers help resolve" }
      return "transfers retry --state cancelled\(selector)" + (add == nil ? ", or transfers clean" : "")
    }
    if numbers.tooLong > 0 { return "raise --max-bytes (of a job: max_bytes), or \(numbers.wayOn(selector))" }
    return numbers.left == 0 ? AddOutput.busyRemedy : numbers.wayOn(selector)
  }

  /// ` (/src/f and 2 others)`: the files without a row; empty if there are none.
  private static func named(_ add: AddResult?) -> String {
    guard let add, let path = add.unrecordedPath else { return "" }
    let others = add.unrecorded.failed + add.unrecorded.unknown - 1
    return " (\(path)\(others > 0 ? " and \(Quantity.count(others, "other"))" : ""))"
  }

  /// `report failures` shows nothing about files without a row.
  static func remedy(ofBad bad: Int, _ add: AddResult?, _ selector: String) -> String {
    let (failed, unknown) = add?.unrecorded ?? (0, 0)
    guard bad == failed + unknown else { return "transfers report failures\(selector)" }
    return unknown > 0 ? "transfers help resolve" : ""
  }
}
