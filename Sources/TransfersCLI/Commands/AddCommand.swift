import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports
import Transfers

/// `transfers add`: records, sends nothing.
struct AddCommand: Command, HasIdleOptions {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Record files to upload; a later \"transfers run\" sends them.",
    discussion: "Works while an engine runs, which then picks the files up.")

  @OptionGroup(title: "Batch") var batch: BatchOptions
  @Flag(name: [.customShort("n"), .long], help: "Only print the plan; writes and sends nothing.")
  var dryRun = false
  @OptionGroup var common: CommonOptions

  var idleOptions: Set<String> { batch.idleOptions }

  func execute(_ context: Context) throws(CommandFailure) {
    let options = try batch.upload(common, context)
    if dryRun { return try PlanPrinter(options, common, context).run(batch.namedSources) }
    try common.checkColumns(of: AddOutput.sample, context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try Transfers.add(batch.namedSources, options) { reporter.notice($0) }
    }
    let value = AddOutput(result: result, destination: options.settings.destination)
    try common.print(value, store: StoreIdentity.read(options.storePath, context), context)
    try Self.judge(result)
  }

  /// Files that could not even be recorded as work make the command fail, the others are queued.
  static func judge(_ result: AddResult) throws(CommandFailure) {
    guard result.failed + result.unknown > 0 else { return }
    let succeeded = result.added + result.unchanged + result.queued + result.requeued
    let status = ExitCode(succeeded: succeeded, failed: result.failed + result.unknown, mismatched: 0, left: 0)
    throw CommandFailure(
      status, AddOutput.problem(result),
      remedy: "transfers report failures\(result.batch.map { " --batch \($0)" } ?? "")")
  }
}

/// What `add` did.
struct AddOutput: OutputValue {
  static let schema = "transfers.add/1"
  let batch: Cell
  let files: Counts
  let bytes: Cell
  private let result: AddResult
  private let destination: String

  struct Counts: Encodable, Sendable {
    let added, changed, unchanged, queued, requeued, repeated, unknown, failed, special, excluded: Int
  }
  private enum CodingKeys: String, CodingKey { case batch, files, bytes }

  init(result: AddResult, destination: String) {
    batch = Cell(result.batch?.description)
    files = Counts(
      added: result.added, changed: result.changed, unchanged: result.unchanged, queued: result.queued,
      requeued: result.requeued, repeated: result.repeated, unknown: result.unknown, failed: result.failed,
      special: result.special,
      excluded: result.excluded)
    bytes = .bytes(result.bytes)
    (self.result, self.destination) = (result, destination)
  }

  /// With every part that such a value can have.
  static var sample: AddOutput {
    let files = AddedFiles(since: .beginning, batch: nil, files: SelectedFiles())
    return AddOutput(result: AddResult(batch: nil, files: files), destination: "")
  }

  func text(_ style: TextStyle) -> String { Self.line(result, destination: destination, style) + "\n" }

  /// `b412  118 new, 0 unchanged · 3.2 GiB → s3://bucket/runs/`; without a batch when nothing had to be recorded.
  static func line(_ result: AddResult, destination: String, _ style: TextStyle) -> String {
    var parts = [new(result), "\(result.unchanged) unchanged"]
    if result.queued > 0 { parts.append("\(result.queued) already queued") }
    if result.requeued > 0 { parts.append("\(result.requeued) that failed before") }
    if result.repeated > 0 { parts.append("\(result.repeated) named again") }
    if result.unknown > 0 { parts.append("\(result.unknown) unknown") }
    if result.failed > 0 { parts.append("\(result.failed) failed") }
    if result.special > 0 { parts.append("\(result.special) skipped") }
    if result.excluded > 0 { parts.append("\(result.excluded) excluded") }
    let batch = result.batch.map { "\($0)  " } ?? ""
    let size = Quantity.bytes(result.bytes)
    return "\(batch)\(parts.joined(separator: ", "))\(style.dot)\(size) \(style.arrow) \(printable(destination))"
  }

  /// `118 new`, or `118 new (3 of them newer versions)`.
  private static func new(_ result: AddResult) -> String {
    result.changed > 0 ? "\(result.added) new (\(result.changed) of them newer versions)" : "\(result.added) new"
  }

  static func problem(_ result: AddResult) -> String {
    var parts: [String] = []
    if result.failed > 0 { parts.append("\(Quantity.count(result.failed, "file")) could not be read or named") }
    if result.unknown > 0 {
      parts.append("the outcome of \(Quantity.count(result.unknown, "file")) is unknown and not tried again by itself")
    }
    return parts.joined(separator: "; ")
  }
}
