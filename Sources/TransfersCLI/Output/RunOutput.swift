import TransferModel
import TransferReports
import Transfers

/// How a `run` or `push` ended.
struct RunOutput: OutputValue {
  static let schema = "transfers.run/1"
  let batch: Cell
  let result: String
  let files: Counts
  let bytesAcked, bytesReused, bytesTransferred, bytesUnacked, bytesUnackedAtMost, retries, wallMs, bps: Cell
  let stoppedBy: Cell
  let unreachableHosts: [String]
  let failures: FigureTable
  /// Of a `push`: what was recorded before.
  let added: AddOutput?
  private let problems: [FailureRow]
  private let numbers: RunNumbers
  private let selector: String

  struct Counts: Encodable, Sendable {
    let done, failed, unknown, mismatched, cancelled, unchanged, left: Int
    /// Of the failed, unknown and mismatched: so before a `run` began.
    let earlier: Int
  }

  private enum CodingKeys: String, CodingKey {
    case batch, result, files, bytesAcked, bytesReused, bytesTransferred, bytesUnacked, bytesUnackedAtMost, retries,
      wallMs, bps, stoppedBy, unreachableHosts
    case failures, added
  }

  /// `status` is the exit code that the numbers deserve; `problems` what went wrong, worst first.
  init(
    _ run: RunNumbers, add: AddResult?, addOutput: AddOutput?, status: ExitCode, problems: [FailureRow]
  ) {
    batch = Cell(add?.batch?.description)
    selector = Self.selector(add)
    result = status.name
    files = Counts(
      done: run.done, failed: run.failed + (add?.counts.failed ?? 0), unknown: run.unknown + (add?.counts.unknown ?? 0),
      mismatched: run.mismatched, cancelled: run.cancelled, unchanged: add?.counts.unchanged ?? 0, left: run.left,
      earlier: run.badBefore)
    bytesAcked = .bytes(run.bytesAcked)
    bytesReused = .bytes(run.bytesReused)
    bytesTransferred = .bytes(run.bytesTransferred)
    bytesUnacked = .bytes(run.bytesUnacked)
    bytesUnackedAtMost = .bytes(run.bytesUnackedAtMost)
    retries = Cell(run.retries)
    wallMs = .milliseconds(run.wallMs)
    bps = Cell(bytesPerSecond: Quantity.rate(bytes: run.bytesAcked, ms: run.wallMs))
    stoppedBy = Cell(run.stoppedBy?.rawValue)
    unreachableHosts = run.unreachable
    failures = FigureTable(FailureFigures.columns, problems)
    added = addOutput
    self.problems = problems
    numbers = run
  }

  /// With every part that such a value can have.
  static func sample(ofPush: Bool) -> RunOutput {
    RunOutput(
      .none, add: nil, addOutput: ofPush ? AddOutput.sample : nil, status: .ok, problems: [])
  }

  func text(_ style: TextStyle) -> String {
    var lines = [headline(style)]
    for problem in problems.filter({ $0.files > 0 }).prefix(3) {
      lines.append(FailureFigures.line(problem, times: style.times))
    }
    if let next { lines.append(next) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// `b412 partial: 116 done, 2 failed · 3.2 GiB in 1m 34s · 34.9 MiB/s · 7 retries · 12 MiB transferred and not
  /// acked`.
  private func headline(_ style: TextStyle) -> String {
    var counts = ["\(files.done) done"]
    if files.failed > 0 { counts.append("\(files.failed) failed") }
    if files.unknown > 0 { counts.append("\(files.unknown) unknown") }
    if files.mismatched > 0 { counts.append("\(files.mismatched) mismatched") }
    if !numbers.earlier.isEmpty { counts[counts.count - 1] += numbers.earlier }
    if files.cancelled > 0 { counts.append("\(files.cancelled) cancelled") }
    if files.unchanged > 0 { counts.append("\(files.unchanged) unchanged") }
    if files.left > 0 { counts.append("\(files.left) left") }
    var parts = [counts.joined(separator: ", ")]
    parts.append("\(bytesAcked.text) in \(wallMs.text)")
    if bps != .none, numbers.bytesAcked > 0 { parts.append(bps.text) }
    if numbers.retries > 0 { parts.append(Quantity.count(numbers.retries, "retry")) }
    if let reused = Quantity.reused(numbers.bytesReused) { parts.append(reused) }
    if let unacked = Quantity.unacked(numbers.bytesUnacked, atMost: numbers.bytesUnackedAtMost) {
      parts.append(unacked)
    }
    if let reason = numbers.stopReason, files.left > 0 { parts.append(reason) }
    let word = style.paint(result.replacing("_", with: " "), result == "ok" ? .green : .red)
    return (batch == .none ? "" : "\(batch.text) ") + word + ": " + parts.joined(separator: style.dot)
  }

  /// For commands about the files of a push; empty after a run, which was about everything.
  static func selector(_ add: AddResult?) -> String { (add?.files.batches ?? []).map { " --batch \($0)" }.joined() }

  private var next: String? {
    var commands: [String] = []
    if files.left > 0 { commands.append(numbers.wayOn(selector)) }
    if files.failed + files.unknown + files.mismatched > 0 {
      commands.append("transfers report failures\(selector)")
      if files.failed + files.mismatched > 0 { commands.append("transfers retry --state failed\(selector)") }
      if files.unknown > 0 { commands.append("transfers help resolve") }
    } else if files.cancelled > 0 {
      commands.append("transfers retry --state cancelled\(selector)")
    }
    return commands.isEmpty ? nil : "Next: " + commands.joined(separator: "     ")
  }
}
