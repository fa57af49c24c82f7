import TransferModel
import TransferReports

/// Prints rows as they arrive in the requested format, so that a list of a million needs the memory of one page.
struct RowPrinter {
  private let schema: String
  private let rowType: String
  private let store: StoreIdentity
  private let filters: [String: Cell]
  private let checks: [ReportCheck]
  private let common: CommonOptions
  private let context: Context
  private var table: Table
  private var hasHeader = false
  private var printed = 0
  private var pages: RowPages?
  private var failure: CommandFailure?

  /// `rowType` is the `type` of a record in ndjson; without it the schema's name in the singular: `file` of
  /// `transfers.list.files/1`.
  init(
    schema: String, rowType: String? = nil, store: StoreIdentity, filters: [String: Cell] = [:],
    checks: [ReportCheck] = [], _ common: CommonOptions, _ context: Context
  ) {
    self.schema = schema
    self.rowType = rowType ?? SchemaName.singular(schema)
    self.store = store
    self.filters = filters
    self.checks = checks
    self.common = common
    self.context = context
    table = Table(common.style(context))
    if common.format == .html { pages = RowPages(schema, self.rowType, header, context) }
  }

  private var header: ReportHeader {
    ReportHeader(store: store, filters: filters, generatedMs: context.clock.wallMs, checks: checks)
  }

  /// The output was closed by its reader, or failed, or needs no more rows.
  var isClosed: Bool { failure != nil || context.out.state != .open || pages?.isComplete ?? false }

  /// Prints the next rows. An unknown column stops the printing, and ``finish(empty:summary:)`` throws the error.
  mutating func print(_ page: FigureTable) {
    guard failure == nil, let page = chosen(page) else { return }
    if printed == 0 { context.out.write(common.heading(of: checks, context)) }
    defer { printed += page.rows.count }
    switch common.format {
    case .table: if !page.rows.isEmpty { context.out.write(table.page(page, isContinued: printed > 0)) }
    case .json: document(page)
    case .ndjson: lines(page)
    case .csv: separated(page, .csv)
    case .tsv: separated(page, .tsv)
    case .markdown:
      if !page.rows.isEmpty { context.out.write(MarkdownReport.rows(page, isContinued: printed > 0)) }
    case .html: pages?.append(page)
    case .prometheus:
      failure = .usage(
        "--format prometheus is for totals, not for a list of rows",
        remedy: "transfers report summary --format prometheus")
    }
  }

  private mutating func chosen(_ page: FigureTable) -> FigureTable? {
    guard let columns = common.chosenColumns else { return page }
    if let chosen = page.choosing(columns) { return chosen }
    let known = page.headings.map(\.key)
    failure = .unknownColumn(columns.first { !known.contains($0) } ?? "", known: known)
    return nil
  }

  private func document(_ page: FigureTable) {
    var bytes: [UInt8] = []
    for index in page.rows.indices {
      bytes += Array((printed + index == 0 ? "{\"data\":[\n" : ",\n").utf8)
      JSONWriter.append(page.object(index), to: &bytes)
    }
    context.out.writeJSON(bytes)
  }

  private func lines(_ page: FigureTable) {
    var bytes: [UInt8] = []
    for index in page.rows.indices {
      JSONWriter.append(page.object(index).record(type: rowType), to: &bytes)
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

  /// Ends the output: with `empty` as text, unless that is empty, if there was no row, or with the rest of the
  /// document, or the last record.
  func finish(empty: String, summary: FigureObject? = nil) throws(CommandFailure) {
    if let failure { throw failure }
    switch common.format {
    case .table: if printed == 0, !empty.isEmpty { context.out.writeLine(empty) }
    case .json: endDocument(summary)
    case .ndjson: endLines(summary)
    case .csv, .tsv: break
    case .markdown: if printed == 0, !empty.isEmpty { context.out.writeLine(MarkdownReport.escaped(empty)) }
    case .html:
      var pages = pages
      try pages?.end(empty: empty)
    case .prometheus: break
    }
    context.out.markComplete()
  }

  /// The keys are sorted as in every other document, so `data` comes first.
  private func endDocument(_ summary: FigureObject?) {
    let opening = printed == 0 ? "{\"data\":[" : "\n"
    let tail = JSONWriter.bytes(.object(tail(summary)))
    context.out.writeJSON(Array(opening.utf8) + Array("],".utf8) + tail.dropFirst() + [0x0A])
  }

  private func endLines(_ summary: FigureObject?) {
    typealias Member = FigureTree.Member
    let own = [Member("type", .figure(.text("summary"))), Member("rows", .figure(Cell(printed)))]
    context.out.writeJSON(JSONWriter.bytes(.object(tail(summary) + own)) + [0x0A])
  }

  /// The members of a document other than its rows.
  private func tail(_ summary: FigureObject?) -> [FigureTree.Member] {
    header.members(schema: schema) + (summary.map { [FigureTree.Member("summary", FigureTree($0))] } ?? [])
  }
}

extension FigureObject {
  /// The row as a record of a stream, which has its own `type`; a figure of that name becomes `<type>_type`.
  func record(type: String) -> FigureObject {
    let own = fields.map { ($0.key == "type" ? "\(type)_type" : $0.key, $0.cell) }
    return FigureObject(own + [("type", .text(type))])
  }
}
