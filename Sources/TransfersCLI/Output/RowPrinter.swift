import TransferModel
import TransferReports

/// Prints rows as they come, so that a list of a million needs the memory of one page: a table for people, one JSON
/// document for programs.
struct RowPrinter {
  private let schema: String
  private let store: StoreIdentity
  private let filters: [String: Cell]
  private let isJSON: Bool
  private let context: Context
  private var table: Table
  private var printed = 0

  init(
    schema: String, store: StoreIdentity, filters: [String: Cell] = [:], _ common: CommonOptions, _ context: Context
  ) {
    self.schema = schema
    self.store = store
    self.filters = filters
    isJSON = common.json
    self.context = context
    table = Table(common.style(context))
  }

  /// Nobody reads what would still be printed.
  var isClosed: Bool { context.out.state != .open }

  mutating func print(_ page: FigureTable) {
    guard !page.rows.isEmpty else { return }
    defer { printed += page.rows.count }
    guard isJSON else { return context.out.write(table.page(page, isContinued: printed > 0)) }
    var bytes: [UInt8] = []
    for index in page.rows.indices {
      bytes += Array((printed + index == 0 ? "{\"data\":[\n" : ",\n").utf8)
      JSONRow.append(page.object(index), to: &bytes)
    }
    context.out.write(bytes)
  }

  /// Ends the document. Its keys are sorted like those of every other document: `data` comes first.
  func finish(empty: String, summary: FigureObject? = nil) throws(CommandFailure) {
    guard isJSON else {
      if printed == 0 { context.out.writeLine(empty) }
      return
    }
    let tail = Tail(
      generatedAt: .time(context.clock.wallMs), filters: filters, schema: schema, store: store, summary: summary)
    let opening = printed == 0 ? "{\"data\":[" : "\n"
    context.out.write(Array(opening.utf8) + Array("],".utf8) + (try JSONText.encode(tail)).dropFirst() + [0x0A])
  }

  private struct Tail: Encodable {
    let generatedAt: Cell
    let filters: [String: Cell]
    let schema: String
    let store: StoreIdentity
    let summary: FigureObject?
  }
}
