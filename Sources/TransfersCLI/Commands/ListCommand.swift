import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

/// `transfers list`: rows for eyes and scripts.
struct ListCommand: Command {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    case files, batches, chunks, attempts

    /// The ids that this list knows besides those of batches and files.
    var extra: Selection.Extra {
      switch self {
      case .files, .batches: .none
      case .chunks: .chunks
      case .attempts: .attempts
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List batches, files, chunks or attempts.", aliases: ["ls"])

  @Argument(help: "What to list.") var kind = Kind.files
  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try RowLister(schema: "transfers.list.\(kind.rawValue)/1", selection, limit, common, context).list(kind)
  }
}
