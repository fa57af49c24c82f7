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
      "documents" in the JSON output has the JSON Schema (draft 2020-12) of each document that a command prints with \
      --json, by the name in its "schema" member. --columns leaves out members that a schema requires.

      --datasette prints the metadata with which Datasette (https://datasette.io, tested with 0.65) displays a ledger: \
      titles, meaning and unit of each column, facets, and queries with parameters. Use it with a snapshot.

      Examples:
        transfers store schema --json \\
          | jq '.data.documents["transfers.status/3"]' > status.schema.json
        transfers store snapshot audit.db
        transfers store schema --datasette --store audit.db -o datasette.yaml
        datasette audit.db --metadata datasette.yaml
      """)

  @Flag(help: "Print metadata for Datasette, for a file with the name of this ledger, as YAML.")
  var datasette = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard datasette, common.format != .table || common.columns != nil else { return }
    throw ValidationError("--datasette prints YAML; leave out --format, --json and --columns")
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
