import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers show`: one row with related rows.
struct ShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one batch, file, chunk or attempt and its history.")

  @Argument(
    help: ArgumentHelp("b12, f345, c9, a77 or the beginning of a uid.", valueName: "id"),
    completion: LedgerCompletion.ids) var id: String
  @Flag(help: "For an attempt: its request as a curl command line, with references in place of secrets.")
  var curl = false
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    if let selector = RowSelector(text: id), selector.range.count > 1 {
      throw .usage("\"\(printable(id))\" is not one row", remedy: "transfers list")
    }
    try RowSelector.check([id])
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    guard let selector = try RowSelector.parse([id], ledger, findsAttempts: true).first else { return }
    if selector.kind == .session {
      throw .usage(
        "show does not take sessions, and \"\(selector.text)\" is one", remedy: "transfers gc \(selector.text)")
    }
    let number = selector.range.lowerBound
    if curl, selector.kind != .attempt {
      throw .usage(
        "--curl is for an attempt, and \(selector.text) is not one", remedy: "transfers list attempts \(selector.text)")
    }
    let found = try LedgerAccess.read(ledger) { reader in
      try curl ? ShownRequest(number, reader)?.report : ShowOutput.report(of: selector.kind, number, reader)
    }
    guard let found else {
      if let pruned = try LedgerAccess.read(ledger, { try $0.firstPruned(selector.filter) }) { throw .pruned(pruned) }
      throw .noRow(selector.text)
    }
    try common.print(found, store: StoreIdentity(ledger), context)
  }
}
