import TransferModel

/// The thread with the only writing connection of a process (``WriteConnection``). Writes that arrive while a commit is
/// running join the next transaction (group commit); each gets its result when its transaction is durable.
final class Writer: @unchecked Sendable {
  /// Writes per transaction, limited to keep the wait of the first write short.
  static let batchLimit = 512
  private let path: String
  private let clock: any TransferClock
  private let queue = Mailbox<any QueuedWrite>()
  private let thread = Lock<WorkerThread?>(nil)
  /// nil: a failure of the disk is reported immediately.
  private let retry = Lock<CommitRetry?>(nil)
  /// Wakes the thread from the wait before a retry; closed when there should be no more retries.
  private let alarm = Mailbox<Never>()
  // Only used by the thread, once it runs, except for `waitLong` and `keep`, which lock.
  private let connection: WriteConnection
  private let reserve: SpaceReserve
  /// When the disk first refused a transaction since the last one that became durable, by the boot clock: all
  /// transactions share one wait. Only used by the thread.
  private var troubledMs: Int64?

  init(store: Store, connection: Connection, gate: Gate, clock: any TransferClock) throws(TransferError) {
    path = store.path
    self.clock = clock
    self.connection = WriteConnection(store: store, connection: connection, gate: gate, clock: clock)
    reserve = SpaceReserve(ledgerPath: store.path)
    let started = try WorkerThread(to: "write the ledger") { [self] in work() }
    thread.withLock { $0 = started }
  }

  /// For an engine: another program may lock the ledger for a long time, and an engine that gave up would leave its
  /// files to recovery. Nothing is written before a transaction begins, so waiting is harmless.
  func waitLong() { connection.waitLong() }

  /// For an engine: the attempts that it begins are noted in this file once they are durable.
  func keep(_ file: WatermarkFile?) { connection.keep(file) }

  /// For an engine: from now on commits are retried while the disk is full or failing. Reserves disk space.
  func retryCommits(_ retry: CommitRetry) {
    enqueue(ReserveWrite(reserve))
    self.retry.withLock { $0 = retry }
  }

  /// The opposite of ``retryCommits(_:)`` and ``keep(_:)``: returns when the writes before it are committed and the
  /// space is released. A commit that is being retried is retried no more.
  func endEngine() {
    let isRetrying = retry.withLock { held in
      defer { held = nil }
      return held != nil
    }
    connection.keep(nil)
    guard isRetrying else { return }
    let released = Mailbox<Void>()
    enqueue(ReleaseWrite(reserve) { released.put(()) })
    _ = released.take()
  }

  /// Copies what was committed into the database file, if no other process is in the way for long. Blocking.
  func emptyLog() {
    let done = Mailbox<Void>()
    enqueue(
      EmptyLogWrite { [self] in
        connection.checkpointPatiently()
        done.put(())
      })
    _ = done.take()
  }

  /// Ends the wait for the disk: writes that cannot be committed now fail.
  func stopRetrying() { alarm.close() }

  func enqueue(_ write: any QueuedWrite) {
    if !queue.put(write) {
      write.failed(TransferError(.bug, "write to store", NameBytes(path), cause: "it is closed"))
    }
  }

  /// Commits the queued writes, empties the WAL if no other process is in the way, and ends the thread.
  func close() {
    queue.close()
    let worker = thread.withLock { worker in
      defer { worker = nil }
      return worker
    }
    worker?.join()
  }

  private func work() {
    while let arrived = queue.take() {
      for start in stride(from: 0, to: arrived.count, by: Self.batchLimit) {
        commitApart(arrived[start..<min(start + Self.batchLimit, arrived.count)])
      }
    }
    // The WAL keeps what could not be copied; the next process that opens the ledger uses it.
    connection.close()
    if retry.withLock({ $0 != nil }) { reserve.release() }
  }

