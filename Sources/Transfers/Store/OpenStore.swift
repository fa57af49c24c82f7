import TransferEngine
import TransferLedger
package import TransferModel

/// An open store. Everything blocks; any thread may call it.
package final class OpenStore: Sendable {
  package enum Mode: Sendable {
    /// Made when it is missing.
    case create
    /// For changing rows of a store that must exist.
    case existing
    /// For looking; works while an engine writes, and for a user who may not write.
    case readOnly
  }

  private let ledger: Ledger

  /// Opens the store at `path`; upgrades one of an older program unless it is only read. Errors of the store.
  package init(at path: String, _ mode: Mode, clock: any TransferClock = SystemClock()) throws(TransferError) {
    let ledgerMode: Ledger.OpenMode =
      switch mode {
      case .create: .create
      case .existing: .existing
      case .readOnly: .readOnly
      }
    ledger = try Ledger.open(at: path, mode: ledgerMode, clock: clock)
  }

  /// Absolute.
  package var path: String { ledger.path }

  /// One consistent look. Looks at one open store run one after the other.
  package func read<Value>(_ body: (StoreReader) throws -> Value) throws(TransferError) -> Value {
    try ledger.read { try body(StoreReader(reader: $0, path: ledger.path)) }
  }

  /// Differs from an earlier mark when somebody else has changed the store meanwhile; costs no look at a row. Looks at
  /// what may have changed belong after it.
  package func changeMark() throws(TransferError) -> StoreMark { StoreMark(mark: try ledger.changeMark()) }

  /// The same for those who also show bytes in flight: differs once a second while bodies run.
  package func liveMark(_ clock: any TransferClock) throws(TransferError) -> StoreMark {
    StoreMark(mark: try ledger.changeMark(), note: InFlightNote.read(ofLedger: path, bootMs: clock.bootMs))
  }

  func prover(withReceipts: Bool) throws(TransferError) -> ReceiptProver {
    ReceiptProver(prover: try ledger.logProver(withReceipts: withReceipts), ledger: ledger)
  }

  func prover(
    sealedAs note: String
  ) throws(TransferError) -> (comparison: SealComparison, prover: ReceiptProver?) {
    let (comparison, prover) = try ledger.logProver(sealedAs: note)
    return (comparison, prover.map { ReceiptProver(prover: $0, ledger: ledger) })
  }

  func compare(seal: String, key: String?) throws(TransferError) -> SealComparison {
    try ledger.compare(seal: seal, key: key)
  }

  /// Idempotent; so is forgetting the value.
  package func close() { ledger.close() }
}

// MARK: - Changes; durable on return

extension OpenStore {
  /// Does what the verb says to the files that the filter selects at this moment, in parts; `between` is called after
  /// each.
  package func control(
    _ verb: ControlVerb, _ filter: RowFilter, between: () -> Void = {}
  ) throws(TransferError) -> ControlOutcome {
    try ledger.control(verb, filter, between: between)
  }

  /// Changes the batches that the filter names, or that have a file which it selects; a running engine follows within a
  /// second.
  package func changeBatches(
    _ filter: RowFilter, _ change: BatchChange, between: () -> Void = {}
  ) throws(TransferError) -> BatchOutcome {
    try ledger.changeBatches(filter, change, between: between)
  }

  /// Deletes history of what ended before this time (milliseconds since 1970 UTC), in parts; `between` is called after
  /// each. See ``TransferModel/PruneOutcome``. Throws `.usage` for a time that has not passed yet.
  package func prune(before ms: Int64, between: () -> Void = {}) throws(TransferError) -> PruneOutcome {
    try ledger.prune(before: ms, between: between)
  }

  /// What ``prune(before:between:)`` would do now; changes nothing.
  package func pruneOutcome(before ms: Int64) throws(TransferError) -> PruneOutcome {
    try ledger.pruneOutcome(before: ms)
  }

  /// Marks the sessions that ``StoreReader/orphans(_:after:limit:)`` lists for their end at the server; how many.
  package func giveUpOrphans(_ filter: RowFilter) throws(TransferError) -> Int { try ledger.giveUpOrphans(filter) }

  /// When no engine is alive: puts right what a dead one left, so that what was asked of its files is done now. nil
  /// when there is nothing to do, or an engine is alive. `argv` is recorded.
  package func recoverIfIdle(argv: [String]) throws(TransferError) -> Recovery? {
    try ledger.recoverIfIdle(TransferStore.newRun(argv))
  }

  func write<T: Sendable>(_ body: @escaping @Sendable (LedgerTransaction) throws -> T) throws(TransferError) -> T {
    try ledger.write(body)
  }

  /// Removes the copies of files that were cancelled, when no `add` is at work.
  package func sweepCopies() throws(TransferError) { try StagedCopies(storePath: path).sweep(ledger) }
}

/// A moment in the life of a store; see ``OpenStore/changeMark()``.
package struct StoreMark: Sendable, Hashable {
  fileprivate let mark: LedgerMark
  fileprivate var note: InFlightNote?
}

/// One consistent look at a store; only valid inside the body that it was given to. What it reads stands in the files
/// `StoreReader….swift`, by what it is for.
package struct StoreReader {
  let reader: LedgerReader
  /// Of the store.
  let path: String

  /// How many rules ``check()`` looks at.
  package static var ruleCount: Int { LedgerReader.ruleCount }
}
