import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store`: the ledger itself.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Look after the ledger itself.",
    subcommands: [
      StorePathCommand.self, StoreStatusCommand.self, StoreCheckCommand.self, StoreSnapshotCommand.self,
      StoreBackupCommand.self, StoreSchemaCommand.self, StoreSQLCommand.self,
    ])
}

/// `transfers store path`.
struct StorePathCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print where the ledger is; it need not exist.")

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    try common.print(StorePathOutput(path: .name(NameBytes(path))), store: StoreIdentity(path: path), context)
  }
}

struct StorePathOutput: OutputValue {
  static let schema = "transfers.store.path/1"
  let path: Cell

  /// Exactly the path, so that a script can use it.
  func text(_ style: TextStyle) -> String {
    guard case .name(let name) = path else { return "" }
    return String(decoding: name.bytes, as: UTF8.self) + "\n"
  }
}
