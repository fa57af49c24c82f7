import TransferModel
import TransferReports

/// Prints one value in the form that was asked for.
struct ValuePrinter {
  let common: CommonOptions
  let store: StoreIdentity
  let filters: [String: Cell]
  let context: Context

  func print(_ value: some OutputValue) throws(CommandFailure) {
    let schema = Swift.type(of: value).schema
    switch common.format {
    case .table where common.chosenColumns == nil: context.out.write(value.text(common.style(context)))
    case .json where common.chosenColumns == nil: try document(value, schema, type: nil)
    case .json: try document(try chosen(value), schema, type: nil)
    default: if let table = value.table { try rows(table, schema) } else { try figures(value, schema) }
    }
    context.out.markComplete()
  }

  /// Refuses columns that such a value does not have, before anything is done for it.
  func checkColumns(of sample: some OutputValue) throws(CommandFailure) {
    guard let columns = common.chosenColumns else { return }
    guard common.format != .json, let table = sample.table else {
      _ = try JSONTree(sample).choosing(columns)
      return
    }
    let known = table.headings.map(\.key)
    if let wrong = columns.first(where: { !known.contains($0) }) { throw UnknownColumn.failure(wrong, known: known) }
  }

  private func document(_ data: some Encodable, _ schema: String, type: String?) throws(CommandFailure) {
    let document = Envelope(
      schema: schema, generatedAt: .time(context.clock.wallMs), store: store, filters: filters, data: data, type: type)
    context.out.writeJSON(try JSONText.encode(document) + [0x0A])
  }

  private func rows(_ table: FigureTable, _ schema: String) throws(CommandFailure) {
    var printer = RowPrinter(schema: schema, store: store, filters: filters, common, context)
    printer.print(table)
    try printer.finish(empty: "no rows")
  }

  /// What is not a table: one record, or its figures one below the other.
  private func figures(_ value: some OutputValue, _ schema: String) throws(CommandFailure) {
    if common.format == .ndjson { return try document(try chosen(value), schema, type: SchemaName.short(schema)) }
    let leaves = try chosen(value).leaves()
    var bytes: [UInt8] = []
    switch common.format {
    case .csv, .tsv:
      let writer = SeparatedRow(
        form: common.format == .csv ? .csv : .tsv, isForTerminal: context.out.isTerminal)
      writer.append(["key", "value"], to: &bytes)
      for leaf in leaves { writer.append([leaf.key, leaf.value], to: &bytes) }
    default:
      let width = leaves.map { DisplayWidth.of($0.key) }.max() ?? 0
      for leaf in leaves {
        let key = DisplayWidth.pad(printable(leaf.key), to: width, alignsRight: false)
        bytes += Array("\(key)  \(leaf.value.isEmpty ? "-" : printable(leaf.value))\n".utf8)
      }
    }
    context.out.write(bytes)
  }

  private func chosen(_ value: some OutputValue) throws(CommandFailure) -> JSONTree {
    let tree = try JSONTree(value)
    return try common.chosenColumns.map { columns throws(CommandFailure) in try tree.choosing(columns) } ?? tree
  }
}
