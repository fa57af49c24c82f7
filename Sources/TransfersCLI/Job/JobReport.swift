import TransferModel
import TransferReports
import Transfers

/// The output of a job run: nothing on success, else a few lines; and one line for the system log.
enum JobReport {
  static let mostLines = 20

  /// `job=nightly batch=b412 result=partial files=118 done=116 failed=2 …`: logfmt, keys are stable.
  static func summary(_ job: String, _ outcome: JobOutcome) -> String {
    let (numbers, counts) = (outcome.numbers, outcome.add?.counts ?? SourceCounts())
    let failed = numbers.failed + numbers.mismatched + counts.failed
    let unknown = numbers.unknown + counts.unknown
    let rate = Quantity.rate(bytes: numbers.bytesAcked, ms: numbers.wallMs)
    let batches = outcome.batches.map(\.description).joined(separator: ",")
    let pairs: [(String, String)] = [
      ("job", job), ("batch", batches.isEmpty ? "-" : batches), ("result", outcome.result),
      ("files", "\(numbers.done + failed + unknown + numbers.left + numbers.cancelled)"),
      ("done", "\(numbers.done)"), ("failed", "\(failed)"), ("unknown", "\(unknown)"), ("left", "\(numbers.left)"),
      ("duplicates", "\(numbers.duplicates)"), ("gone", "\(numbers.gone)"), ("unchanged", "\(counts.unchanged)"),
      ("bytes", "\(numbers.bytesAcked)"),
      ("resent", "\(numbers.bytesUnacked)"),
      ("retries", "\(numbers.retries)"), ("wall_ms", "\(outcome.endedMs - outcome.startedMs)"),
      ("bps", rate.map { "\($0)" } ?? "-"),
    ]
    let told = pairs.map { "\($0)=\($1)" }.joined(separator: " ")
    return told + (outcome.failure.map { " error=\(quoted($0.text))" } ?? "")
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.prefix(400).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// The summary of a run that failed, for standard error; the line of the error itself follows, and `others` like it.
  /// Empty if only that line says what is wrong, for example that a source is missing.
  static func lines(_ outcome: JobOutcome, besides others: Int = 0) -> String {
    guard outcome.failure != nil, let output = outcome.output, !output.isSuccess else { return "" }
    let text = TextReport.render(output.report, TextStyle(columns: nil, usesColour: false, isASCII: false))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
    return lines.prefix(mostLines - 1 - others).map { $0 + "\n" }.joined()
  }

  /// The errors of writing that are told beside that with which the command ends: one of each kind.
  static func others(_ problems: [CommandFailure], than end: CommandFailure?) -> [CommandFailure] {
    var kinds = Set([end?.code])
    return problems.filter { kinds.insert($0.code).inserted }
  }
}
