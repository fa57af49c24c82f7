import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers list`: rows for people and scripts.
struct ListCommand: Command {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    case files, batches, chunks, attempts, events

    /// History is listed also for hidden files.
    var isHistory: Bool { self != .files && self != .batches }

    /// The kinds of IDs that this list accepts besides batches and files.
    var extra: Selection.Extra {
      switch self {
      case .files, .batches, .events: .none
      case .chunks: .chunks
      case .attempts: .attempts
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List batches, files, chunks, attempts or events.", aliases: ["ls"])

  @Argument(help: ArgumentHelp("What to list.", valueName: "kind")) var chosen = KindOrID(Kind.files)
  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(help: ArgumentHelp("Stop after this many rows.", valueName: "n")) var limit: Int?
  @Flag(help: "Print only IDs, one per line, for the - argument of another command.") var ids = false
  @Flag(help: "The same, with a NUL after each ID.") var print0 = false
  @OptionGroup var common: CommonOptions

  private var kind: Kind { chosen.kind ?? .files }

  func validate() throws {
    try chosen.check(rows)
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    guard ids || print0 else { return }
    if common.format != .table || common.columns != nil {
      throw ValidationError("--ids and --print0 print only IDs; leave out --format, --json and --columns")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let schema = "transfers.list.\(kind.rawValue)/1"
    let end: UInt8? = print0 ? 0 : ids ? 0x0A : nil
    try RowLister(schema: schema, rows.adding(chosen.id), limit, common, context, bareIDsEndWith: end).list(kind)
  }
}
