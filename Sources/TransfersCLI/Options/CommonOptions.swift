import ArgumentParser
import TransferModel
import TransferReports

/// Options of every command.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The ledger (default: $TRANSFERS_STORE, else $XDG_STATE_HOME/transfers/transfers.db, else under ~/.local/state).",
      valueName: "path"), completion: .file())
  var store: String?

  @Option(
    help: ArgumentHelp(
      "Configuration file to use instead of those of the user and the system. See \"transfers help config\".",
      valueName: "file"),
    completion: .file())
  var config: String?

  @Option(
    name: .customLong("format"), help: ArgumentHelp("Format of the result (default: table).", valueName: "form"))
  var chosenFormat: OutputFormat?

  @Flag(name: .customLong("json"), help: "The same as --format json; --json=a,b also chooses columns.")
  var wantsJSON = false

  @Option(
    help: ArgumentHelp("Only these columns or figures, by their names in JSON, in this order.", valueName: "a,b"))
  var columns: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the result to this file atomically; - is standard output.", valueName: "file"),
    completion: .file()
  )
  var output: NameBytes?

  @Flag(name: .shortAndLong, help: "No progress and no notes; errors and results only.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print the location of the ledger and the settings taken from the environment.")
  var verbose = false

  @Option(name: .customLong("color"), help: ArgumentHelp("Colour in text.", valueName: "when"))
  var colour = ColourChoice.auto

  var format: OutputFormat { wantsJSON ? .json : chosenFormat ?? .table }

  /// The options for a streaming command: one JSON record per line, because the output has no end.
  var streaming: CommonOptions {
    var options = self
    if format == .json { (options.wantsJSON, options.chosenFormat) = (false, .ndjson) }
    return options
  }

  /// nil means all.
  var chosenColumns: [String]? { columns.map { $0.split(separator: ",").map(String.init) } }

  /// Whether figures are needed that the text table omits.
  var needsEveryFigure: Bool { format != .table || chosenColumns != nil }

  func validate() throws {
    if wantsJSON, let chosenFormat, chosenFormat != .json {
      throw ValidationError("--json and --format \(chosenFormat.rawValue) contradict each other; give one of them")
    }
    if format == .prometheus || format == .html, columns != nil {
      throw ValidationError("--format \(format.rawValue) has every figure; leave out --columns")
    }
    if quiet, verbose { throw ValidationError("--quiet and --verbose contradict each other; give one of them") }
    guard let names = chosenColumns else { return }
    if names.isEmpty { throw ValidationError("--columns needs names, a,b") }
    if Set(names).count != names.count { throw ValidationError("--columns has a name twice") }
  }

  func storePath(_ context: Context) throws(CommandFailure) -> String {
    try StoreLocation.path(
      option: store, environment: context.environment, configured: context.config.defaults["store"])
  }

  func style(_ context: Context) -> TextStyle {
    TextStyle(
      columns: context.out.columns,
      usesColour: TextStyle.usesColour(
        colour, environment: context.environment, isTerminal: context.out.isTerminal),
      isASCII: !Locale.isUTF8(context.environment))
  }

  /// Prints a result in the requested format.
  func print(
    _ value: some OutputValue, store: StoreIdentity, filters: [String: Cell] = [:], _ context: Context
  ) throws(CommandFailure) {
    try print(value.report, store: store, filters: filters, context)
  }

  func print(
    _ report: Report, store: StoreIdentity, filters: [String: Cell] = [:], checks: [ReportCheck] = [],
    _ context: Context
  ) throws(CommandFailure) {
    try ValuePrinter(common: self, store: store, filters: filters, checks: checks, context: context).print(report)
  }

  /// The verdicts above text for people; other formats have their own places for them.
  func heading(of checks: [ReportCheck], _ context: Context) -> String {
    switch format {
    case .table: checks.text(style(context))
    case .markdown: checks.markdown
    case .json, .ndjson, .csv, .tsv, .html, .prometheus: ""
    }
  }

  /// For commands with effects: invalid columns must be detected before them.
  func checkColumns(of sample: some OutputValue, _ context: Context) throws(CommandFailure) {
    try ValuePrinter(common: self, store: StoreIdentity(path: nil), filters: [:], context: context)
      .checkColumns(of: sample.report)
  }
}
