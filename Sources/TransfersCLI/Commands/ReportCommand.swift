import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers report`: history, audit, statistics.
struct ReportCommand: Command, HasIdleOptions {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    case summary, files, attempts, failures, throughput
  }

  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Report what was transferred, how it was confirmed, and what failed.",
    discussion: """
      Acked bytes are what servers acknowledged of chunks; transferred bytes are body bytes of all attempts. The \
      difference, bytes_unacked for programs, was transferred again or is not acknowledged. How much a killed \
      engine had transferred is not known: then bytes_unacked is the least and bytes_unacked_at_most the most. Goodput is acked \
      bytes over the time from first start to last end (wall), or over the time in \
      which anything was in flight (active). Percentiles are nearest rank over successful part attempts. \
      A report that could be printed exits 0.

      throughput spreads the bytes of each attempt evenly over the time that it took. Its stretches of time begin at \
      multiples of --bucket in UTC; an attempt counts where it began, an error where it ended; Workers is the mean number \
      of attempts at a time. --since and --until cut the window.
      """)

  @Argument(help: ArgumentHelp("Which report.", valueName: "kind")) var chosen = KindOrID(Kind.summary)
  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @Option(help: ArgumentHelp("For throughput: 1m, 5m, 1h, 1d or auto, at most 120 rows.", valueName: "time"))
  var bucket: ThroughputBucket?
  @OptionGroup var common: CommonOptions

  private var kind: Kind { chosen.kind ?? .summary }
  private var selection: SelectionOptions { rows.adding(chosen.id) }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    try chosen.check(rows)
  }

  var idleOptions: Set<String> {
    var idle: Set<String> = kind == .throughput ? [] : ["bucket"]
    if kind == .summary || kind == .throughput { idle.insert("limit") }
    return idle
  }

  private func refuseIdleOptions() throws(CommandFailure) {
    if bucket != nil, idleOptions.contains("bucket") {
      throw .usage("--bucket is for throughput", remedy: "transfers report throughput --bucket …")
    }
    if limit != nil, idleOptions.contains("limit") {
      throw .usage("--limit is for files, attempts and failures", remedy: "leave it out")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try refuseIdleOptions()
    let schema = "transfers.report.\(kind.rawValue)/1"
    let lister = RowLister(schema: schema, selection, limit, common, context, showsHidden: true)
    switch kind {
    case .files: try lister.list(.files)
    case .attempts: try lister.list(.attempts)
    case .failures: try failures(schema, context)
    case .summary: try summary(context)
    case .throughput: try ThroughputReport(selection, bucket ?? .auto, common).print(schema, context)
    }
  }

  private func summary(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context).withHidden
    let figures = try LedgerAccess.read(ledger) { try $0.summary(filter) }
    try common.print(
      SummaryOutput(figures: figures, absence: Absence(selection)), store: StoreIdentity(ledger),
      filters: selection.filters, context)
  }

  private func failures(_ schema: String, _ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context).withHidden
    let rows = try LedgerAccess.read(ledger) { try $0.failures(filter) }.prefix(limit ?? .max)
    var printer = RowPrinter(
      schema: schema, store: try StoreIdentity(ledger), filters: selection.filters, common, context)
    printer.print(FigureTable(FailureFigures.columns, Array(rows)))
    try printer.finish(empty: "no failures")
    guard common.format.isForPeople, common.chosenColumns == nil else { return }
    for row in rows where !row.hint.isEmpty { context.out.writeLine("\(row.code): \(printable(row.hint))") }
  }
}
