import CSQLite
import TransferLog
import TransferModel

/// The writing connection: performs one transaction after the other, and tells what became of each. Used by the thread
/// of the ``Writer``, except for ``waitLong()`` and ``keep(_:)``.
final class WriteConnection {
  enum Outcome {
    case durable
    /// Rolled back because of one write; the others may succeed without it.
    case refused(TransferError)
    /// Rolled back because of the file or the disk; every write would fail.
    case failed(TransferError)
    /// The disk failed during the commit: the transaction may or may not be durable.
    case uncertain(TransferError)
  }

  private let store: Store
  private let gate: Gate
  private let clock: any TransferClock
  private var connection: Connection?
  private var refusal: TransferError?
  /// How many commits failed because of the disk, so that they may be durable or not.
  private(set) var uncertainCommits = 0
  private let hasher = TreeHasher()
  /// How often BEGIN is tried, each time for ``Store/busyTimeoutMs``.
  private let patience = Lock(1)
  /// nil while no engine runs.
  private let watermark = Lock<WatermarkFile?>(nil)

  init(store: Store, connection: Connection, gate: Gate, clock: any TransferClock) {
    (self.store, self.connection, self.gate, self.clock) = (store, connection, gate, clock)
  }

  /// See ``Writer/waitLong()``.
  func waitLong() { patience.withLock { $0 = 24 } }

  /// See ``Writer/keep(_:)``.
  func keep(_ file: WatermarkFile?) { watermark.withLock { $0 = file } }

  /// Copies the WAL into the database file, if no other process is in the way.
  func checkpoint() {
    if let connection { _ = try? gate.checkpoint(connection) }
  }

  /// The same, waiting a moment for others to be out of the way.
  func checkpointPatiently() {
    if let connection { _ = try? gate.checkpointPatiently(connection) }
  }

  func checkpointIfLong() {
    if let connection { try? gate.checkpointIfLong(connection) }
  }

  func close() {
    checkpoint()
    if let connection, refusal == nil, uncertainCommits == 0 { store.leave(connection, .readWrite) }
    connection = nil
  }

  /// A connection whose commit failed may have a cache that differs from the disk: only a new one reads the actual
  /// content. It is opened before the old one is closed: as long as one connection is open, SQLite keeps the WAL index,
  /// which a failed commit has not updated, so its transaction did not take place. Source:
  /// https://sqlite.org/walformat.html section 2.
  ///
  /// Without ``CommitRetry``, a second such failure means that the disk cannot be trusted: all further work is refused.
  func reopen(after error: TransferError, isRetrying: () -> Bool) {
    uncertainCommits += 1
    do { if let connection { try store.requirePath(of: connection) } } catch {
      connection = nil
      return refusal = error as? TransferError
    }
    guard uncertainCommits == 1 || isRetrying() else {
      connection = nil
      refusal = error
      return
    }
    do throws(TransferError) {
      let failed = connection
      connection = try store.openNewWriter()
      withExtendedLifetime(failed) {}
    } catch {
      if !isRetrying() { refusal = error }
    }
  }

  func transact(_ batch: ArraySlice<any QueuedWrite>) -> Outcome {
    if let refusal { return .failed(refusal) }
    guard let connection else { return .uncertain(error(SQLiteError(code: SQLITE_IOERR, message: "it is closed"))) }
    do {
      let patienceMs = Int64(patience.withLock { $0 }) * Int64(Store.busyTimeoutMs)
      return try gate.writing(withinMs: patienceMs) { run(batch, on: connection) }
    } catch {
      return .failed(TransferError(any: error, "write to store", path: store.path))
    }
  }

  private func run(_ batch: ArraySlice<any QueuedWrite>, on connection: Connection) -> Outcome {
    guard batch.contains(where: { $0.isUnreferenced }) else { return runReferenced(batch, on: connection) }
    // This setting can only be changed outside of transactions. A new connection begins with it on.
    do { try connection.execute("PRAGMA foreign_keys=OFF") } catch { return classify(error) }
    let outcome = runReferenced(batch, on: connection)
    do { try connection.execute("PRAGMA foreign_keys=ON") } catch { refusal = refusal ?? self.error(error) }
    return outcome
  }

  private func runReferenced(_ batch: ArraySlice<any QueuedWrite>, on connection: Connection) -> Outcome {
    do { try gate.inTurn { () throws(SQLiteError) in try begin(connection) } } catch { return classify(error) }
    do {
      try store.requireOwnSchema(connection)
      try store.requirePath(of: connection)
    } catch {
      rollback(connection)
      guard let final = error as? TransferError else { return classify(error) }
      // Not even a checkpoint: another ledger may have the path now, and with it the names of the log.
      self.connection = nil
      refusal = final
      return .failed(final)
    }
    let transaction = LedgerTransaction(db: connection, wallMs: clock.wallMs, bootMs: clock.bootMs)
    do {
      for write in batch {
        try write.run(transaction)
        // A write may have caught the failure that made SQLite roll back; the rest must not run without a transaction.
        guard connection.isInTransaction else { throw SQLiteError(SQLITE_ABORT, on: nil) }
      }
      try transaction.appendLog(hasher)
    } catch {
      rollback(connection)
      return classify(error)
    }
    do {
      try connection.run("COMMIT")
      // Before any write gets its result, and so before anything is sent.
      if let newest = transaction.newestAttempt { watermark.withLock { $0 }?.raise(to: newest) }
      return .durable
    } catch {
      if isIOError(error) { return .uncertain(unknown(error)) }
      rollback(connection)
      // A dangling reference is found here, and is the fault of one write.
      return error.primary == SQLITE_CONSTRAINT ? .refused(self.error(error)) : .failed(self.error(error))
    }
  }

  private func begin(_ connection: Connection) throws(SQLiteError) {
    for _ in 1..<patience.withLock({ $0 }) {
      do throws(SQLiteError) {
        try connection.run("BEGIN IMMEDIATE")
        return
      } catch {
        guard error.primary == SQLITE_BUSY else { throw error }
      }
    }
    try connection.run("BEGIN IMMEDIATE")
  }

  private func rollback(_ connection: Connection) {
    if connection.isInTransaction { _ = try? connection.run("ROLLBACK") }
  }

  private func classify(_ error: any Error) -> Outcome {
    guard let sqlite = error as? SQLiteError else {
      return .refused(TransferError(any: error, "write to store", path: store.path))
    }
    switch sqlite.primary {
    case SQLITE_IOERR: return .uncertain(unknown(sqlite))
    case SQLITE_FULL, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM,
      SQLITE_CANTOPEN, SQLITE_ABORT:
      return .failed(self.error(sqlite))
    default: return .refused(self.error(sqlite))
    }
  }

  private func isIOError(_ error: SQLiteError) -> Bool { error.primary == SQLITE_IOERR }

  private func error(_ error: SQLiteError) -> TransferError { TransferError(error, "write to store", path: store.path) }

  private func unknown(_ error: SQLiteError) -> TransferError {
    TransferError(
      .storeIO, "write to store", NameBytes(store.path),
      cause: "\(error.description); whether the last changes are stored is unknown",
      remedy: "check its disk and the system log, then run \"transfers run\"")
  }
}
