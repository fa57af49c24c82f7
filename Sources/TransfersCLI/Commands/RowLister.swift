import Transfers
import TransferModel
import TransferReports

/// Prints rows of one kind, page by page: each page is one short read of the ledger, so that a slow reader of the
/// output does not delay others.
struct RowLister {
  private let schema: String
  private let selection: SelectionOptions
  private let limit: Int
  private let common: CommonOptions
  private let context: Context
  /// The byte after each ID when only IDs are printed.
  private let idEnd: UInt8?
  /// Reports include hidden files.
  private let showsHidden: Bool
  private let arrangement: ArrangementOptions?

  init(
    schema: String, _ selection: SelectionOptions, _ limit: Int?, _ common: CommonOptions, _ context: Context,
    bareIDsEndWith idEnd: UInt8? = nil, showsHidden: Bool = false, arrangement: ArrangementOptions? = nil
  ) {
    (self.idEnd, self.showsHidden, self.arrangement) = (idEnd, showsHidden, arrangement)
    self.schema = schema
    self.selection = selection
    self.limit = limit ?? .max
    self.common = common
    self.context = context
  }

  func list(_ kind: ListCommand.Kind) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    var found = try selection.filter(ledger, context, finds: kind.extra)
    found.placedBy = arrangement?.by?.moment
    let filter = showsHidden || kind.isHistory ? found.withHidden : found
    let conditions = arrangement?.failOn ?? []
    let checks = try LedgerAccess.read(ledger) { try conditions.checks($0, filter) }
    switch kind {
    case .batches:
      try pages(ledger, checks, BatchFigures.columns, \.id.rawValue) {
        try $0.batches(filter, after: $1, limit: $2, withAttempts: common.needsEveryFigure)
      }
    case .files:
      try pages(ledger, checks, FileFigures.columns, \.id.rawValue, byNumber: { try $0.files($1) }) {
        try $0.files(filter, after: $1, limit: $2)
      }
    case .chunks:
      try pages(ledger, checks, ChunkFigures.columns, \.id.rawValue) { try $0.chunks(filter, after: $1, limit: $2) }
    case .attempts:
      try pages(ledger, checks, AttemptFigures.columns, \.id.rawValue, byNumber: { try $0.attempts($1) }) {
        try $0.attempts(filter, after: $1, limit: $2)
      }
    case .events:
      try pages(ledger, checks, EventFigures.columns, \.id) { try $0.events(filter, after: $1, limit: $2) }
    }
    try conditions.requireSuccess(checks)
  }

  /// The receipts of done files, in the order of the files.
  func listReceipts() throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context).withHidden
    let conditions = arrangement?.failOn ?? []
    let checks = try LedgerAccess.read(ledger) { try conditions.checks($0, filter) }
    var printer = try printer(ledger, checks)
    var (after, wanted) = (Int64?(0), limit)
    while let last = after, wanted > 0, !printer.isClosed {
      let files = min(200, wanted)
      let page = try LedgerAccess.read(ledger) { try $0.storedReceipts(filter, after: last, limit: files) }
      let rows = Array(page.receipts.prefix(wanted))
      printer.print(FigureTable(ReceiptFigures.columns, rows))
      (after, wanted) = (page.last, wanted - rows.count)
    }
    try printer.finish(empty: "no receipts")
    try conditions.requireSuccess(checks)
  }

  private func printer(_ ledger: OpenStore, _ checks: [ReportCheck]) throws(CommandFailure) -> RowPrinter {
    RowPrinter(
      schema: schema, store: try StoreIdentity(ledger),
      filters: selection.filters.merging(arrangement?.filters ?? [:]) { $1 }, checks: checks, common, context)
  }

  private func pages<Row>(
    _ ledger: OpenStore, _ checks: [ReportCheck], _ columns: [Column<Row>], _ id: (Row) -> Int64,
    byNumber: ((StoreReader, [Int64]) throws -> [Row])? = nil, _ page: (StoreReader, Int64, Int) throws -> [Row]
  ) throws(CommandFailure) {
    var printer = try printer(ledger, checks)
    func show(_ rows: [Row]) {
      if let idEnd { printIDs(columns, rows, idEnd) } else { printer.print(FigureTable(columns, rows)) }
    }
    if let order = arrangement?.sort?.order, let byNumber {
      let numbers = try sorted(by: order, ledger, columns, id, page)
      for start in stride(from: 0, to: numbers.count, by: 500) where !printer.isClosed {
        let wanted = Array(numbers[start..<min(start + 500, numbers.count)])
        show(try LedgerAccess.read(ledger) { try byNumber($0, wanted) })
      }
      if numbers.isEmpty { show([]) }
    } else {
      try each(ledger, limit, isClosed: { printer.isClosed }, id, page, show)
    }
    if idEnd == nil { try printer.finish(empty: "no rows") } else { context.out.markComplete() }
  }

  private func each<Row>(
    _ ledger: OpenStore, _ limit: Int, isClosed: () -> Bool, _ id: (Row) -> Int64,
    _ page: (StoreReader, Int64, Int) throws -> [Row], _ show: ([Row]) -> Void
  ) throws(CommandFailure) {
    var last: Int64 = 0
    var wanted = limit
    while wanted > 0, !isClosed() {
      let size = min(500, wanted)
      let rows = try LedgerAccess.read(ledger) { try page($0, last, size) }
      show(rows)
      guard rows.count == size, let final = rows.last else { break }
      last = id(final)
      wanted -= size
    }
  }

  /// The numbers of the rows in this order, up to the limit. Keeps one figure per row, and at most twice the limit of
  /// rows.
  private func sorted<Row>(
    by order: RowOrder, _ ledger: OpenStore, _ columns: [Column<Row>], _ id: (Row) -> Int64,
    _ page: (StoreReader, Int64, Int) throws -> [Row]
  ) throws(CommandFailure) -> [Int64] {
    let index: Int
    do { index = try FigureTable.column(order, of: columns.map(\.heading)) } catch { throw .unknownOrder(error) }
    var kept: [(cell: Cell, id: Int64)] = []
    func arrange() {
      kept.sort { order.puts($0.cell, before: $1.cell) || (!order.puts($1.cell, before: $0.cell) && $0.id < $1.id) }
      if kept.count > limit { kept.removeSubrange(limit...) }
    }
    try each(ledger, .max, isClosed: { false }, id, page) { rows in
      kept += rows.map { (columns[index].cell($0), id($0)) }
      if limit < .max / 4, kept.count > 2 * limit + 1000 { arrange() }
    }
    arrange()
    return kept.map(\.id)
  }

  /// The first column is the ID.
  private func printIDs<Row>(_ columns: [Column<Row>], _ rows: [Row], _ end: UInt8) {
    context.out.write(rows.flatMap { row in Array(columns[0].cell(row).text.utf8) + [end] })
  }
}
