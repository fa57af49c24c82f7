import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers report`: history, audit, statistics.
struct ReportCommand: Command, HasIdleOptions {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Report what was transferred, how it was confirmed, and what failed.",
    discussion: """
      Acked bytes are the bytes of chunks that servers acknowledged; transferred bytes are the body bytes of all \
      attempts. The difference, bytes_unacked in documents, was transferred again or not acknowledged. How much a \
      killed engine had transferred is not known: then bytes_unacked is the minimum and bytes_unacked_at_most the \
      maximum. Goodput is acked bytes divided by the time from first start to last end (wall), or by the time in which \
      a request was in flight (active). Percentiles are nearest rank over successful part attempts. A report that \
      could be printed exits with 0.

      summary begins with the three largest costs; documents have all of them. Costs counted as requests are sums over \
      requests of the time spent on connections, on waiting for answers or on bytes that do not count, and over \
      repeated attempts of the wait before them; concurrent requests each count. Costs counted as wall are the time in \
      which files were paused, or in which a batch had work or was between its attempts and no engine ran (or the \
      machine slept), counted once, until the last heartbeat of an engine.

      throughput distributes the bytes of each attempt evenly over its duration. Intervals begin at multiples of \
      --bucket in UTC; an attempt counts where it began, an error where it ended; Workers is the mean number of \
      concurrent attempts. --since and --until set the window.

      batches reports whole batches with at least one selected file. summary, hosts, retries, daily, weekly and \
      monthly count the attempts that overlap the window. Days begin at midnight UTC, weeks on Monday; in these \
      reports files count where they ended, attempts where they began, and the longest batch where its last attempt \
      ended. Errors are attempts that ended with retry, fatal, unknown or crashed; Verified is the share of done files \
      that the server confirmed with more than success. Since, for a host, is the time when a run last stored its \
      concurrency.

      slow lists the files with the longest wall time, from recording to their end: 20, or --limit; --sort orders \
      these. Parts and causes are those of "transfers why".

      latency measures four times: chunk.ack, from the start of the first attempt for a chunk until it is known to be \
      stored; attempt, a successful request for a part; file.wall, a done file since it was recorded; batch.wall, a \
      batch whose files have all ended, from recording to the last end. --by groups them by host, batch, protocol, \
      direction or job; for fewer than 20 values the 95th percentile is the maximum. --sla 'file.wall<10m' (or <=) \
      adds how many met this objective; failed and unfinished files have no latency.

      waste compares the body bytes of attempts with the bytes that servers acknowledged. The rest was sent by \
      attempts that failed, crashed or were interrupted, by successful ones of which the server stored less, or for \
      files that were superseded before they were done; in_flight is still undecided. Efficiency is acked divided by \
      transferred.

      chunks lists the chunks of one file (report chunks f345), at most 10,000 or --limit: when each was first sent, \
      when it was known to be stored, and the status of that answer. The state is the current one; --map prints one \
      character for each.

      After "transfers store prune", sums of the deleted history remain by batch, run and quarter of an hour. summary, \
      failures, hosts, batches, runs, daily, weekly and monthly include them, and every report gives the number of \
      attempts that it could not include.

      integrity counts done files by proof: digest, etag, size, or none (unverified); files that failed because the \
      server has different content; and the findings of the newest "transfers verify", if any.

      compare A B shows two batches or time windows side by side, with the change from A to B, absolute and in percent \
      of A. A and B are b12, the name of a batch, 2026-11-01..2026-11-08 (half-open; either end may be omitted, or be \
      anything of "transfers help time"), a day (today, 2026-11-01), this-week, last-week, this-month, last-month, or \
      7d until now. Other options narrow both; --fail-on applies to B.

      receipts lists how each done file was confirmed, and the findings of later checks; "transfers store receipts" \
      adds proofs. events lists actions of people and engines; its window applies to the time of the event. runs lists \
      when each engine ran, how it ended, and the selected attempts that it began; Recovered are those that were open \
      when it crashed.

      trace writes the attempts to the file of -o, gzipped if its name ends in .gz, for ui.perfetto.dev and \
      chrome://tracing: a track for each host, each of its connections and each file, and for each batch its critical \
      path: backwards from the attempt that ended last, each time to the attempt that had ended last when that one \
      began.

      otlp sends the ended attempts to an OpenTelemetry collector (--endpoint, OTLP over HTTP with JSON), as spans: \
      those of a file form one trace. Requests answered with 429, 502, 503 and 504 are repeated after Retry-After. The \
      method of a request is not recorded, and sent as _OTHER. Rejected spans exit with 3.
      """)

  @Argument(help: ArgumentHelp("Which report.", valueName: "kind")) var chosen = KindOrID(Kind.summary)
  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @Option(help: ArgumentHelp("For throughput: 1m, 5m, 1h, 1d or auto, at most 120 rows.", valueName: "time"))
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
  /// Sorting needs all rows; otherwise only the printed ones are read.
  private var rowsToRead: Int? { arrangement.sort == nil ? limit : nil }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    try chosen.check(rows)
  }

  var idleOptions: Set<String> { kind.idleOptions }

  private func refuseIdleOptions() throws(CommandFailure) {
    if bucket != nil, idleOptions.contains("bucket") {
      throw .usage("--bucket is for throughput", remedy: "transfers report throughput --bucket …")
    }
    if limit != nil, idleOptions.contains("limit"), arrangement.facet == nil {
      let others = Kind.allCases.filter { $0.idleOptions.contains("limit") }.map(\.rawValue).joined(separator: ", ")
      throw .usage("--limit is not for \(others)", remedy: "leave it out")
    }
    if endpoint != nil || !headers.isEmpty, idleOptions.contains("endpoint") {
      throw .usage("--endpoint and --header are for otlp", remedy: "transfers report otlp --endpoint …")
    }
    if map, idleOptions.contains("map") {
      throw .usage("--map is for chunks", remedy: "transfers report chunks f345 --map")
    }
    if !sla.isEmpty, idleOptions.contains("sla") {
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
    try refuseIdleOptions()
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
      try print(context) { HostsReport(rows: try $0.hosts($1), limits: try $0.hostLimits()) }
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
      try print(context) { reader, filter in
        try ReportPage(reader, filter, absence: Absence(selection), context.clock)
      }
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
    try conditions.judge(checks)
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
      let pruned = try reader.prunedHistory(filter, counted: kind.countsPruned)
      return (PrunedNote.added(pruned, to: report), try conditions.checks(reader, filter, missed: missed), pruned)
    }
    let report: Report
    do { report = try found.arranged(by: arrangement.sort?.order, limit: limit) } catch {
      throw .unknownOrder(error)
    }
    let filters = selection.filters.merging(arrangement.filters) { $1 }
    PrunedNote.tell(pruned, common, context)
    try common.print(report, store: StoreIdentity(ledger), filters: filters, checks: checks, context)
    try conditions.judge(checks)
  }
}
