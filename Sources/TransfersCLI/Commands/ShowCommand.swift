import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

/// `transfers show`: one row with what belongs to it.
struct ShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one batch, file, chunk or attempt with what happened to it.")

  @Argument(help: ArgumentHelp("b12, f345, c9 or a77.", valueName: "id")) var id: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    guard let selector = try RowSelector.parse([id]).first, selector.range.count == 1 else {
      throw .usage("\"\(printable(id))\" is not one row", remedy: "transfers list")
    }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let number = selector.range.lowerBound
    let found = try LedgerAccess.read(ledger) { reader in
      switch selector.kind {
      case .batch: try ShowOutput(batch: number, reader)
      case .file: try ShowOutput(file: number, reader)
      case .chunk: try ShowOutput(chunk: number, reader)
      case .attempt: try ShowOutput(attempt: number, reader)
      }
    }
    guard let found else {
      throw .usage("no row \(selector.text) in this ledger", remedy: "transfers list")
    }
    try common.print(found, store: StoreIdentity(ledger), context)
  }
}
