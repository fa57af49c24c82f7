import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

/// `transfers retry`: failed files get another chance.
struct RetryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Let failed, cancelled or unknown files be tried again by the next run.",
    discussion: """
      History stays: a retry is a new attempt. A file whose outcome is unknown may be stored twice when its protocol \
      has no way to ask; naming it here is the permission for that. Without --state and without ids of files only failed files are taken.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(name: [.customShort("n"), .long], help: "Only print what would be tried again.")
  var dryRun = false
  @OptionGroup var common: CommonOptions

  /// The states that a retry starts from.
  private static let states: [FileState] = [.failed, .cancelled, .unknown]

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let ledger = try dryRun ? LedgerAccess.open(path, context) : LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    try refuseEmptySelection(ledger)
    let filter = try retryable(try selection.filter(ledger, context))
    let outcome = try dryRun ? plan(filter, ledger) : retry(filter, ledger)
    let value = RetryOutput(
      files: outcome.changed.count, passedOver: outcome.selected - outcome.changed.count,
      ids: outcome.changed.prefix(1000).map(\.description), dryRun: dryRun)
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
  }

  private func plan(_ filter: RowFilter, _ ledger: Ledger) throws(CommandFailure) -> ControlOutcome {
    try LedgerAccess.read(ledger) { try $0.outcome(of: .retry(startsOver: false), filter) }
  }

  private func retry(_ filter: RowFilter, _ ledger: Ledger) throws(CommandFailure) -> ControlOutcome {
    try failing { () throws(TransferError) in
      try ledger.write { transaction in try transaction.retryFiles(filter, startsOver: false) }
    }
  }

  /// Ids that name files mean those files whatever their state; everything wider means failed ones.
  private func retryable(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    var filter = filter
    if filter.states.isEmpty {
      filter.states = filter.files.isEmpty ? [.failed] : Self.states
    } else if let other = filter.states.first(where: { !Self.states.contains($0) }) {
      throw .usage("a file that is \(other.rawValue) cannot be retried", remedy: "--state failed,cancelled,unknown")
    }
    return filter
  }

  private func refuseEmptySelection(_ ledger: Ledger) throws(CommandFailure) {
    guard selection.isEmpty else { return }
    let count = try plan(RowFilter().with(states: [.failed]), ledger).changed.count
    throw .usage(
      "retry needs to know which files; --all would retry \(Quantity.count(count, "file"))",
      remedy: "transfers retry --last, or --all")
  }
}

/// What `retry` did.
struct RetryOutput: OutputValue {
  static let schema = "transfers.retry/1"
  let files: Int
  /// Selected, but there is nothing to try again: never read, or replaced by newer content. They must be pushed again.
  let passedOver: Int
  /// The first thousand.
  let ids: [String]
  let dryRun: Bool

  func text(_ style: TextStyle) -> String {
    let rest =
      passedOver > 0
      ? "\(Quantity.count(passedOver, "file")) passed over: push again what was never read or is replaced\n" : ""
    if dryRun { return "would retry \(Quantity.count(files, "file"))\n" + ids.map { "  \($0)\n" }.joined() + rest }
    if files == 0 { return "nothing to retry\n" + rest }
    return "\(Quantity.count(files, "file")) will be tried again\n\(rest)Next: transfers run\n"
  }
}
