import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile list`.
struct ProfileListCommand: Command {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the built-in profiles.")

  static let columns: [Column<ProfileLibrary.Summary>] = [
    .text("name", "Name") { $0.name },
    .text("chunks", "Sends") { $0.chunks },
    .text("lost_answers", "Lost answers") { $0.lostAnswers },
    .text("inputs", "Inputs") { $0.inputs.map(\.words).joined(separator: " ") },
    .text("about", "For") { $0.about },
  ]

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let rows = try failing { () throws(TransferError) in try ProfileLibrary.builtin() }
    var printer = RowPrinter(
      schema: "transfers.profile.list/1", rowType: "profile",
      store: StoreIdentity(path: try? common.storePath(context)), common, context)
    printer.print(FigureTable(Self.columns, rows))
    try printer.finish(empty: "no profiles")
  }
}

extension ProfileLibrary.Input {
  /// A star marks required inputs, parentheses secret ones.
  var words: String { (isSecret ? "(\(name))" : name) + (isRequired ? "*" : "") }
}

extension ProfileLibrary.Summary {
  /// The effect of a lost answer.
  var lostAnswers: String {
    unrepeatable.isEmpty ? "asked about or repeated" : "unknown after \(unrepeatable.joined(separator: ", "))"
  }
}
