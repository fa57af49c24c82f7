import ArgumentParser
import TransferModel
import TransferReports

/// `transfers help`: a command or a topic.
struct HelpCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "help", abstract: "Explain a command or a topic (selectors, time, exit-codes, destinations).")

  @Argument(help: ArgumentHelp("A command, selectors, time, exit-codes or destinations.", valueName: "topic"))
  var topic: [String] = []
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let value = HelpOutput(topic: topic.joined(separator: " "), text: try text())
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }

  private func text() throws(CommandFailure) -> String {
    switch topic.first {
    case nil: return RootCommand.helpMessage() + "\n"
    case "exit-codes": return Self.exitCodes
    case "destinations": return Self.destinations
    case "selectors": return SelectorHelp.selectors
    case "time": return SelectorHelp.time
    case let name?:
      guard let command = Self.command(topic) else {
        throw .usage("no command or topic \"\(printable(name))\"", remedy: "transfers help")
      }
      return RootCommand.helpMessage(for: command) + "\n"
    }
  }

  private static func command(_ path: [String]) -> (any ParsableCommand.Type)? {
    var found: any ParsableCommand.Type = RootCommand.self
    for name in path {
      guard let next = found.configuration.subcommands.first(where: { $0.configuration.commandName == name }) else {
        return nil
      }
      found = next
    }
    return found
  }

  /// The table of ``ExitCode`` and the rules around it.
  static var exitCodes: String {
    let columns = [
      Column<ExitCode>("code", "Code") { .integer(Int64($0.rawValue)) },
      Column("name", "Name") { .text($0.name) },
      Column("meaning", "Meaning") { .text($0.meaning) },
    ]
    var table = Table(.plain)
    return table.page(FigureTable(columns, ExitCode.allCases)) + """

      When several hold: 1 and 7 win over 8, 8 over 4, 4 over 3, 3 over 5, 5 over 0.
      An unknown code that is not 0 is a failure. Codes may be added, none changes its meaning.
      130 and 143 are what a shell shows for a process that ended by SIGINT or SIGTERM.

      Each exit with another code than 0 prints one line on standard error:
        transfers: error[name]: what, where, why. Try: what to do
      With --json, standard output holds at most one document, and the last line of standard error is
        {"type":"exit","code":3,"name":"partial","error":…,"message":…,"remedy":…,"retryable":false}

      """
  }

  private static let destinations = """
    s3://bucket/prefix/          Amazon S3 or compatible (--endpoint-url); multipart for large files
    http(s)://host/path/         PUT to the path
    post+http(s)://host/path/    POST to the path
    dav+http(s)://host/path/     PUT, and missing collections are made (WebDAV)

    A final slash means "into": each file goes below it under its own name, a folder with its tree.
    Without it a single file goes to exactly that name.
    Credentials come from the environment and files: the AWS variables and profiles for S3, --auth for the others.

    """
}

/// A page of help.
struct HelpOutput: OutputValue {
  static let schema = "transfers.help/1"
  /// Empty for the overview.
  let topic: String
  let text: String

  func text(_ style: TextStyle) -> String { text }
}
