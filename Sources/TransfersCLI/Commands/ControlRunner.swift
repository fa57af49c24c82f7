import TransferModel
import TransferReports
import Transfers

/// A command that changes the selected rows. Selection and change must be typed explicitly; no environment variable
/// sets them.
protocol ChangesRows {}

/// The common part of all control verbs: select, change in one transaction, request the engine, report.
struct ControlRunner {
  let verb: ControlVerb
  let words: ControlWords
  let options: ControlOptions
  let context: Context
  /// An empty selection means everything, because the verb itself is harmless.
  var takesEverything = false
  /// What is printed if nothing was selected, in place of "nothing matched".
  var hint: (RowFilter, OpenStore) throws(CommandFailure) -> String? = { (_, _) throws(CommandFailure) in nil }
  /// How the verb narrows the selection.
  var narrow: (RowFilter) throws(CommandFailure) -> RowFilter = { (filter) throws(CommandFailure) in filter }

  func run() throws(CommandFailure) {
    let path = try options.common.storePath(context)
    let sample = ControlOutput(words, ControlOutcome(), dryRun: false, engineRuns: false, recovery: nil)
    try options.common.checkColumns(of: sample, context)
    let ledger = try options.dryRun ? LedgerAccess.open(path, context) : LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    if !takesEverything { try refuseEmptySelection(ledger) }
    let asked = try options.selection.filter(ledger, context)
    let filter = try narrow(asked)
    let outcome = try options.dryRun ? plan(filter, ledger) : change(filter, ledger)
    let recovery = try recover(outcome, ledger)
    if !options.dryRun, verb.endsFiles {
      try failing { () throws(TransferError) in try ledger.sweepCopies() }
    }
    let engine = try LedgerAccess.read(ledger) { try $0.engine(context.clock) }
    let value = ControlOutput(
      words, outcome, dryRun: options.dryRun,
      engineRuns: engine.isAlive, recovery: recovery)
    let isEmpty = outcome.selected == 0
    if !isEmpty || !options.common.format.isForPeople {
      try options.common.print(
        value, store: StoreIdentity(ledger), filters: options.selection.filters, context)
    }
    if isEmpty { try EmptySelection.tell(options.failIfEmpty, options.common, context, hint: try hint(asked, ledger)) }
  }

  private func plan(_ filter: RowFilter, _ ledger: OpenStore) throws(CommandFailure) -> ControlOutcome {
    try LedgerAccess.read(ledger) { try $0.outcome(of: verb, filter) }
  }

  private func change(_ filter: RowFilter, _ ledger: OpenStore) throws(CommandFailure) -> ControlOutcome {
    try failing { () throws(TransferError) in
      try ledger.control(verb, filter, between: WriteThrottle(context.clock).rest)
    }
  }

  /// Applies requests that a crashed engine had not seen.
  private func recover(_ outcome: ControlOutcome, _ ledger: OpenStore) throws(CommandFailure) -> Recovery? {
    guard !options.dryRun, !outcome.asked.isEmpty else { return nil }
    return try failing { () throws(TransferError) in
      try ledger.recoverIfIdle(argv: RecordedArguments.masked(context.arguments))
    }
  }

  private func refuseEmptySelection(_ ledger: OpenStore) throws(CommandFailure) {
    guard options.selection.isEmpty else { return }
    let everything = try narrow(try options.selection.filter(ledger, context))
    let outcome = try plan(everything, ledger)
    let count = Quantity.count(outcome.changed.count + outcome.asked.count, "file")
    throw .usage(
      "\(words.verb) needs to know which files; --all would \(words.phrase ?? words.verb) \(count)",
      remedy: "transfers \(words.verb) --last, or --all; transfers help selectors")
  }
}

/// Nothing was selected: a note, or with `--fail-if-empty` a failure.
enum EmptySelection {
  static func tell(
    _ fails: Bool, _ common: CommonOptions, _ context: Context, hint: String? = nil
  ) throws(CommandFailure) {
    let text = hint ?? "nothing matched"
    if fails {
      throw CommandFailure(.empty, text, remedy: "check with \"transfers list files\" and the same selection")
    }
    if !common.quiet { context.err.writeLine(text) }
  }
}
