import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers status`: the current activity, one screen.
struct StatusCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the current activity; works while an engine runs.",
    discussion: """
      Exits with 0 if it could read the ledger. With --exit-code it has the exit code of a "transfers run" that ended \
      now: 0 all done, 3 some failed, are unknown or were cancelled, 4 none is done, 5 files are left, 8 a mismatch. It is \
      also 8 if the newest "verify" or "prove --remote" of a done file found it changed or missing.
      """,
    aliases: ["st"])

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(help: "Exit with the result of the files, like run and wait.") var exitCode = false
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context)
    let log = LogStatus(TransferStore(at: ledger.path).condition)
    let status = try LedgerAccess.read(ledger) { try $0.status(filter, context.clock) }
    let value = StatusOutput(status, log: log, absence: Absence(selection, hidden: status.hidden))
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
    guard exitCode, value.status != .ok else { return }
    let report = value.now.contradicted > 0 ? "integrity" : "failures"
    let remedy = value.status == .workLeft ? "transfers run" : "transfers report \(report)\(selection.words)"
    throw CommandFailure(value.status, value.reason, remedy: remedy)
  }
}

extension RowFilter {
  /// The same rows, but only these states; a selection of states stays as it is.
  func with(states: [FileState]) -> RowFilter {
    var filter = self
    guard !self.states.isEmpty || isBackingOff else {
      filter.states = states
      return filter
    }
    filter.states = states.filter { self.states.contains($0) }
    filter.isBackingOff = false
    return filter.states.isEmpty ? .nothing : filter
  }
}
