import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store`: the ledger itself.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Manage the ledger itself.",
    subcommands: [
      StorePathCommand.self, StoreStatusCommand.self, StoreCheckCommand.self, StoreSealCommand.self,
      StoreReceiptsCommand.self, StoreSnapshotCommand.self, StoreBackupCommand.self, StoreMergeCommand.self,
      StorePruneCommand.self, StoreSchemaCommand.self, StoreSQLCommand.self,
    ])
}

/// `transfers store path`.
struct StorePathCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print where the ledger is; it need not exist.")

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    try common.print(StorePathOutput(path: NameBytes(path)), store: StoreIdentity(path: path), context)
  }
}

struct StorePathOutput: OutputValue {
  let path: NameBytes

  /// The text output is exactly the path, so that a script can use it.
  static let form = ReportForm<StorePathOutput>(
    "transfers.store.path/1",
    [.facts([.name("path", "") { $0.path }.saying { String(decoding: $0.path.bytes, as: UTF8.self) }])])
}