  /// Commits writes that need a separate transaction in one.
  private func commitApart(_ batch: ArraySlice<any QueuedWrite>) {
    guard let apart = batch.firstIndex(where: { $0.isUnreferenced }) else { return commit(batch) }
    if apart > batch.startIndex { commit(batch[..<apart]) }
    commit(batch[apart...apart])
    if apart + 1 < batch.endIndex { commitApart(batch[(apart + 1)...]) }
  }

  private func commit(_ batch: ArraySlice<any QueuedWrite>) {
    switch transactRetrying(batch) {
    case .durable:
      for write in batch { write.committed() }
      // A failure here is not a failure of a write; a serious one will recur at the next commit.
      connection.checkpointIfLong()
    case .refused where batch.count > 1:
      for write in batch { commit([write]) }
    case .refused(let error), .failed(let error), .uncertain(let error):
      for write in batch { write.failed(error) }
    }
  }

  // MARK: - A full or failing disk

  /// Retries a transaction that the disk refused, as long as ``CommitRetry`` allows.
  private func transactRetrying(_ batch: ArraySlice<any QueuedWrite>) -> WriteConnection.Outcome {
    while true {
      let outcome = connection.transact(batch)
      switch outcome {
      case .durable:
        troubledMs = nil
        return outcome
      case .refused: return outcome
      case .failed(let error) where error.kind == .storeFull:
        guard mayTryAgain(after: error) else { return outcome }
      // A new connection is read-only if it cannot open the WAL for writing because the disk still fails.
      case .failed(let error) where error.kind == .storeReadOnly && connection.uncertainCommits > 0:
        connection.reopen(after: error) { retry.withLock { $0 != nil } }
        guard mayTryAgain(after: error) else { return outcome }
      case .failed: return outcome
      case .uncertain(let error):
        connection.reopen(after: error) { retry.withLock { $0 != nil } }
        guard mayTryAgain(after: error) else { return outcome }
      }
    }
  }

  /// Waits before a retry; false if there should be none.
  private func mayTryAgain(after error: TransferError) -> Bool {
    let startedMs = troubledMs ?? clock.bootMs
    troubledMs = startedMs
    guard let retry = retry.withLock({ $0 }) else { return false }
    if error.kind == .storeFull || connection.uncertainCommits > 1 { retry.onTrouble(error) }
    if error.kind == .storeFull {
      if reserve.release() { return true }
      // The WAL contains a page as often as it was written since the last checkpoint.
      connection.checkpoint()
    } else if connection.uncertainCommits == 1 {
      return true
    }
    guard clock.bootMs - startedMs < retry.forMs else { return false }
    guard let pause = retry.pause else { return alarm.take(timeoutMs: CommitRetry.pauseMs) != nil }
    pause(CommitRetry.pauseMs)
    return true
  }
}

/// Releases the space on the writer's thread.
private final class ReleaseWrite: QueuedWrite, @unchecked Sendable {
  private let reserve: SpaceReserve
  private let then: @Sendable () -> Void
  init(_ reserve: SpaceReserve, then: @escaping @Sendable () -> Void) { (self.reserve, self.then) = (reserve, then) }
  func run(_ transaction: LedgerTransaction) {}
  func committed() { end() }
  func failed(_ error: TransferError) { end() }
  private func end() {
    reserve.release()
    then()
  }
}

/// Calls its closure on the writer's thread, outside of a transaction.
private final class EmptyLogWrite: QueuedWrite, @unchecked Sendable {
  private let then: @Sendable () -> Void
  init(_ then: @escaping @Sendable () -> Void) { self.then = then }
  func run(_ transaction: LedgerTransaction) {}
  func committed() { then() }
  func failed(_ error: TransferError) { then() }
}

/// Reserves the space on the writer's thread, which also releases it.
private final class ReserveWrite: QueuedWrite, @unchecked Sendable {
  private let reserve: SpaceReserve
  init(_ reserve: SpaceReserve) { self.reserve = reserve }
  func run(_ transaction: LedgerTransaction) {}
  func committed() { reserve.allocate() }
  func failed(_ error: TransferError) {}
}
