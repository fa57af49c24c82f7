import ArgumentParser
import TransferReports

/// Help as rows, for programs: the options of a command, or all commands and topics.
enum OptionHelp {
  private static let columns = [
    Column<OptionList.Option>("option", "Option") { .text("--\($0.long)") },
    Column("short", "Short") { Cell($0.shorts.first.map { "-\($0)" }) },
    Column("value", "Value") { Cell($0.takesValue ? $0.valueName : nil) },
    Column("repeatable") { .flag($0.isRepeatable) },
    Column("variable", "Variable") { option in
      option.mustBeTyped ? .none : .text(EnvironmentOptions.variable(option.long))
    },
    Column("about", "Meaning") { .text($0.help) },
  ]

  static func table(_ command: any ParsableCommand.Type) -> FigureTable {
    FigureTable(columns, OptionList(of: command).options)
  }

  private struct Entry: Sendable {
    let name: String
    let kind: String
    let about: String
  }

  private static let entries = [
    Column<Entry>("name", "Name") { .text($0.name) },
    Column("kind", "Kind") { .text($0.kind) },
    Column("about", "Meaning") { .text($0.about) },
  ]

  static var overview: FigureTable {
    let commands = RootCommand.leafNames.map { name, command in
      Entry(name: name, kind: "command", about: command.configuration.abstract)
    }
    let topics = HelpTopic.all.map { Entry(name: $0.name, kind: "topic", about: $0.about) }
    return FigureTable(entries, commands + topics)
  }
}
