import TransferEngine
import TransferLedger
package import TransferModel

/// An open store. Everything blocks; any thread may call it.
package final class OpenStore: Sendable {
  package enum Mode: Sendable {
    /// Creates the store if it is missing.
    case create
    /// For changing rows of a store that must exist.
    case existing
    /// For reading only; works while an engine writes, and for a user without write permission.
    case readOnly
  }

  private let ledger: Ledger

  /// Opens the store at `path`; upgrades a store of an older program unless it is opened read-only.
  /// - Throws: errors of the store.
  package convenience init(
    at path: String, _ mode: Mode, clock: any TransferClock = SystemClock()
  ) throws(TransferError) {
    try self.init(at: path, mode, on: Machine(clock: clock))
  }

  /// The same, with the clock and the kept connections of a machine.
  package init(at path: String, _ mode: Mode, on machine: Machine) throws(TransferError) {
    let ledgerMode: Ledger.OpenMode =
      switch mode {
      case .create: .create
      case .existing: .existing
      case .readOnly: .readOnly
      }
    ledger = try TransferStore(at: path, on: machine).open(ledgerMode)
  }

  /// Opens the store at `path` for changes. A store that was merged from others takes none: it is opened for reading,
  /// and each change is refused with the reason.
  /// - Throws: errors of the store.
  static func changeable(at path: String, mayCreate: Bool) throws(TransferError) -> OpenStore {
    do throws(TransferError) {
      return try OpenStore(at: path, mayCreate ? .create : .existing)
    } catch {
      guard let store = try? OpenStore(at: path, .readOnly), store.ledger.isMerged else { throw error }
      return store
    }
  }

  /// The absolute path of the store.
  package var path: String { ledger.path }

  /// Reads one consistent snapshot. Reads of one open store run one after the other.
  package func read<Value>(_ body: (StoreReader) throws -> Value) throws(TransferError) -> Value {
    try ledger.read { try body(StoreReader(reader: $0, path: ledger.path)) }
  }

  /// A mark that differs from an earlier one if another process or connection has changed the store since; reads no
  /// rows. Rows that may have changed have to be read after it.
  package func changeMark() throws(TransferError) -> StoreMark { StoreMark(mark: try ledger.changeMark()) }

  /// The same for displays that include bytes in flight: differs once a second while bodies are being transferred.
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

  /// Whether an engine has work with the sources of a job: one is to be removed now and was not put off; or with those
  /// of any: a folder that removals waited for is available again, or a source is gone whose removal waits for a
  /// destination. Of the latter, some are examined. Looks at folders, after the ledger was read.
  package func hasDueRemoval(ofJob job: String, nowMs: Int64) throws(TransferError) -> Bool {
    if try ledger.read({ reader in try reader.hasDueRemoval(ofJob: job) }) { return true }
    if try isAnyFolderBack(nowMs: nowMs) { return true }
    var waiting = WaitingSources(ledger)
    return try waiting.isAnyGone()
  }

  /// Whether a folder that removals waited for is available again. A dead mount may block it.
  package func isAnyFolderBack(nowMs: Int64) throws(TransferError) -> Bool {
    var waiting = WaitingSources(ledger)
    return try waiting.isAnyFolderBack(nowMs: nowMs)
  }

  /// Closes the store; idempotent. Releasing the value closes it, too.
  package func close() { ledger.close() }
}

// MARK: - Changes; durable on return

extension OpenStore {
  /// Applies the verb to the files that the filter selects at this moment, in parts; `between` is called after each
  /// part. If a run that was killed had begun to remove their sources, the disk shows which are gone.
  package func control(
    _ verb: ControlVerb, _ filter: RowFilter, between: () -> Void = {}
  ) throws(TransferError) -> ControlOutcome {
    let outcome = try ledger.control(verb, filter, between: between)
    guard !outcome.going.isEmpty else { return outcome }
    let newest = try ledger.read { reader in try reader.newestRun() }
    if !EngineState(newest, SystemClock()).isAlive { try RevokedRemovals(ledger).look(at: outcome.going) }
    return outcome
  }

  /// Changes the batches that the filter names, or that have a file which it selects; a running engine applies the
  /// change within a second.
  package func changeBatches(
    _ filter: RowFilter, _ change: BatchChange, between: () -> Void = {}
  ) throws(TransferError) -> BatchOutcome {
    try ledger.changeBatches(filter, change, between: between)
  }

  /// Deletes history that ended before this time (milliseconds since 1970 UTC), in parts; `between` is called after
  /// each. See ``TransferModel/PruneOutcome``. Throws `.usage` for a time that has not passed yet.
  package func prune(before ms: Int64, between: () -> Void = {}) throws(TransferError) -> PruneOutcome {
    try ledger.prune(before: ms, between: between)
  }

  /// The effect that ``prune(before:between:)`` would have now; changes nothing.
  package func pruneOutcome(before ms: Int64) throws(TransferError) -> PruneOutcome {
    try ledger.pruneOutcome(before: ms)
  }

  /// Marks the sessions listed by ``StoreReader/abandonedSessions(_:after:limit:)`` to be aborted on the server.
  /// Returns how many.
  package func giveUpAbandonedSessions(_ filter: RowFilter) throws(TransferError) -> Int {
    try ledger.giveUpAbandonedSessions(filter)
  }

  /// If no engine is alive, recovers after a crashed one, so that control requests for its files are applied now. nil
  /// when there is nothing to do, or an engine is alive. `argv` is recorded.
  package func recoverIfIdle(argv: [String]) throws(TransferError) -> Recovery? {
    try ledger.recoverIfIdle(TransferStore.newRun(argv))
  }

  func write<T: Sendable>(_ body: @escaping @Sendable (LedgerTransaction) throws -> T) throws(TransferError) -> T {
    try ledger.write(body)
  }

  /// Removes the staged copies of cancelled files, if no `add` is running.
  package func sweepCopies() throws(TransferError) { try StagedCopies(storePath: path).sweep(ledger) }
}

/// Identifies a state of a store; see ``OpenStore/changeMark()``.
package struct StoreMark: Sendable, Hashable {
  fileprivate let mark: LedgerMark
  fileprivate var note: InFlightNote?
}

/// One consistent snapshot of a store; only valid inside the body that it was passed to. Its methods are in the files
/// `StoreReader….swift`, grouped by purpose.
package struct StoreReader {
  let reader: LedgerReader
  /// The path of the store.
  let path: String

  /// How many rules ``check()`` checks.
  package static var ruleCount: Int { LedgerReader.ruleCount }
}
