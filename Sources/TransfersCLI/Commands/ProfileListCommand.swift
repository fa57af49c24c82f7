import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile list`.
struct ProfileListCommand: Command {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the built-in profiles.")

  private static let columns: [Column<ProfileLibrary.Summary>] = [
    Column("name", "Name") { .text($0.name) },
    Column("chunks", "Sends") { .text($0.chunks) },
    Column("lost_answers", "Lost answers") { .text($0.lostAnswers) },
    Column("inputs", "Inputs") { .text($0.inputs.map(\.words).joined(separator: " ")) },
    Column("about", "For") { .text($0.about) },
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
  /// A star marks what has to be given, parentheses what is secret.
  var words: String { (isSecret ? "(\(name))" : name) + (isRequired ? "*" : "") }
}

extension ProfileLibrary.Summary {
  /// What a lost answer leads to.
  var lostAnswers: String {
    unrepeatable.isEmpty ? "asked about or repeated" : "unknown after \(unrepeatable.joined(separator: ", "))"
  }
}
