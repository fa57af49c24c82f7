import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

/// `transfers status`: what is happening now, one screen.
struct StatusCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what is happening now; works while an engine runs.",
    aliases: ["st"])

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context)
    let value = try LedgerAccess.read(ledger) { reader in
      try StatusOutput(
        engine: EngineStatus(try reader.newestRun(), nowMs: context.clock.wallMs),
        totals: reader.stateTotals(filter), nextDueMs: reader.nextDueMs(),
        active: reader.runningFiles(filter, limit: 20),
        problems: reader.failures(filter), overdue: reader.overdueBatches(filter, nowMs: context.clock.wallMs))
    }
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
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
