import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store schema`.
struct StoreSchemaCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Describe the public SQL views, column by column, and with --json the documents of all commands.",
    discussion: """
      "documents" of the JSON form has the JSON Schema (draft 2020-12) of each document that a command prints with --json, by \
      the name that the document has under "schema". --columns leaves members out that a schema requires.

      --datasette prints what Datasette (https://datasette.io, seen with 0.65) needs to show a ledger to people: titles, \
      what each column means and its unit, facets, and queries with parameters. Give it a snapshot.

      Examples:
        transfers store schema --json | jq '.data.documents["transfers.status/3"]' > status.schema.json
        transfers store snapshot audit.db
        transfers store schema --datasette --store audit.db -o datasette.yaml
        datasette audit.db --metadata datasette.yaml
      """)

  @Flag(help: "Print the metadata of Datasette for a file with the name of this ledger, as YAML.")
  var datasette = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard datasette, common.format != .table || common.columns != nil else { return }
    throw ValidationError("--datasette is YAML, a form of its own; leave out --format, --json and --columns")
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let (rows, tables) = try LedgerAccess.read(ledger) { (try $0.viewColumns(), try $0.tableNames()) }
    guard !datasette else {
      let name = NameBytes(ledger.path).lastComponent.description
      context.out.write(DatasetteMetadata(database: name, views: rows, tables: tables).yaml)
      return context.out.markComplete()
    }
    try common.print(StoreSchemaOutput(views: rows), store: StoreIdentity(ledger), context)
  }
}

struct StoreSchemaOutput: OutputValue {
  let views: [ViewColumnRow]

  static let form = ReportForm<StoreSchemaOutput>(
    "transfers.store.schema/2", rows: "views",
    [
      .table("views", nil, columns, TableLook(empty: "no views")) { $0.views },
      .document("documents") { _ in
        .object(DocumentCatalog.shapes.map { FigureTree.Member($0.schema, $0.jsonSchema) })
      },
    ])

  private static let columns: [Column<ViewColumnRow>] = [
    .text("view", "View") { $0.view },
    .text("column", "Column") { $0.column },
    .text("type", "Type") { $0.type },
    .text("unit", "Unit") { $0.unit },
    .text("text", "Meaning") { $0.text },
  ]
}
