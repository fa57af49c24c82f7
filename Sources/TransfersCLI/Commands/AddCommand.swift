import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers add`: records, sends nothing.
struct AddCommand: MovesFiles, HasInapplicableOptions, NamesPlace {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Record files to upload; a later \"transfers run\" sends them.",
    discussion: "Works while an engine runs, which then sends the files.")

  @OptionGroup(title: "Batch") var batch: BatchOptions
  @Flag(name: [.customShort("n"), .long], help: "Only print the plan; writes and sends nothing.")
  var dryRun = false
  @OptionGroup var common: CommonOptions

  var inapplicableOptions: Set<String> { batch.inapplicableOptions(Config()) }
  func inapplicableOptions(_ config: Config) -> Set<String> { batch.inapplicableOptions(config) }
  var placeWord: (word: String, kind: ConfigSection.Kind)? { batch.placeWord }

  func localPlaces(_ context: Context) -> LocalPlaces { batch.localPlaces }

  func execute(_ context: Context) throws(CommandFailure) {
    let options = try batch.upload(context)
    let path = try common.storePath(context)
    if dryRun {
      return try PlanPrinter(path, .upload, common, context).run { store, notice throws(TransferError) in
        try store.plan(batch.namedSources, options, notice: notice)
      }
    }
    try common.checkColumns(of: AddOutput.sample, context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try context.store(path).add(batch.namedSources, options) { reporter.notice($0) }
    }
    let value = AddOutput(result: result, destination: options.settings.destination)
    try common.print(value, store: StoreIdentity.read(path, context), context)
    try Self.requireSuccess(result)
  }

  /// Files that could not be recorded for transfer make the command fail; the others are queued. Busy files whose new
  /// content was not recorded count as work left.
  static func requireSuccess(_ result: AddResult) throws(CommandFailure) {
    let counts = result.counts
    guard counts.failed + counts.unknown + counts.busy > 0 else { return }
    let succeeded = counts.added + counts.unchanged + counts.queued + counts.requeued + counts.known
    let status = ExitCode(
      succeeded: succeeded, failed: counts.failed + counts.unknown, mismatched: 0, left: counts.busy)
    throw CommandFailure(
      status, AddOutput.problem(counts),
      remedy: status == .workLeft
        ? AddOutput.busyRemedy
        : RunFailure.remedy(
          ofBad: counts.failed + counts.unknown, result, result.batch.map { " --batch \($0)" } ?? ""))
  }
}

/// What `add` did.
struct AddOutput: OutputValue {
  private let result: AddResult
  private let destination: String

  init(result: AddResult, destination: String) { (self.result, self.destination) = (result, destination) }

  static let form = ReportForm<AddOutput>("transfers.add/1", sections)

  static let sections: [SectionForm<AddOutput>] = [
    .facts([
      .text("batch", "") { $0.result.batch?.description }.saying { line($0.result, destination: $0.destination) },
      .bytes("bytes") { $0.result.counts.bytes },
    ]),
    .record("files", nil, counts) { $0.result.counts },
  ]

  /// Sections without a line for people, because the engine reported the batch when it began.
  static let silentSections: [SectionForm<AddOutput>] = [
    .facts([.text("batch") { $0.result.batch?.description }, .bytes("bytes") { $0.result.counts.bytes }]),
    .record("files", nil, counts) { $0.result.counts },
  ]

  private static let counts: [Column<SourceCounts>] = [
    .integer("added") { $0.added }, .integer("changed") { $0.changed }, .integer("unchanged") { $0.unchanged },
    .integer("staying") { $0.staying },
    .integer("queued") { $0.queued }, .integer("busy") { $0.busy }, .integer("requeued") { $0.requeued },
    .integer("repeated") { $0.repeated },
    .integer("unknown") { $0.unknown }, .integer("failed") { $0.failed }, .integer("special") { $0.special },
    .integer("excluded") { $0.excluded },
    .integer("settling") { $0.settling }, .integer("not_ready") { $0.notReady }, .integer("known") { $0.known },
  ]

  /// A value with all optional parts.
  static var sample: AddOutput {
    let files = AddedFiles(since: .beginning, batch: nil, files: SelectedFiles())
    return AddOutput(result: AddResult(batch: nil, files: files), destination: "")
  }

  /// `b412: 118 new, 0 unchanged, 3.2 GiB to s3://bucket/runs/`; without a batch when nothing had to be recorded.
  static func line(_ result: AddResult, destination: String, _ direction: Direction = .upload) -> String {
    let counts = result.counts
    var parts = [new(counts), "\(counts.unchanged) unchanged"]
    if counts.queued > 0 { parts.append("\(counts.queued) already queued") }
    if counts.busy > 0 { parts.append("\(counts.busy) busy") }
    if counts.requeued > 0 { parts.append("\(counts.requeued) that failed before") }
    if counts.repeated > 0 { parts.append("\(counts.repeated) named again") }
    if counts.unknown > 0 { parts.append("\(counts.unknown) unknown") }
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    if counts.special > 0 { parts.append("\(counts.special) skipped") }
    if counts.settling > 0 { parts.append("\(counts.settling) settling") }
    if counts.notReady > 0 { parts.append("\(counts.notReady) not ready") }
    if counts.known > 0 { parts.append("\(counts.known) at the destination already") }
    if counts.excluded > 0 { parts.append("\(counts.excluded) excluded") }
    let batch = result.batch.map { "\($0): " } ?? ""
    // The sizes of files to fetch may be unknown.
    let isVague = direction == .download && counts.bytes == 0 && counts.added + counts.requeued > 0
    let size = Quantity.bytes(counts.bytes) + (isVague ? " as far as sizes are known," : "")
    return "\(batch)\(parts.joined(separator: ", ")), \(size) to \(printable(destination))"
  }

  /// `118 new`, or `118 new (3 of them newer versions)`.
  private static func new(_ counts: SourceCounts) -> String {
    counts.changed > 0 ? "\(counts.added) new (\(counts.changed) of them newer versions)" : "\(counts.added) new"
  }

  /// The message for sources whose new content was not recorded.
  static func busy(_ counts: SourceCounts) -> String {
    let files = Quantity.count(counts.busy, "changed file")
    return "\(files) not recorded, because an older version was being sent, or another file of that name is paused"
  }
  static let busyRemedy = "run the same command again when that one has ended"

  static func problem(_ counts: SourceCounts) -> String {
    var parts: [String] = []
    if counts.failed > 0 { parts.append("\(Quantity.count(counts.failed, "file")) could not be read or recorded") }
    if counts.unknown > 0 {
      parts.append("the outcome of \(Quantity.count(counts.unknown, "file")) is unknown and not retried automatically")
    }
    if counts.busy > 0 { parts.append(busy(counts)) }
    return parts.joined(separator: "; ")
  }
}
