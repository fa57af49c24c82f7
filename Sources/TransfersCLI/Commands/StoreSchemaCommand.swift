import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store schema`.
struct StoreSchemaCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Describe the public SQL views, column by column.")

  private static let columns: [Column<ViewColumnRow>] = [
    Column("view", "View") { .text($0.view) },
    Column("column", "Column") { .text($0.column) },
    Column("type", "Type") { .text($0.type) },
    Column("unit", "Unit") { .text($0.unit) },
    Column("text", "Meaning") { .text($0.text) },
  ]

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let rows = try LedgerAccess.read(ledger) { try $0.viewColumns() }
    var printer = RowPrinter(
      schema: "transfers.store.schema/1", rowType: "view_column", store: try StoreIdentity(ledger), common, context)
    printer.print(FigureTable(Self.columns, rows))
    try printer.finish(empty: "no views")
  }
}
