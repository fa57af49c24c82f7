import ArgumentParser
import TransferReports

/// Help as rows, for programs: the options of a command, or all commands and topics.
enum OptionHelp {
  private static let columns: [Column<OptionList.Option>] = [
    .text("option", "Option") { "--\($0.long)" },
    .text("short", "Short") { $0.shorts.first.map { "-\($0)" } },
    .text("value", "Value") { $0.takesValue ? $0.valueName : nil },
    .flag("repeatable") { $0.isRepeatable },
    .text("variable", "Variable") { option in
      option.mustBeTyped ? nil : EnvironmentOptions.variable(option.long)
    },
    .text("about", "Meaning") { $0.help },
  ]

  static func table(_ command: any ParsableCommand.Type) -> FigureTable {
    FigureTable(columns, OptionList(of: command).options)
  }

  private struct Entry: Sendable {
    let name: String
    let kind: String
    let about: String
  }

  private static let entries: [Column<Entry>] = [
    .text("name", "Name") { $0.name },
    .text("kind", "Kind") { $0.kind },
    .text("about", "Meaning") { $0.about },
  ]

  static var overview: FigureTable {
    let commands = RootCommand.leafNames.map { name, command in
      Entry(name: name, kind: "command", about: command.configuration.abstract)
    }
    let topics = HelpTopic.all.map { Entry(name: $0.name, kind: "topic", about: $0.about) }
    return FigureTable(entries, commands + topics)
  }
}
