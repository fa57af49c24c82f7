import Transfers
import TransferModel
import TransferReports

/// Prints rows of one kind, page by page: each page is one short look at the ledger, so that a slow reader of the
/// output holds nothing back there.
struct RowLister {
  private let schema: String
  private let selection: SelectionOptions
  private let limit: Int
  private let common: CommonOptions
  private let context: Context
  /// The byte after each id when nothing but ids is printed.
  private let idEnd: UInt8?
  /// Reports leave nothing out.
  private let showsHidden: Bool

  init(
    schema: String, _ selection: SelectionOptions, _ limit: Int?, _ common: CommonOptions, _ context: Context,
    bareIDsEndWith idEnd: UInt8? = nil, showsHidden: Bool = false
  ) {
    (self.idEnd, self.showsHidden) = (idEnd, showsHidden)
    self.schema = schema
    self.selection = selection
    self.limit = limit ?? .max
    self.common = common
    self.context = context
  }

  func list(_ kind: ListCommand.Kind) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let found = try selection.filter(ledger, context, finds: kind.extra)
    let filter = showsHidden || kind.isHistory ? found.withHidden : found
    switch kind {
    case .batches:
      try pages(ledger, BatchFigures.columns, \.id.rawValue) {
        try $0.batches(filter, after: $1, limit: $2, withAttempts: common.needsEveryFigure)
      }
    case .files:
      try pages(ledger, FileFigures.columns, \.id.rawValue) { try $0.files(filter, after: $1, limit: $2) }
    case .chunks:
      try pages(ledger, ChunkFigures.columns, \.id.rawValue) { try $0.chunks(filter, after: $1, limit: $2) }
    case .attempts:
      try pages(ledger, AttemptFigures.columns, \.id.rawValue) { try $0.attempts(filter, after: $1, limit: $2) }
    case .events:
      try pages(ledger, EventFigures.columns, \.id) { try $0.events(filter, after: $1, limit: $2) }
    }
  }

  private func pages<Row>(
    _ ledger: OpenStore, _ columns: [Column<Row>], _ id: (Row) -> Int64,
    _ page: (StoreReader, Int64, Int) throws -> [Row]
  ) throws(CommandFailure) {
    var printer = RowPrinter(
      schema: schema, store: try StoreIdentity(ledger), filters: selection.filters, common, context)
    var last: Int64 = 0
    var wanted = limit
    while wanted > 0, !printer.isClosed {
      let size = min(500, wanted)
      let rows = try LedgerAccess.read(ledger) { try page($0, last, size) }
      if let idEnd { printIDs(columns, rows, idEnd) } else { printer.print(FigureTable(columns, rows)) }
      guard rows.count == size, let final = rows.last else { break }
      last = id(final)
      wanted -= size
    }
    if idEnd == nil { try printer.finish(empty: "no rows") } else { context.out.markComplete() }
  }

  /// The first column is the id.
  private func printIDs<Row>(_ columns: [Column<Row>], _ rows: [Row], _ end: UInt8) {
    context.out.write(rows.flatMap { row in Array(columns[0].cell(row).text.utf8) + [end] })
  }
}
