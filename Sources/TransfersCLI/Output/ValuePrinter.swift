import TransferModel
import TransferReports

/// Prints one report in the requested format.
struct ValuePrinter {
  let common: CommonOptions
  let store: StoreIdentity
  let filters: [String: Cell]
  var checks: [ReportCheck] = []
  let context: Context

  func print(_ report: Report) throws(CommandFailure) {
    let chosen = common.chosenColumns
    switch common.format {
    case .table where chosen == nil:
      context.out.write(common.heading(of: checks, context) + TextReport.render(report, common.style(context)))
    case .markdown where chosen == nil:
      context.out.write(common.heading(of: checks, context) + MarkdownReport.render(report))
    case .html:
      var printer = PagePrinter(header, context)
      printer.begin(report)
      try printer.end()
    case .prometheus: context.out.write(PrometheusReport.render(report, header))
    case .json: document(try tree(report), report.schema, type: nil)
    case .table, .markdown, .ndjson, .csv, .tsv:
      if let table = report.table { try rows(table, of: report) } else { try figures(report) }
    }
    context.out.markComplete()
  }

  /// Refuses columns that such a report does not have, before anything is done for it.
  func checkColumns(of sample: Report) throws(CommandFailure) {
    guard let columns = common.chosenColumns else { return }
    guard common.format != .json, let table = sample.table else {
      _ = try tree(sample)
      return
    }
    let known = table.headings.map(\.key)
    if let wrong = columns.first(where: { !known.contains($0) }) { throw .unknownColumn(wrong, known: known) }
  }

  private var header: ReportHeader {
    ReportHeader(store: store, filters: filters, generatedMs: context.clock.wallMs, checks: checks)
  }

  private func document(_ data: FigureTree, _ schema: String, type: String?) {
    context.out.writeJSON(JSONWriter.document(data, schema: schema, header, type: type))
  }

  private func rows(_ table: FigureTable, of report: Report) throws(CommandFailure) {
    var printer = RowPrinter(
      schema: report.schema, rowType: report.rows.map(SchemaName.singular), store: store, filters: filters,
      checks: checks, common, context)
    printer.print(table)
    try printer.finish(empty: "no rows")
  }

  /// Prints a report without a table: as one record, or one figure per line.
  private func figures(_ report: Report) throws(CommandFailure) {
    let tree = try tree(report)
    if common.format == .ndjson { return document(tree, report.schema, type: SchemaName.short(report.schema)) }
    let leaves = tree.leaves()
    var bytes: [UInt8] = []
    switch common.format {
    case .csv, .tsv:
      let writer = SeparatedRow(
        form: common.format == .csv ? .csv : .tsv, isForTerminal: context.out.isTerminal)
      writer.append(["key", "value"], to: &bytes)
      for leaf in leaves { writer.append([leaf.key, leaf.cell.plainText], to: &bytes) }
    default:
      let width = leaves.map { DisplayWidth.of($0.key) }.max() ?? 0
      for leaf in leaves {
        let key = DisplayWidth.pad(printable(leaf.key), to: width, alignsRight: false)
        let value = leaf.cell.plainText
        bytes += Array("\(key)  \(value.isEmpty ? "-" : printable(value))\n".utf8)
      }
    }
    context.out.write(bytes)
  }

  /// The tree of the selected members.
  private func tree(_ report: Report) throws(CommandFailure) -> FigureTree {
    let tree = FigureTree(report)
    guard let columns = common.chosenColumns else { return tree }
    do { return try tree.choosing(columns.map(report.path)) } catch {
      throw .unknownColumn(error.name, known: error.known)
    }
  }
}

extension CommandFailure {
  /// `--columns` named something that this result does not have.
  static func unknownColumn(_ name: String, known: [String]) -> CommandFailure {
    .usage(
      "unknown column \"\(printable(name))\"",
      remedy: known.isEmpty ? "leave out --columns" : known.joined(separator: ", "))
  }
}
