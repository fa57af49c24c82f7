import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The end of a command that ran an engine: its summary, and the exit code of its numbers.
struct RunConclusion {
  let session: EngineSession
  /// What a push recorded before; suggested commands are then limited to its batches.
  let add: AddResult?
  let destination: String
  let storePath: String
  let sinceMs: Int64
  /// The job that was run, if any.
  var job: String? = nil
  /// The URLs of a pull, as typed.
  var sources: [NameBytes] = []

  private var context: Context { session.context }
  private var batches: [BatchID]? { add?.files.batches }

  /// Prints the summary and ends with the exit code of the numbers.
  func tell(_ numbers: RunNumbers) throws(CommandFailure) {
    let (value, failure) = try summary(numbers)
    try session.common.print(value, store: StoreIdentity.read(storePath, context), context)
    if let failure { throw failure }
  }

  /// The summary, and its failure; nil on success.
  func summary(_ numbers: RunNumbers) throws(CommandFailure) -> (RunOutput, CommandFailure?) {
    var numbers = numbers
    if numbers.cancelled > 0 { numbers.undecided = try undecided() }
    let status = ExitCode(numbers, added: add)
    let problems = status == .ok ? [] : try problems(numbers.badBefore > 0 ? nil : sinceMs)
    if let hint = SourceHint.of(sources, problems) { session.reporter.say(hint) }
    let removals = try removals()
    if let remark = RemovalFigures.remark(removals) {
      // A source that is kept for good needs a person, so this is printed even after a quiet run.
      if removals.kept > 0 { session.reporter.announce(remark) } else { session.reporter.say(remark) }
    }
    let value = RunOutput(
      numbers, add: add, addOutput: add.map { AddOutput(result: $0, destination: destination) }, status: status,
      problems: problems, removals: removals)
    return (value, failure(numbers, status))
  }

  private func failure(_ numbers: RunNumbers, _ status: ExitCode) -> CommandFailure? {
    if numbers.left > 0, let signal = session.stoppingSignal {
      return CommandFailure(
        signal == SIGINT ? .interrupted : .terminated,
        "stopped immediately with \(Quantity.count(numbers.left, "file")) left",
        remedy: "transfers run", signal: signal)
    }
    // Not "work left": another run would not help.
    if let error = numbers.unrecorded { return CommandFailure(error) }
    return status == .ok ? nil : RunFailure(status: status, numbers: numbers, add: add).failure
  }

  // MARK: - Queries

  /// The cancelled files that may have arrived and that nobody has decided about.
  private func undecided() throws(CommandFailure) -> [FileID] {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var filter = RowFilter.states([.cancelled])
    filter.withinBatches = batches?.map(\.rawValue)
    return try LedgerAccess.read(ledger) { try $0.undecided(filter) }
  }

  /// The causes of failed files, most frequent first; without a time, of all files that are not hidden. What the scan
  /// of `add` could not read counts, also if an earlier scan has recorded the failure.
  private func problems(_ sinceMs: Int64?) throws(CommandFailure) -> [FailureRow] {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var filter = RowFilter()
    filter.withinBatches = batches?.map(\.rawValue)
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
  private func removals() throws(CommandFailure) -> RemovalTotals {
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
}
