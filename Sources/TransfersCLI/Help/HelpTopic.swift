import TransferModel
import TransferReports

/// A page of `transfers help`: text for people and, where it is one, the table that the text shows.
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
    HelpTopic("config", "places and jobs by name, in YAML") { ConfigHelp.text },
    HelpTopic("destinations", "where files can go, and the protocols") { DestinationHelp.text },
    HelpTopic("environment", "the variables that are read", table: { EnvironmentHelp.table }) { EnvironmentHelp.text },
    HelpTopic("exit-codes", "what a command ends with", table: { ExitCodeHelp.table }) { ExitCodeHelp.text },
    HelpTopic("formats", "the forms of results, and --output") { FormatHelp.formats },
    HelpTopic("json", "the documents and records for programs") { FormatHelp.json },
    HelpTopic("profiles", "protocols that are described in YAML") { ProfileHelp.text },
    HelpTopic("protocols", "what each protocol can do", table: { ProtocolHelp.table }) { ProtocolHelp.text },
    HelpTopic("selectors", "how to say which rows a command is about") { SelectorHelp.selectors },
    HelpTopic("sources", "what is sent, and which key each file gets") { SourcesHelp.text },
    HelpTopic("time", "how times and spans are written") { SelectorHelp.time },
  ]

  static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }
}
