import TransferModel
import TransferReports

/// Prints rows as they come, so that a list of a million needs the memory of one page, in the form that was asked for.
struct RowPrinter {
  private let schema: String
  private let rowType: String
  private let store: StoreIdentity
  private let filters: [String: Cell]
  private let common: CommonOptions
  private let context: Context
  private var table: Table
  private var hasHeader = false
  private var printed = 0
  private var failure: CommandFailure?

  /// `rowType` is the `type` of a record in ndjson; without it the schema's name in the singular: `file` of
  /// `transfers.list.files/1`.
  init(
    schema: String, rowType: String? = nil, store: StoreIdentity, filters: [String: Cell] = [:],
    _ common: CommonOptions, _ context: Context
  ) {
    self.schema = schema
    self.rowType = rowType ?? SchemaName.singular(schema)
    self.store = store
    self.filters = filters
    self.common = common
    self.context = context
    table = Table(common.style(context))
  }

  /// Nobody reads what would still be printed, or it cannot be printed.
  var isClosed: Bool { failure != nil || context.out.state != .open }

  /// The next rows. A column that is not there stops the printing, and ``finish(empty:summary:)`` says so.
  mutating func print(_ page: FigureTable) {
    guard failure == nil, let page = chosen(page) else { return }
    defer { printed += page.rows.count }
    switch common.format {
    case .table: if !page.rows.isEmpty { context.out.write(table.page(page, isContinued: printed > 0)) }
    case .json: document(page)
    case .ndjson: lines(page)
    case .csv: separated(page, .csv)
    case .tsv: separated(page, .tsv)
    }
  }

  private mutating func chosen(_ page: FigureTable) -> FigureTable? {
    guard let columns = common.chosenColumns else { return page }
    if let chosen = page.choosing(columns) { return chosen }
    let known = page.headings.map(\.key)
    failure = UnknownColumn.failure(columns.first { !known.contains($0) } ?? "", known: known)
    return nil
  }

  private func document(_ page: FigureTable) {
    var bytes: [UInt8] = []
    for index in page.rows.indices {
      bytes += Array((printed + index == 0 ? "{\"data\":[\n" : ",\n").utf8)
      JSONRow.append(page.object(index), to: &bytes)
    }
    context.out.writeJSON(bytes)
  }

  private func lines(_ page: FigureTable) {
    var bytes: [UInt8] = []
    for index in page.rows.indices {
      JSONRow.append(page.object(index).record(type: rowType), to: &bytes)
      bytes.append(0x0A)
    }
    context.out.writeJSON(bytes)
  }

  private mutating func separated(_ page: FigureTable, _ form: SeparatedRow.Form) {
    var bytes: [UInt8] = []
    let writer = SeparatedRow(form: form, isForTerminal: context.out.isTerminal)
    if !hasHeader { writer.append(page.headings, to: &bytes) }
    hasHeader = true
    for row in page.rows { writer.append(row, page.headings, to: &bytes) }
    context.out.write(bytes)
  }

  /// Ends the output: people get `empty` when there was no row, programs the rest of the document, or the last record.
  func finish(empty: String, summary: FigureObject? = nil) throws(CommandFailure) {
    if let failure { throw failure }
    switch common.format {
    case .table: if printed == 0 { context.out.writeLine(empty) }
    case .json: try endDocument(summary)
    case .ndjson: try endLines(summary)
    case .csv, .tsv: break
    }
    context.out.markComplete()
  }

  /// Its keys are sorted like those of every other document: `data` comes first.
  private func endDocument(_ summary: FigureObject?) throws(CommandFailure) {
    let opening = printed == 0 ? "{\"data\":[" : "\n"
    let tail = try JSONText.encode(tail(summary))
    context.out.writeJSON(Array(opening.utf8) + Array("],".utf8) + tail.dropFirst() + [0x0A])
  }

  private func endLines(_ summary: FigureObject?) throws(CommandFailure) {
    var record = tail(summary)
    (record.type, record.rows) = ("summary", printed)
    context.out.writeJSON(try JSONText.encode(record) + [0x0A])
  }

  private func tail(_ summary: FigureObject?) -> Tail {
    Tail(generatedAt: .time(context.clock.wallMs), filters: filters, schema: schema, store: store, summary: summary)
  }

  /// What a document says besides its rows.
  private struct Tail: Encodable {
    let generatedAt: Cell
    let filters: [String: Cell]
    var rows: Int?
    let schema: String
    let store: StoreIdentity
    let summary: FigureObject?
    var type: String?
  }
}

/// The names of documents and records.
enum SchemaName {
  /// `report.summary` of `transfers.report.summary/1`.
  static func short(_ schema: String) -> String {
    let name = schema.prefix { $0 != "/" }
    return String(name.hasPrefix("transfers.") ? name.dropFirst("transfers.".count) : name)
  }

  /// `file` of `transfers.list.files/1`, `batch` of `transfers.list.batches/1`.
  static func singular(_ schema: String) -> String {
    let name = String(short(schema).split(separator: ".").last ?? "row")
    if name.hasSuffix("ches") { return String(name.dropLast(2)) }
    return name.hasSuffix("s") ? String(name.dropLast()) : name
  }
}

extension FigureObject {
  /// As a record of a stream, which has its `type`; a figure of that name is then `<type>_type`.
  func record(type: String) -> FigureObject {
    let own = fields.map { ($0.key == "type" ? "\(type)_type" : $0.key, $0.cell) }
    return FigureObject(own + [("type", .text(type))])
  }
}
