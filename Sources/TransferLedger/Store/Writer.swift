import CSQLite
import TransferLog
import TransferModel

/// The only writing connection of a process, on its own thread. Jobs that arrive while a commit is running join the
/// next transaction (group commit); each gets its result when its transaction is durable.
final class Writer: @unchecked Sendable {
  /// Jobs per transaction, limited to keep the wait of the first job short.
  static let batchLimit = 512
  private let store: Store
  private let clock: any TransferClock
  private let jobs = Mailbox<any WriteJob>()
  private let thread = Lock<WorkerThread?>(nil)
  /// How often BEGIN is tried, each time for ``Store/busyTimeoutMs``.
  private let patience = Lock(1)
  /// nil: a failure of the disk is reported immediately.
  private let retry = Lock<CommitRetry?>(nil)
  /// Wakes the thread from the wait before a retry; closed when there should be no more retries.
  private let alarm = Mailbox<Never>()
  /// nil while no engine runs.
  private let watermark = Lock<WatermarkFile?>(nil)
  // Only touched by the thread, once it runs.
  private let gate: Gate
  private var connection: Connection?
  private var refusal: TransferError?
  private var uncertainCommits = 0
  private let reserve: SpaceReserve
  private let hasher = TreeHasher()

  init(store: Store, connection: Connection, gate: Gate, clock: any TransferClock) {
    self.store = store
    self.connection = connection
    self.gate = gate
    self.clock = clock
    reserve = SpaceReserve(ledgerPath: store.path)
    thread.withLock { $0 = WorkerThread { [self] in work() } }
  }

  /// For an engine: another program may lock the ledger for a long time, and an engine that gave up would leave its
  /// files to recovery. Nothing is written before a transaction begins, so waiting is harmless.
  func waitLong() { patience.withLock { $0 = 24 } }

  /// For an engine: the attempts that it begins are noted in this file once they are durable.
  func keep(_ file: WatermarkFile?) { watermark.withLock { $0 = file } }

  /// For an engine: from now on commits are retried while the disk is full or failing. Reserves disk space.
  func retryCommits(_ retry: CommitRetry) {
    enqueue(ReserveJob(reserve))
    self.retry.withLock { $0 = retry }
  }

  /// Ends the wait for the disk: jobs that cannot be committed now fail.
  func stopRetrying() { alarm.close() }

  func enqueue(_ job: any WriteJob) {
    if !jobs.put(job) {
      job.failed(TransferError(.bug, "write to store", NameBytes(store.path), cause: "it is closed"))
    }
  }

  /// Commits the queued jobs, empties the WAL if no other process is in the way, and ends the thread.
  func close() {
    jobs.close()
    let worker = thread.withLock { worker in
      defer { worker = nil }
      return worker
    }
    worker?.join()
  }

  private func work() {
    while let arrived = jobs.take() {
      for start in stride(from: 0, to: arrived.count, by: Self.batchLimit) {
        commitApart(arrived[start..<min(start + Self.batchLimit, arrived.count)])
      }
    }
    // The WAL keeps what could not be copied; the next process that opens the ledger uses it.
    if let connection { _ = try? gate.checkpoint(connection) }
    connection = nil
    if retry.withLock({ $0 != nil }) { reserve.release() }
  }

  /// Commits jobs that need a separate transaction in one.
  private func commitApart(_ batch: ArraySlice<any WriteJob>) {
    guard let apart = batch.firstIndex(where: { $0.isUnreferenced }) else { return commit(batch) }
    if apart > batch.startIndex { commit(batch[..<apart]) }
    commit(batch[apart...apart])
    if apart + 1 < batch.endIndex { commitApart(batch[(apart + 1)...]) }
  }

  private func commit(_ batch: ArraySlice<any WriteJob>) {
    switch transactRetrying(batch) {
    case .durable:
      for job in batch { job.committed() }
      // A failure here is not a failure of a job; a serious one will recur at the next commit.
      if let connection { try? gate.checkpointIfLong(connection) }
    case .refused where batch.count > 1:
      for job in batch { commit([job]) }
    case .refused(let error), .failed(let error), .uncertain(let error):
      for job in batch { job.failed(error) }
    }
  }

  // MARK: - A full or failing disk

  /// Retries a transaction that the disk refused, as long as ``CommitRetry`` allows.
  private func transactRetrying(_ batch: ArraySlice<any WriteJob>) -> Outcome {
    let startedMs = clock.bootMs
    while true {
      let outcome = transact(batch)
      switch outcome {
      case .durable, .refused: return outcome
      case .failed(let error) where error.kind == .storeFull:
        guard mayTryAgain(after: error, startedMs) else { return outcome }
      // A new connection is read-only if it cannot open the WAL for writing because the disk still fails.
      case .failed(let error) where error.kind == .storeReadOnly && uncertainCommits > 0:
        reopen(after: error)
        guard mayTryAgain(after: error, startedMs) else { return outcome }
      case .failed: return outcome
      case .uncertain(let error):
        reopen(after: error)
        guard mayTryAgain(after: error, startedMs) else { return outcome }
      }
    }
  }

