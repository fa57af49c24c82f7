import TransferModel
import TransferReports
import Transfers

/// `--dry-run`: every file with what would be done to it, then the sums. Prints while the sources are still being read.
final class PlanPrinter: Sendable {
  private struct Entry: Sendable {
    var path: NameBytes
    /// nil for what would get none, and was not looked at.
    var key: NameBytes?
    var size: Int64?
    var verdict: String
  }

  private struct State {
    var printer: RowPrinter
    var page: [Entry] = []

    mutating func flush() {
      printer.print(FigureTable(PlanPrinter.columns, page))
      page.removeAll(keepingCapacity: true)
    }
  }

  private static let columns: [Column<Entry>] = [
    Column("verdict", "Verdict") { .text($0.verdict) },
    Column("bytes", "Size") { Cell(bytes: $0.size) },
    Column(name: "path", "Path") { $0.path },
    Column(name: "key", "Key") { $0.key },
  ]

  private let state: Lock<State>
  private let isForPeople: Bool
  private let isVerbose: Bool
  private let isQuiet: Bool
  private let options: UploadOptions
  private let context: Context
  private let reporter: ProgressReporter

  /// With `--verbose` what is unchanged or left out gets its row, too; with `--quiet` nothing does.
  init(_ options: UploadOptions, _ common: CommonOptions, _ context: Context) {
    let printer = RowPrinter(
      schema: "transfers.plan/1", store: StoreIdentity(path: options.storePath), common, context)
    self.options = options
    isVerbose = common.verbose
    isQuiet = common.quiet
    state = Lock(State(printer: printer))
    isForPeople = common.format.isForPeople
    self.context = context
    reporter = ProgressReporter(context.err, isQuiet: common.quiet)
  }

  func run(_ sources: [NameBytes]) throws(CommandFailure) {
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try Transfers.plan(sources, options) { [self] in take($0) }
    }
    let printer = state.withLock { state in
      state.flush()
      return state.printer
    }
    try printer.finish(empty: "nothing to send", summary: Self.summary(result))
    guard isForPeople else { return }
    let read =
      result.variables.isEmpty
      ? "" : ", with \(result.variables.map(printable).joined(separator: ", ")) of the environment"
    context.out.writeLine("to \(result.hosts.map(printable).joined(separator: ", "))\(read)")
    context.out.writeLine(Self.line(result))
  }

  private func take(_ notice: Notice) {
    guard case .planned(let path, let key, let size, let verdict) = notice else { return reporter.notice(notice) }
    guard !isQuiet else { return }
    guard isVerbose || !(verdict == "unchanged" || verdict.hasPrefix("excluded")) else { return }
    state.withLock { state in
      state.page.append(Entry(path: path, key: key, size: size, verdict: verdict))
      if state.page.count >= 200 { state.flush() }
    }
  }

  private static func summary(_ result: PlanResult) -> FigureObject {
    FigureObject([
      ("new", Cell(result.new)), ("unchanged", Cell(result.unchanged)), ("changed", Cell(result.changed)),
      ("queued", Cell(result.queued)), ("requeued", Cell(result.requeued)), ("unknown", Cell(result.unknown)),
      ("repeated", Cell(result.repeated)),
      ("special", Cell(result.special)), ("failed", Cell(result.failed)), ("excluded", Cell(result.excluded)),
      ("excluded_by", .counts(Dictionary(uniqueKeysWithValues: result.excludedBy.map { ($0.rule, $0.files) }))),
      ("chunks", Cell(result.chunks)), ("bytes", .bytes(result.bytes)), ("requests", Cell(result.requests)),
      ("hosts", .text(result.hosts.joined(separator: " "))),
      ("variables", .text(result.variables.joined(separator: " "))),
    ])
  }

  /// `would send 3 files (2 new, 1 changed), 4.1 MiB in 3 chunks, 3 requests; 116 unchanged, 1 excluded (--exclude *.tmp)`.
  static func line(_ result: PlanResult) -> String {
    let sent = Quantity.count(result.new + result.changed + result.requeued, "file")
    let again = result.requeued > 0 ? ", \(result.requeued) that failed before" : ""
    var rest = ["\(result.unchanged) unchanged"]
    if result.queued > 0 { rest.append("\(result.queued) already queued") }
    if result.unknown > 0 { rest.append("\(result.unknown) unknown") }
    if result.repeated > 0 { rest.append("\(result.repeated) named again") }
    if result.failed > 0 { rest.append("\(result.failed) failed") }
    if result.special > 0 { rest.append("\(result.special) skipped") }
    let rules = result.excludedBy.prefix(5).map { "\($0.files) by \(printable($0.rule))" }
    let more = result.excludedBy.count > 5 ? ", …" : ""
    rest.append("\(result.excluded) excluded" + (rules.isEmpty ? "" : " (\(rules.joined(separator: ", "))\(more))"))
    return
      "would send \(sent) (\(result.new) new, \(result.changed) changed\(again)), \(Quantity.bytes(result.bytes)) in "
      + "\(Quantity.count(result.chunks, "chunk")), \(Quantity.count(result.requests, "request")); "
      + rest.joined(separator: ", ")
  }
}
