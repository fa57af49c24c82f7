import TransferModel
import TransferReports
import Transfers

/// What people are told of a run that did not succeed, and what they can do.
struct RunFailure {
  let status: ExitCode
  let numbers: RunNumbers
  let add: AddResult?

  private var failed: Int { numbers.failed + (add?.counts.failed ?? 0) }
  private var unknown: Int { numbers.unknown + (add?.counts.unknown ?? 0) }

  var failure: CommandFailure { CommandFailure(status, text, remedy: remedy) }

  private var text: String {
    let left = numbers.left > 0 ? ", \(numbers.left) left\(numbers.longer)" : ""
    let remaining = Quantity.count(numbers.left, "file")
    let bad = words + numbers.mayHaveArrived + numbers.earlier + named
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
  private var words: String {
    let parts = [(failed, "failed"), (unknown, "unknown"), (numbers.cancelled, "cancelled")].filter { $0.0 > 0 }
    return parts.enumerated().map { n, part in
      "\(n == 0 ? Quantity.count(part.0, "file") : "\(part.0)") \(part.1)"
    }.joined(separator: ", ")
  }

  /// ` (/src/f and 2 others)`: the files without a row; empty if there are none.
  private var named: String {
    guard let add, let path = add.unrecordedPath else { return "" }
    let others = add.unrecorded.failed + add.unrecorded.unknown - 1
    return " (\(path)\(others > 0 ? " and \(Quantity.count(others, "other"))" : ""))"
  }

  // MARK: - Remedies

  private var remedy: String {
    let selector = RunOutput.selector(add)
    guard status == .workLeft else {
      let bad = failed + unknown + numbers.mismatched
      guard bad == 0 && numbers.cancelled > 0 else { return Self.remedy(ofBad: bad, add, selector) }
      // A retry of all would repeat what may have arrived.
      guard numbers.undecided.isEmpty else { return "transfers help resolve" }
      return "transfers retry --state cancelled\(selector)" + (add == nil ? ", or transfers clean" : "")
    }
    if numbers.tooLong > 0 { return "raise --max-bytes (of a job: max_bytes), or \(numbers.wayOn(selector))" }
    return numbers.left == 0 ? AddOutput.busyRemedy : numbers.wayOn(selector)
  }

  /// `report failures` shows nothing about files without a row.
  static func remedy(ofBad bad: Int, _ add: AddResult?, _ selector: String) -> String {
    let (failed, unknown) = add?.unrecorded ?? (0, 0)
    guard bad == failed + unknown else { return "transfers report failures\(selector)" }
    return unknown > 0 ? "transfers help resolve" : ""
  }
}

extension RunNumbers {
  /// ` (2 of them before this run)`, for failed and unknown files; empty if there are none.
  var earlier: String { badBefore > 0 ? " (\(badBefore) of them before this run)" : "" }

  /// ` (f7 and 2 others may have arrived)`; empty if none may have.
  fileprivate var mayHaveArrived: String {
    guard let file = undecided.first else { return "" }
    let others = undecided.count > 1 ? " and \(Quantity.count(undecided.count - 1, "other"))" : ""
    return " (\(file)\(others) may have arrived)"
  }
}
