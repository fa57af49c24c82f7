import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// Pages that only `serve` has; each is an unnamed command.
struct ServeView: Command {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// The current activity, and the report.
    case overview
    case now, history, file, batch
  }

  static let configuration = CommandConfiguration(commandName: "view")

  @Option var view: Kind
  @OptionGroup var selection: SelectionOptions
  @Option var limit: Int = 1000
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if limit < 1 || limit > 10_000 { throw ValidationError("limit is 1 to 10000") }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context)
    let report = try report(ledger, filter, context)
    try common.print(report, store: StoreIdentity(ledger), filters: selection.filters, context)
  }

  private func report(
    _ ledger: OpenStore, _ filter: RowFilter, _ context: Context
  ) throws(CommandFailure) -> Report {
    switch view {
    case .overview:
      let now = try now(ledger, filter, context)
      return try LedgerAccess.read(ledger) { reader in
        let page = try ReportPage(
          reader, filter.withHidden, absence: Absence(selection), context.clock, fileLimit: limit)
        return LiveOverview(now: now, page: page).report
      }
    case .now: return LiveNow.form.report(try now(ledger, filter, context))
    case .history:
      return try LedgerAccess.read(ledger) { try HistoryView($0, filter.withHidden, limit: limit).report }
    case .file, .batch: return try row(ledger, filter, context)
    }
  }

  private func now(
    _ ledger: OpenStore, _ filter: RowFilter, _ context: Context
  ) throws(CommandFailure) -> LiveNow {
    let log = LogStatus(TransferStore(at: ledger.path).condition)
    return try LedgerAccess.read(ledger) { reader in
      let status = try reader.status(filter, context.clock)
      let output = StatusOutput(status, log: log, absence: Absence(selection, hidden: status.hidden))
      return LiveNow(
        status: output,
        uploads: try LiveNow.uploads(reader, filter).map {
          LiveFile($0, status.inFlight[$0.id])
        })
    }
  }

  /// A page about one row: its data, and where its time went.
  private func row(
    _ ledger: OpenStore, _ filter: RowFilter, _ context: Context
  ) throws(CommandFailure) -> Report {
    guard let number = (view == .file ? filter.files : filter.batches).first?.lowerBound else {
      throw .usage("a page about one row needs its ID")
    }
    let subject: WhySubject =
      view == .file ? .file(FileID(rawValue: number)) : .batch(BatchID(rawValue: number))
    let found = try LedgerAccess.read(ledger) { reader in
      (
        try ShowOutput.report(of: view == .file ? .file : .batch, number, reader),
        try reader.why(subject, context.clock)
      )
    }
    guard let shown = found.0 else { throw .noRow("\(subject)") }
    let why = found.1.map { ReportSection("why", "where the time went", .object(WhyFigures.form.report($0).sections)) }
    return Report(shown.schema, shown.sections + (why.map { [$0] } ?? []))
  }
}

/// The current activity: `status`, and unfinished files.
struct LiveNow: Sendable {
  let status: StatusOutput
  let uploads: [LiveFile]

  /// Files of each state; running ones first.
  private static let limit = 100

  static func uploads(_ reader: StoreReader, _ filter: RowFilter) throws -> [FileRow] {
    let kinds: [[FileState]] = [
      [.active, .finishing], [.failed, .unknown], [.paused], [.settling, .pending],
    ]
    return try kinds.flatMap { try reader.files(filter.with(states: $0), after: 0, limit: limit) }
  }

  static let sections: [SectionForm<LiveNow>] = [
    .merged(StatusOutput.overview) { $0.status },
    .table(
      "uploads", "files that are not finished", LiveFileFigures.withPathSecond,
      TableLook(empty: "every file is finished")
    ) { $0.uploads },
    .merged(StatusOutput.causes) { $0.status },
  ]

  static let form = ReportForm<LiveNow>("transfers.now/1", [.object("now", "now", sections) { $0 }])
}

/// The first page: now, and the page of `report --format html`.
struct LiveOverview: OutputValue {
  let now: LiveNow
  let page: ReportPage

  static let form = ReportForm<LiveOverview>(
    "transfers.overview/1",
    [
      .object("now", "now", LiveNow.sections) { $0.now },
      .words { _ in "The report below is read again every 15 seconds, more rarely if that takes long." },
      .merged(ReportPage.form.sections) { $0.page },
    ])
}

/// Actions of people and the engine, newest first.
struct HistoryView: OutputValue {
  let events: [EventRow]

  init(_ reader: StoreReader, _ filter: RowFilter, limit: Int) throws {
    // Transactions of one action are one row, so there may be fewer rows than event numbers.
    let parts = try reader.newestNumbersOfParts().map { part in
      try reader.events(filter, after: max(0, part.event - Int64(limit)), before: part.before, limit: limit)
    }
    events = NewestNumbers.joined(parts) { $0.atMs }.suffix(limit).reversed()
  }

  static let form = ReportForm<HistoryView>(
    "transfers.history/1",
    [
      .table("events", "what was done, newest first", EventFigures.columns, TableLook(empty: "nothing yet")) {
        $0.events
      }
    ])
}
