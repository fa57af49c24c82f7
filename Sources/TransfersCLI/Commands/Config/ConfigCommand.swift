import ArgumentParser
import StrictYAML
import TransferModel
import TransferReports
import Transfers

/// `transfers config`: the configuration.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show, locate and check the configuration.",
    subcommands: [
      ConfigShowCommand.self, ConfigPathCommand.self, ConfigCheckCommand.self, ConfigExampleCommand.self,
    ])
}

/// `transfers config path`.
struct ConfigPathCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print the configuration files, in order of precedence.")

  @OptionGroup var common: CommonOptions

  struct File: Sendable {
    let path: String
    let origin: String
    let isThere: Bool
  }

  static let columns: [Column<File>] = [
    .text("path", "Path") { $0.path }, .flag("exists", "Exists") { $0.isThere },
    .text("origin", "Named by") { $0.origin },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    var files: [File] = []
    for candidate in ConfigFiles.candidates(common.config, context) {
      let found = try? ConfigFiles.contents(candidate)
      files.append(File(path: candidate.path, origin: candidate.origin, isThere: found.flatMap { $0 } != nil))
    }
    var printer = RowPrinter(
      schema: "transfers.config.path/1", rowType: "file", store: StoreIdentity(path: try? common.storePath(context)),
      common, context)
    printer.print(FigureTable(Self.columns, files))
    try printer.finish(empty: "no files")
  }
}

/// `transfers config example`.
struct ConfigExampleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "example", abstract: "Print an example configuration with comments.")

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    try common.print(
      ConfigExampleOutput(yaml: ConfigExample.text), store: StoreIdentity(path: try? common.storePath(context)), context
    )
  }
}

struct ConfigExampleOutput: OutputValue {
  let yaml: String

  static let form = ReportForm<ConfigExampleOutput>(
    "transfers.config.example/1", [.facts([.text("yaml", "") { $0.yaml }.saying { $0.yaml }])])
}

/// `transfers config check`.
struct ConfigCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Report all errors in the configuration, with line and column.",
    discussion: "Exits with 78 if there is an error. Contacts no server, and reads no credentials.")

  @Argument(
    help: ArgumentHelp("A file (default: those that are read, see \"transfers config path\").", valueName: "file"),
    completion: .file())
  var file: String?
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let named = file ?? common.config
    let (config, found) = try ConfigFiles.find(named, context)
    let faults = (found + ConfigSense.faults(config, context)).sorted { $0.place < $1.place }
    try common.print(
      ConfigCheckOutput(config: config, faults: faults), store: StoreIdentity(path: try? common.storePath(context)),
      context)
    guard !faults.isEmpty else { return }
    throw CommandFailure(
      .config, "check configuration: \(Quantity.count(faults.count, "fault"))", remedy: "transfers help config")
  }
}

/// What `config check` found.
struct ConfigCheckOutput: OutputValue {
  let config: Config
  let faults: [ConfigFault]

  static let form = ReportForm<ConfigCheckOutput>(
    "transfers.config.check/1",
    [
      .facts([
        .flag("ok", "") { $0.faults.isEmpty }.saying { $0.faults.isEmpty ? "ok: \($0.counts)" : nil },
        .list("files") { $0.config.files }.saying { _ in nil },
      ]),
      .words { $0.faults.isEmpty ? nil : $0.lines },
      .table("faults", nil, columns, TableLook(isForPrograms: true)) { $0.faults },
    ])

  private static let columns: [Column<ConfigFault>] = [
    .text("file", "File") { $0.place.file },
    .integer("line", "Line") { $0.place.mark.line },
    .integer("column", "Column") { $0.place.mark.column },
    .text("message", "Message") { $0.message },
  ]

  private var counts: String {
    guard !config.files.isEmpty else {
      return "there is no configuration; \"transfers config example\" prints an example"
    }
    let parts = ConfigSection.Kind.allCases.map { Quantity.count(config.sections($0).count, $0.rawValue) }
    return parts.joined(separator: ", ") + " in " + config.files.map { "\"\(printable($0))\"" }.joined(separator: ", ")
  }

  /// One line a fault, in the form that editors understand.
  private var lines: String { faults.map { "\($0.place): \(printable($0.message))\n" }.joined() }
}
