import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers dest`: named destinations and sources.
struct DestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dest", abstract: "List, show and test the destinations of the configuration.",
    subcommands: [DestListCommand.self, DestShowCommand.self, DestTestCommand.self])
}

/// `transfers dest list`.
struct DestListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the destinations and sources of the configuration.")

  @OptionGroup var common: CommonOptions

  static let columns: [Column<ConfigSection>] = [
    .text("name", "Name") { $0.name },
    .text("kind", "Kind") { $0.kind.rawValue },
    .text("url", "URL") { $0["url"]?.shown },
    .text("options", "Options") { section in
      section.settings.filter { $0.key != "url" }.map { "\($0.key)=\($0.shown)" }.joined(separator: " ")
    },
    .text("origin") { $0.place.description },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    let config = context.config
    let rows = (Array(config.destinations.values) + config.sources.values).sorted {
      ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name)
    }
    var printer = RowPrinter(
      schema: "transfers.dest.list/1", rowType: "destination",
      store: StoreIdentity(path: try? common.storePath(context)),
      common, context)
    printer.print(FigureTable(Self.columns, rows))
    try printer.finish(empty: "no destinations; \"transfers config example\" has some")
  }
}

/// A destination or source that is named on the command line.
struct DestName: ParsableArguments {
  @Argument(help: ArgumentHelp("A destination of the configuration.", valueName: "name")) var name: String

  func section(_ config: Config) throws(CommandFailure) -> ConfigSection {
    if let section = config.destinations[name] ?? config.sources[name] { return section }
    let near = EditDistance.nearest(to: name, in: (Array(config.destinations.keys) + config.sources.keys).sorted())
    throw CommandFailure(
      .config, "no destination \"\(printable(name))\" in the configuration", remedy: near ?? "transfers dest list")
  }
}

/// `transfers dest show`.
struct DestShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a destination, and where each value is set.")

  @OptionGroup var named: DestName
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let section = try named.section(context.config)
    try common.print(
      DestOutput(section: section), store: StoreIdentity(path: try? common.storePath(context)), context)
  }
}

struct DestOutput: OutputValue {
  let section: ConfigSection

  static let form = ReportForm<DestOutput>(
    "transfers.dest/1", rows: "settings",
    [
      .facts([.text("name", "name") { $0.section.name }, .text("kind", "kind") { $0.section.kind.rawValue }]),
      .table(
        "settings", "Settings",
        [
          .text("key", "Key") { $0.key }, .text("value", "Value") { $0.shown },
          .text("origin", "Origin") { $0.place.description },
        ]
      ) { $0.section.settings },
    ])
}

/// `transfers dest test`.
struct DestTestCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Send a query that changes nothing to a destination, and show the answer.",
    discussion: """
      Sends one or two requests, which are not recorded in the ledger: HEAD of a nonexistent object for S3, OPTIONS \
      otherwise; a second one if the first is not answered clearly. \
      It shows whether the destination answers and accepts the credentials; not whether it accepts files. Exits with \
      77 if the credentials are refused or missing, with 78 if nothing answers.
      """)

  @OptionGroup var named: DestName
  @Option(
    name: .customLong("label"), help: ArgumentHelp("For {label.KEY} in its URL; repeatable.", valueName: "key=value"))
  var labels: [String] = []
  @OptionGroup var common: CommonOptions

  func validate() throws { try BatchOptions.checkLabels(labels) }

  func execute(_ context: Context) throws(CommandFailure) {
    let section = try named.section(context.config)
    guard section.kind == .destination else {
      throw .usage("\"\(section.name)\" is a source", remedy: "transfers pull -n \(section.name):PATH DIR")
    }
    var inner = Context(
      arguments: ["push"] + labels.map { "--label=\($0)" } + ["--name=test", "--", "source", section.name],
      environment: context.environment, out: context.out, err: context.err, machine: context.machine)
    inner = inner.configured(context.config)
    inner.job = "test"
    let line = try ArgumentLine(inner)
    let push: PushCommand
    do {
      guard let parsed = try RootCommand.parseAsRoot(line.arguments) as? PushCommand else { return }
      push = parsed
    } catch {
      throw line.failure(ParserMessage(RootCommand.message(for: error)))
    }
    let asked = try push.batch.upload(inner.parsing(line.arguments)).settings
    let test = try failing { () throws(TransferError) in try DestinationTest(asked) }
    let output = DestTestOutput(name: section.name, url: asked.destination, test: test)
    try common.print(output, store: StoreIdentity(path: try? common.storePath(context)), context)
    guard let failure = test.failure else { return }
    throw CommandFailure(
      failure.code.rawValue.hasPrefix("auth.") ? .auth : .config,
      "test \"\(section.name)\": \(printable(failure.message))", remedy: "transfers dest show \(section.name)")
  }
}

/// What a destination answered.
struct DestTestOutput: OutputValue {
  let name: String
  let url: String
  let test: DestinationTest

  static let form = ReportForm<DestTestOutput>(
    "transfers.dest.test/1",
    [
      .facts([
        .text("name", "name") { $0.name },
        .text("url", "url") { RecordedArguments.masked([$0.url])[0] },
        .text("question", "question") { $0.test.question },
        .flag("ok", "ok") { $0.test.failure == nil },
        .text("host", "host") { $0.test.host },
        .text("address", "address") { $0.test.address },
        .integer("status", "status") { $0.test.status },
        .text("http_version", "HTTP") { $0.test.httpVersion },
        .duration("total_ms", "took") { $0.test.totalMs },
        .texts("fields", "it says") { $0.test.fields },
        .text("error") { $0.test.failure?.code.rawValue },
        .text("message") { $0.test.failure?.message },
      ])
    ])
}
