import ArgumentParser
import TransferModel
import TransferReports

/// `transfers help`: a command or a topic.
struct HelpCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "help",
    abstract: "Explain a command or a topic (\(HelpTopic.all.map(\.name).joined(separator: ", "))).")

  @Argument(
    help: ArgumentHelp("A command or a topic.", valueName: "topic"),
    completion: .list(HelpTopic.all.map(\.name) + RootCommand.subcommandNames))
  var topic: [String] = []
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let value = HelpOutput(topic: topic.joined(separator: " "), page: try page())
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }

  private func page() throws(CommandFailure) -> HelpTopic {
    if topic.isEmpty { return Self.overview }
    if topic.count == 1, let found = HelpTopic.named(topic[0]) { return found }
    guard let command = Self.command(topic) else {
      let known = HelpTopic.all.map(\.name) + RootCommand.subcommandNames
      let near = EditDistance.nearest(to: topic[0], in: known)
      throw .usage(
        "no command or topic \"\(EscapedArgument.shown(topic.joined(separator: " ")))\"",
        remedy: "transfers help" + (near.map { " \($0)" } ?? ""))
    }
    let name = topic.joined(separator: " ")
    return HelpTopic(name, command.configuration.abstract, table: { OptionHelp.table(command) }) {
      RootCommand.helpMessage(for: command) + "\n"
    }
  }

  /// All commands and topics.
  private static var overview: HelpTopic {
    HelpTopic("", "", table: { OptionHelp.overview }) {
      let topics = TwoColumns.text(HelpTopic.all.map { ($0.name, $0.about) }, indent: 2, columns: 80)
      return RootCommand.helpMessage() + "\n\nTOPICS: (transfers help <topic>)\n" + topics
    }
  }

  private static func command(_ path: [String]) -> (any ParsableCommand.Type)? {
    var found: any ParsableCommand.Type = RootCommand.self
    for name in path {
      guard let next = found.subcommand(named: name) else { return nil }
      found = next
    }
    return found
  }
}

/// A help page. As JSON it has the text and the rows of its table: options, codes, variables, commands.
struct HelpOutput: OutputValue {
  /// Empty for the overview.
  let topic: String
  let page: HelpTopic

  static let form = ReportForm<HelpOutput>(
    "transfers.help/1", rows: "rows",
    [
      .facts([.text("topic") { $0.topic }, .text("text", "") { $0.page.text() }.saying { $0.page.text() }]),
      // The text shows them already.
      .anyTable("rows", nil, TableLook(isForPrograms: true)) { $0.page.table?() },
    ])
}