  /// Waits before a retry; false if there should be none.
  private func mayTryAgain(after error: TransferError, _ startedMs: Int64) -> Bool {
    guard let retry = retry.withLock({ $0 }) else { return false }
    if error.kind == .storeFull || uncertainCommits > 1 { retry.onTrouble(error) }
    if error.kind == .storeFull {
      if reserve.release() { return true }
      // The WAL contains a page as often as it was written since the last checkpoint.
      if let connection { _ = try? gate.checkpoint(connection) }
    } else if uncertainCommits == 1 {
      return true
    }
    guard clock.bootMs - startedMs < retry.forMs else { return false }
    guard let pause = retry.pause else { return alarm.take(timeoutMs: CommitRetry.pauseMs) != nil }
    pause(CommitRetry.pauseMs)
    return true
  }

  /// A connection whose commit failed may have a cache that differs from the disk: only a new one reads the actual
  /// content. It is opened before the old one is closed: as long as one connection is open, SQLite keeps the WAL index,
  /// which a failed commit has not updated, so its transaction did not take place. Source:
  /// https://sqlite.org/walformat.html section 2.
  ///
  /// Without ``CommitRetry`` the disk is no longer trusted after the second such failure, and all further work is
  /// refused.
  private func reopen(after error: TransferError) {
    uncertainCommits += 1
    guard uncertainCommits == 1 || retry.withLock({ $0 != nil }) else {
      connection = nil
      refusal = error
      return
    }
    do throws(TransferError) {
      let failed = connection
      connection = try store.openWriter()
      withExtendedLifetime(failed) {}
    } catch {
      if retry.withLock({ $0 == nil }) { refusal = error }
    }
  }

  // MARK: - One transaction

  private enum Outcome {
    case durable
    /// Rolled back because of one job; the others may succeed without it.
    case refused(TransferError)
    /// Rolled back because of the file or the disk; every job would fail.
    case failed(TransferError)
    /// The disk failed during the commit: the transaction may or may not be durable.
    case uncertain(TransferError)
  }

  private func transact(_ batch: ArraySlice<any WriteJob>) -> Outcome {
    if let refusal { return .failed(refusal) }
    guard let connection else { return .uncertain(error(SQLiteError(code: SQLITE_IOERR, message: "it is closed"))) }
    do {
      let patienceMs = Int64(patience.withLock { $0 }) * Int64(Store.busyTimeoutMs)
      return try gate.writing(withinMs: patienceMs) { run(batch, on: connection) }
    } catch {
      return .failed(TransferError(any: error, "write to store", path: store.path))
    }
  }

  private func run(_ batch: ArraySlice<any WriteJob>, on connection: Connection) -> Outcome {
    guard batch.contains(where: { $0.isUnreferenced }) else { return runReferenced(batch, on: connection) }
    // This setting can only be changed outside of transactions. A new connection begins with it on.
    do { try connection.execute("PRAGMA foreign_keys=OFF") } catch { return classify(error) }
    let outcome = runReferenced(batch, on: connection)
    do { try connection.execute("PRAGMA foreign_keys=ON") } catch { refusal = refusal ?? self.error(error) }
    return outcome
  }

  private func runReferenced(_ batch: ArraySlice<any WriteJob>, on connection: Connection) -> Outcome {
    do { try gate.inTurn { () throws(SQLiteError) in try begin(connection) } } catch { return classify(error) }
    do { try store.requireOwnSchema(connection) } catch {
      rollback(connection)
      guard let newer = error as? TransferError else { return classify(error) }
      refusal = newer
      return .failed(newer)
    }
    let transaction = LedgerTransaction(db: connection, wallMs: clock.wallMs, bootMs: clock.bootMs)
    do {
      for job in batch {
        try job.run(transaction)
        // A job may have caught the failure that made SQLite roll back; the rest must not run without a transaction.
        guard connection.isInTransaction else { throw SQLiteError(SQLITE_ABORT, on: nil) }
      }
      try transaction.appendLog(hasher)
    } catch {
      rollback(connection)
      return classify(error)
    }
    do {
      try connection.run("COMMIT")
      // Before any job gets its result, and so before anything is sent.
      if let newest = transaction.newestAttempt { watermark.withLock { $0 }?.raise(to: newest) }
      return .durable
    } catch {
      if isIOError(error) { return .uncertain(unknown(error)) }
      rollback(connection)
      // A dangling reference is found here, and is the fault of one job.
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

/// Reserves the space on the writer's thread, which also releases it.
private final class ReserveJob: WriteJob, @unchecked Sendable {
  private let reserve: SpaceReserve
  init(_ reserve: SpaceReserve) { self.reserve = reserve }
  func run(_ transaction: LedgerTransaction) {}
  func committed() { reserve.allocate() }
  func failed(_ error: TransferError) {}
}
