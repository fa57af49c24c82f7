import TransferLedger
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension EngineSession {
  /// Prints the summary and ends with the exit code that the numbers deserve. `add` is what a push recorded before; the
  /// commands that are named as the next ones are then about its batches.
  func conclude(
    _ numbers: RunNumbers, add: AddResult?, destination: String, storePath: String, sinceMs: Int64
  ) throws(CommandFailure) {
    let failed = numbers.failed + numbers.unknown + numbers.cancelled + (add?.failed ?? 0) + (add?.unknown ?? 0)
    let succeeded = numbers.done + (add?.unchanged ?? 0)
    let status = ExitCode(
      succeeded: succeeded, failed: failed, mismatched: numbers.mismatched, left: numbers.left)
    let problems = status == .ok ? [] : try problems(storePath, add?.files.batches, sinceMs)
    let value = RunOutput(
      numbers, add: add, addOutput: add.map { AddOutput(result: $0, destination: destination) }, status: status,
      problems: problems)
    try common.print(value, store: StoreIdentity.read(storePath, context), context)
    if numbers.left > 0, let signal = stoppingSignal {
      throw CommandFailure(
        signal == SIGINT ? .interrupted : .terminated,
        "stopped at once with \(Quantity.count(numbers.left, "file")) left",
        remedy: "transfers run", signal: signal)
    }
    guard status != .ok else { return }
    throw CommandFailure(status, text(status, numbers, failed: failed), remedy: remedy(status, numbers, add))
  }

  /// The reasons of failed files, most files first.
  private func problems(
    _ storePath: String, _ batches: [BatchID]?, _ sinceMs: Int64
  ) throws(CommandFailure) -> [FailureRow] {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var filter = RowFilter()
    filter.withinBatches = batches?.map(\.rawValue)
    filter.finishedSinceMs = sinceMs
    return try failing { () throws(TransferError) in try ledger.read { try $0.failures(filter) } }
  }

  private func text(_ status: ExitCode, _ numbers: RunNumbers, failed: Int) -> String {
    let left = numbers.left > 0 ? ", \(numbers.left) left" : ""
    let bad = numbers.cancelled == 0 ? "failed" : numbers.cancelled == failed ? "cancelled" : "failed or cancelled"
    return switch status {
    case .mismatch: "\(Quantity.count(numbers.mismatched, "file")) arrived with other bytes than were sent"
    case .workLeft: "\(numbers.stopReason ?? "stopped") with \(Quantity.count(numbers.left, "file")) left"
    case .allFailed: "nothing succeeded: \(Quantity.count(failed, "file")) \(bad)"
    default: "\(Quantity.count(failed, "file")) \(bad), \(numbers.done) done\(left)"
    }
  }

  private func remedy(_ status: ExitCode, _ numbers: RunNumbers, _ add: AddResult?) -> String {
    let selector = RunOutput.selector(add)
    guard status == .workLeft else { return "transfers report failures\(selector)" }
    return numbers.wayOn(selector)
  }
}
