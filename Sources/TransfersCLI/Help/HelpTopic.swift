import TransferModel
import TransferReports

/// A page of `transfers help`: its text and, if the text is a table, that table.
struct HelpTopic: Sendable {
  let name: String
  /// One line without a full stop.
  let about: String
  let text: @Sendable () -> String
  var table: (@Sendable () -> FigureTable)?

  init(
    _ name: String, _ about: String, table: (@Sendable () -> FigureTable)? = nil,
    _ text: @escaping @Sendable () -> String
  ) {
    (self.name, self.about, self.text, self.table) = (name, about, text, table)
  }

  static let all = [
    HelpTopic("config", "named places and jobs, in YAML") { ConfigHelp.text },
    HelpTopic("destinations", "destinations and their protocols") { DestinationHelp.text },
    HelpTopic("environment", "environment variables", table: { EnvironmentHelp.table }) { EnvironmentHelp.text },
    HelpTopic("exit-codes", "exit codes of commands", table: { ExitCodeHelp.table }) { ExitCodeHelp.text },
    HelpTopic("formats", "output formats, and --output") { FormatHelp.formats },
    HelpTopic("json", "JSON documents and records") { FormatHelp.json },
    HelpTopic("profiles", "protocols described in YAML") { ProfileHelp.text },
    HelpTopic("protocols", "what each protocol can do", table: { ProtocolHelp.table }) { ProtocolHelp.text },
    HelpTopic("selectors", "selecting rows") { SelectorHelp.selectors },
    HelpTopic("sources", "sources, and the key of each file") { SourcesHelp.text },
    HelpTopic("time", "times and durations") { SelectorHelp.time },
  ]

  static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }
}
