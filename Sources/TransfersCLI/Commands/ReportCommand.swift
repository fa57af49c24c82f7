import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers report`: history, audit, statistics.
struct ReportCommand: Command, HasInapplicableOptions {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Report what was transferred, how it was confirmed, and what failed.",
    discussion: ReportHelp.discussion)

  @Argument(help: ArgumentHelp("Which report.", valueName: "kind")) var chosen = KindOrID(Kind.summary)
  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @Option(
    help: ArgumentHelp(
      "For throughput: a time such as 10s, 5m or 1d, or auto, for at most 120 rows.", valueName: "time"))
  var bucket: ThroughputBucket?
  @Option(help: ArgumentHelp("For latency: MEASURE<TIME, as 'file.wall<10m'; may be repeated.", valueName: "expr"))
  var sla: [SLAExpression] = []
  @Flag(help: "For chunks: one character for each chunk, with a legend.") var map = false
  @Option(help: ArgumentHelp("For otlp: the collector, such as http://127.0.0.1:4318.", valueName: "url"))
  var endpoint: String?
  @Option(
    name: .customLong("header"),
    help: ArgumentHelp(
      "For otlp: a header whose value is a secret, by reference; repeatable.", valueName: "name=env:VAR|file:PATH"))
  var headers: [String] = []
  @OptionGroup var arrangement: ArrangementOptions
  @OptionGroup var common: CommonOptions

  private var kind: Kind { chosen.kind ?? .summary }
  private var selection: SelectionOptions { rows.adding(chosen.id) }
  /// Groups and facets of failures need single attempts; the sums of pruned ones have codes only.
  private var countsPruned: PrunedNote.Counting {
    let areSingle = kind == .failures && (arrangement.facet != nil || arrangement.by?.kinds.isEmpty == false)
    return areSingle ? .nothing : kind.countsPruned
  }
  /// Sorting needs all rows; otherwise only the printed ones are read.
  private var rowsToRead: Int? { arrangement.sort == nil ? limit : nil }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    try chosen.check(rows)
  }

  var inapplicableOptions: Set<String> { kind.inapplicableOptions }

  private func refuseInapplicableOptions() throws(CommandFailure) {
    if bucket != nil, inapplicableOptions.contains("bucket") {
      throw .usage("--bucket is for throughput", remedy: "transfers report throughput --bucket …")
    }
    if limit != nil, inapplicableOptions.contains("limit"), arrangement.facet == nil {
      let others = Kind.allCases.filter { $0.inapplicableOptions.contains("limit") }.map(\.rawValue)
      throw .usage("--limit is not for \(others.joined(separator: ", "))", remedy: "leave it out")
    }
    if endpoint != nil || !headers.isEmpty, inapplicableOptions.contains("endpoint") {
      throw .usage("--endpoint and --header are for otlp", remedy: "transfers report otlp --endpoint …")
    }
    if map, inapplicableOptions.contains("map") {
      throw .usage("--map is for chunks", remedy: "transfers report chunks f345 --map")
    }
    if !sla.isEmpty, inapplicableOptions.contains("sla") {
      throw .usage("--sla is for latency", remedy: "transfers report latency --sla …")
    }
    if arrangement.failOn.contains(where: { $0.figure == .missed }), kind != .latency || sla.isEmpty {
      throw .usage(
        "--fail-on sla needs the objectives of --sla",
        remedy: "transfers report latency --sla 'file.wall<10m' --fail-on sla")
    }
    if kind == .chunks, let other = selection.filters.keys.sorted().first(where: { $0 != "ids" }) {
      throw .usage("report chunks shows one file; \(other) does not apply", remedy: "transfers report chunks f345")
    }
    try arrangement.check(kind, selection)
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try refuseInapplicableOptions()
    if kind == .compare { return try compare(context) }
    if let facet = arrangement.facet { return try count(facet.facets, context) }
    if kind == .failures, let kinds = arrangement.by?.kinds {
      return try printReport(context) { reader, filter in
        (FailureGroupsReport(kinds: kinds, rows: try reader.failures(filter, by: kinds)).report, nil)
      }
    }
    let lister = RowLister(
      schema: "transfers.report.\(kind.rawValue)/1", selection, limit, common, context, showsHidden: true,
      arrangement: arrangement)
    switch kind {
    case .compare: break
    case .otlp:
      try tellPruned(context)
      try SpansReport.run(selection, to: endpoint, headers, common, context)
    case .trace:
      try tellPruned(context)
      try TraceReport(selection: selection, common: common, context: context).write()
    case .files: try lister.list(.files)
    case .attempts:
      try tellPruned(context)
      try lister.list(.attempts)
    case .receipts: try lister.listReceipts()
    case .events: try lister.list(.events)
    case .runs: try print(context) { RunsReport(figures: try $0.runs($1)) }
    case .failures: try print(context) { FailuresReport(rows: try $0.failures($1)) }
    case .batches:
      try print(context) { BatchesReport(rows: try $0.batchHistories($1, limit: rowsToRead ?? .max)) }
    case .hosts:
      try print(context) {
        HostsReport(
          rows: try $0.hosts($1), limits: try $0.hostLimits(), accepted: try $0.hostAcceptance($1),
          hasPrunedAttempts: try $0.prunedHistory($1, isSummed: false).attempts > 0)
      }
    case .slow:
      try print(context) { SlowReport(rows: try $0.slow($1, limit: limit ?? SlowReport.rows, context.clock)) }
    case .latency:
      try printReport(context) { reader, filter in
        let report = LatencyReport(try reader.latencies(filter, by: arrangement.by?.group), sla.map(\.objective))
        return (report.report, report.missed)
      }
    case .chunks:
      try print(context) { try ChunksReport($0, $1, limit: rowsToRead ?? ChunksReport.rows, hasMap: map) }
    case .waste: try print(context) { WasteReport(figures: try $0.waste($1)) }
    case .integrity: try print(context) { IntegrityReport(figures: try $0.integrity($1)) }
    case .retries: try print(context) { RetriesReport(figures: try $0.retries($1)) }
    case .daily, .weekly, .monthly:
      let period = kind.period ?? .day
      try print(context) { PeriodsReport(period: period, rows: try $0.periods(period, $1)) }
    case .summary where common.format == .html:
      try PageReport(selection: selection, arrangement: arrangement, common: common, context: context).write()
    case .summary:
      try print(context) { SummaryOutput(figures: try $0.summary($1), absence: Absence(selection)) }
    case .throughput:
      let bucket = bucket ?? .auto
      try print(context) { reader, filter in
        ThroughputReport(
          rows: try reader.throughput(filter, nowMs: context.clock.wallMs) { bucket.ms($0) })
      }
    }
  }

  /// For kinds that print no report.
  private func tellPruned(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: kind == .attempts ? .attempts : .none).withHidden
    let pruned = try LedgerAccess.read(ledger) { try $0.prunedHistory(filter, counted: .nothing) }
    PrunedNote.tell(pruned, common, context, always: true)
  }

  private func count(_ facets: [FacetWords.Facet], _ context: Context) throws(CommandFailure) {
    let subject: FacetSubject = kind == .attempts ? .attempts : kind == .files ? .files : .failures
    try print(context) { FacetsReport(facets, try $0.facetTallies($1, subject), of: subject) }
  }

  private func print(
    _ context: Context, _ read: (StoreReader, RowFilter) throws -> some OutputValue
  ) throws(CommandFailure) {
    try printReport(context) { (try read($0, $1).report, nil) }
  }

  private func compare(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let (sides, filter) = try rows.sides(ledger, context)
    let conditions = arrangement.failOn
    let (found, checks) = try LedgerAccess.read(ledger) { reader in
      (try CompareReport(sides, filter, reader), try conditions.checks(reader, sides[1].filter(filter)))
    }
    try common.print(
      found.report, store: StoreIdentity(ledger), filters: rows.filters, checks: checks, context)
    try conditions.requireSuccess(checks)
  }

  /// Reads one consistent state of the ledger, and prints the report in the requested order. It also reads how many
  /// values missed an objective, nil for none measured.
  private func printReport(
    _ context: Context, _ read: (StoreReader, RowFilter) throws -> (Report, missed: Int64?)
  ) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    // Facets also exist for attempts.
    var filter = try selection.filter(ledger, context, finds: kind == .attempts ? .attempts : .none).withHidden
    filter.placedBy = arrangement.by?.moment
    let conditions = arrangement.failOn
    let (found, checks, pruned) = try LedgerAccess.read(ledger) { [filter] reader in
      let (report, missed) = try read(reader, filter)
      let pruned = try reader.prunedHistory(filter, counted: countsPruned)
      return (PrunedNote.added(pruned, to: report), try conditions.checks(reader, filter, missed: missed), pruned)
    }
    let report: Report
    do { report = try found.arranged(by: arrangement.sort?.order, limit: limit) } catch {
      throw .unknownOrder(error)
    }
    let filters = selection.filters.merging(arrangement.filters) { $1 }
    PrunedNote.tell(pruned, common, context)
    try common.print(report, store: StoreIdentity(ledger), filters: filters, checks: checks, context)
    try conditions.requireSuccess(checks)
  }
}
