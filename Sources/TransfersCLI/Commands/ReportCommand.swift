import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers report`: history, audit, statistics.
struct ReportCommand: Command, HasIdleOptions {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    case summary, batches, files, chunks, attempts, failures, throughput, slow, latency, waste, integrity, retries,
      hosts,
      daily, weekly,
      monthly

    var period: CalendarPeriod? {
      switch self {
      case .daily: .day
      case .weekly: .week
      case .monthly: .month
      default: nil
      }
    }
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

      batches tells whole batches: those with a selected file. summary, hosts, retries, daily, weekly and monthly count the \
      attempts that overlap the window. Days begin at midnight UTC, weeks on Monday; there files count where they ended, \
      attempts where they began, and the longest batch where its last attempt ended. Errors are attempts that ended \
      with retry, fatal, unknown or crashed; Verified is the share of done files of which the server showed more than \
      success. Since, for a host, is when a run last noted how many requests at a time were worth while.

      slow looks into the files with the longest wall time, from when they were recorded until they came to rest: 20, or \
      --limit. Parts and causes are those of "transfers why".

      latency times four things: chunk.ack, from the start of the first attempt for a chunk until it is known to be stored; \
      attempt, a request for a part that succeeded; file.wall, a done file from when it was recorded; batch.wall, a batch \
      whose files all came to rest, from when it was recorded to the last end. --by tells them by host, batch, protocol, \
      direction or job; of fewer than 20 the 95th percentile is the maximum. --sla 'file.wall<10m' (or <=) adds how many \
      were so; what failed or is not finished is in no latency.

      waste compares the body bytes of attempts with what servers acknowledged of them. The rest went with attempts that \
      failed, crashed or were interrupted, with ones that succeeded and of which the server took less, or for files that \
      were replaced before they were done; in_flight is not decided. Efficiency is acked per transferred.

      chunks tells the chunks of one file (report chunks f345), at most 10,000 or --limit: when each was first sent, when it \
      was known to be stored, and the status of that answer. Its state is that of now; --map draws one character for each.

      integrity tells done files by what confirmed them: digest, etag, size, or none (unverified); files that failed \
      because the server has other content; and what the newest "transfers verify" found, where there was one.
      """)

  @Argument(help: ArgumentHelp("Which report.", valueName: "kind")) var chosen = KindOrID(Kind.summary)
  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @Option(help: ArgumentHelp("For throughput: 1m, 5m, 1h, 1d or auto, at most 120 rows.", valueName: "time"))
  var bucket: ThroughputBucket?
  @Option(help: ArgumentHelp("For latency: host, batch, protocol, direction or job.", valueName: "group"))
  var by: LatencyGroup?
  @Option(help: ArgumentHelp("For latency: MEASURE<TIME, as 'file.wall<10m'; may be repeated.", valueName: "expr"))
  var sla: [SLAExpression] = []
  @Flag(help: "For chunks: one character for each chunk, with a legend.") var map = false
  @OptionGroup var common: CommonOptions

  private var kind: Kind { chosen.kind ?? .summary }
  private var selection: SelectionOptions { rows.adding(chosen.id) }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    try chosen.check(rows)
  }

  var idleOptions: Set<String> {
    var idle: Set<String> = kind == .throughput ? [] : ["bucket"]
    if Self.unlimited.contains(kind) { idle.insert("limit") }
    if kind != .latency { idle.formUnion(["by", "sla"]) }
    if kind != .chunks { idle.insert("map") }
    return idle
  }

  /// These are totals, or cut short would tell less than the whole.
  private static let unlimited: [Kind] = [.summary, .throughput, .latency, .waste, .integrity, .retries]

  private func refuseIdleOptions() throws(CommandFailure) {
    if bucket != nil, idleOptions.contains("bucket") {
      throw .usage("--bucket is for throughput", remedy: "transfers report throughput --bucket …")
    }
    if limit != nil, idleOptions.contains("limit") {
      let others = Self.unlimited.map(\.rawValue).joined(separator: ", ")
      throw .usage("--limit is not for \(others)", remedy: "leave it out")
    }
    if kind != .chunks, map { throw .usage("--map is for chunks", remedy: "transfers report chunks f345 --map") }
    if kind != .latency, by != nil || !sla.isEmpty {
      throw .usage("\(by != nil ? "--by" : "--sla") is for latency", remedy: "transfers report latency …")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try refuseIdleOptions()
    let lister = RowLister(
      schema: "transfers.report.\(kind.rawValue)/1", selection, limit, common, context, showsHidden: true)
    switch kind {
    case .files: try lister.list(.files)
    case .attempts: try lister.list(.attempts)
    case .failures:
      try print(context) { FailuresReport(rows: Array(try $0.failures($1).prefix(limit ?? .max))) }
    case .batches:
      try print(context) { BatchesReport(rows: Array(try $0.batchHistories($1).prefix(limit ?? .max))) }
    case .hosts:
      try print(context) { reader, filter in
        HostsReport(rows: Array(try reader.hosts(filter).prefix(limit ?? .max)), limits: try reader.hostLimits())
      }
    case .slow:
      try print(context) { SlowReport(rows: try $0.slow($1, limit: limit ?? SlowReport.rows, context.clock)) }
    case .latency:
      try print(context) { LatencyReport(try $0.latencies($1, by: by), sla.map(\.objective)) }
    case .chunks:
      try print(context) { try ChunksReport($0, $1, limit: limit ?? ChunksReport.rows, hasMap: map) }
    case .waste: try print(context) { WasteReport(figures: try $0.waste($1)) }
    case .integrity: try print(context) { IntegrityReport(figures: try $0.integrity($1)) }
    case .retries: try print(context) { RetriesReport(figures: try $0.retries($1)) }
    case .daily, .weekly, .monthly:
      let period = kind.period ?? .day
      try print(context) { PeriodsReport(rows: Array(try $0.periods(period, $1).prefix(limit ?? .max))) }
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

  /// Reads one consistent state of the ledger, and prints what came of it.
  private func print(
    _ context: Context, _ read: (StoreReader, RowFilter) throws -> some OutputValue
  ) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context).withHidden
    let value = try LedgerAccess.read(ledger) { try read($0, filter) }
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
  }
}
