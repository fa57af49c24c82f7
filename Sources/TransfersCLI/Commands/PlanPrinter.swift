import TransferModel
import TransferReports
import Transfers

/// `--dry-run`: every file with its planned action, then the totals. Prints while the sources are still being read.
final class PlanPrinter: Sendable {
  struct Entry: Sendable {
    var path: NameBytes
    /// nil for files without a key.
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

  static let columns: [Column<Entry>] = [
    .text("verdict", "Status") { $0.verdict },
    .bytes("bytes", "Size") { $0.size },
    .name("path", "Path") { $0.path },
    .name("key", "Key") { $0.key },
  ]

  private let state: Lock<State>
  private let isForPeople: Bool
  private let isVerbose: Bool
  private let isQuiet: Bool
  private let direction: Direction
  private let store: TransferStore
  private let context: Context
  private let reporter: ProgressReporter

  /// With `--verbose` unchanged and excluded files are printed too; with `--quiet` none are.
  init(_ storePath: String, _ direction: Direction, _ common: CommonOptions, _ context: Context) {
    let printer = RowPrinter(
      schema: "transfers.plan/1", store: StoreIdentity(path: storePath), common, context)
    self.direction = direction
    store = context.store(storePath)
    isVerbose = common.verbose
    isQuiet = common.quiet
    state = Lock(State(printer: printer))
    isForPeople = common.format.isForPeople
    self.context = context
    reporter = ProgressReporter(context.err, isQuiet: common.quiet)
  }

  /// - Parameter plan: makes the plan, and reports each of its files as a notice.
  func run(
    _ plan: (TransferStore, @escaping @Sendable (Notice) -> Void) throws(TransferError) -> PlanResult
  ) throws(CommandFailure) {
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try plan(store) { [self] in take($0) }
    }
    let printer = state.withLock { state in
      state.flush()
      return state.printer
    }
    // With --quiet no file is listed, whether there are some or not.
    try printer.finish(empty: isQuiet ? "" : "nothing to \(verb)", summary: Self.summary(result))
    guard isForPeople else { return }
    let read =
      result.variables.isEmpty
      ? "" : ", with \(result.variables.map(printable).joined(separator: ", ")) from the environment"
    context.out.writeLine("contacts \(result.hosts.map(printable).joined(separator: ", "))\(read)")
    context.out.writeLine(direction == .upload ? Self.line(result) : Self.line(ofDownload: result))
  }

  private var verb: String { direction == .upload ? "send" : "fetch" }

  private func take(_ notice: Notice) {
    switch notice {
    case .planned(let path, let key, let size, let verdict):
      take(Entry(path: path, key: key, size: size, verdict: verdict), isDetail: verdict == "unchanged")
    case .excluded(let path, let rule):
      take(Entry(path: path, key: nil, size: nil, verdict: "excluded: \(rule)"), isDetail: true)
    default: reporter.notice(notice)
    }
  }

  private func take(_ entry: Entry, isDetail: Bool) {
    guard !isQuiet, isVerbose || !isDetail else { return }
    state.withLock { state in
      state.page.append(entry)
      if state.page.count >= 200 { state.flush() }
    }
  }

  private static func summary(_ result: PlanResult) -> FigureObject {
    let counts = result.counts
    return FigureObject([
      ("new", Cell(counts.added - counts.changed)), ("unchanged", Cell(counts.unchanged)),
      ("changed", Cell(counts.changed)),
      ("queued", Cell(counts.queued)), ("busy", Cell(counts.busy)), ("requeued", Cell(counts.requeued)),
      ("unknown", Cell(counts.unknown)),
      ("repeated", Cell(counts.repeated)),
      ("known", Cell(counts.known)),
      ("special", Cell(counts.special)), ("failed", Cell(counts.failed)), ("excluded", Cell(counts.excluded)),
      ("excluded_by", .counts(counts.excludedBy)),
      ("chunks", Cell(result.chunks)), ("bytes", .bytes(counts.bytes)), ("requests", Cell(result.requests)),
      ("hosts", .text(result.hosts.joined(separator: " "))),
      ("variables", .text(result.variables.joined(separator: " "))),
    ])
  }

  /// `would send 3 files (2 new, 1 changed), 4.1 MiB in 3 chunks, 3 requests; 116 unchanged, 1 excluded (--exclude
  /// *.tmp)`.
  static func line(_ result: PlanResult) -> String {
    let counts = result.counts
    let sent = Quantity.count(counts.added + counts.requeued, "file")
    let again = counts.requeued > 0 ? ", \(counts.requeued) that failed before" : ""
    return
      "would send \(sent) (\(counts.added - counts.changed) new, \(counts.changed) changed\(again)), "
      + "\(Quantity.bytes(counts.bytes)) in \(Quantity.count(result.chunks, "chunk")), "
      + "\(Quantity.count(result.requests, "request")); " + rest(counts).joined(separator: ", ")
  }

  /// `would fetch 3 files, 4.1 MiB as far as sizes are known; 116 unchanged, 2 already queued`.
  static func line(ofDownload result: PlanResult) -> String {
    let counts = result.counts
    var rest = ["\(counts.unchanged) unchanged"]
    if counts.queued > 0 { rest.append("\(counts.queued) already queued") }
    if counts.repeated > 0 { rest.append("\(counts.repeated) named again") }
    let fetched = Quantity.count(counts.added + counts.requeued, "file")
    return "would fetch \(fetched), \(Quantity.bytes(counts.bytes)) as far as sizes are known; "
      + rest.joined(separator: ", ")
  }

  /// Counts of files that would not be sent.
  private static func rest(_ counts: SourceCounts) -> [String] {
    var rest = ["\(counts.unchanged) unchanged"]
    if counts.queued > 0 { rest.append("\(counts.queued) already queued") }
    if counts.busy > 0 { rest.append("\(counts.busy) busy") }
    if counts.unknown > 0 { rest.append("\(counts.unknown) unknown") }
    if counts.repeated > 0 { rest.append("\(counts.repeated) named again") }
    if counts.failed > 0 { rest.append("\(counts.failed) failed") }
    if counts.special > 0 { rest.append("\(counts.special) skipped") }
    if counts.known > 0 { rest.append("\(counts.known) at the destination already") }
    // Rules by descending number of excluded files.
    let rules = counts.excludedBy.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let named = rules.prefix(5).map { "\($0.value) by \(printable($0.key))" }
    let more = rules.count > 5 ? ", …" : ""
    rest.append("\(counts.excluded) excluded" + (named.isEmpty ? "" : " (\(named.joined(separator: ", "))\(more))"))
    return rest
  }
}
