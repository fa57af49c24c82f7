import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Waits for a batch that another engine works on, and takes over when that engine ends with the batch unfinished.
/// Runs on the main thread, which has nothing else to do.
struct BatchFollower {
  private let session: EngineSession
  private let options: RunOptions
  private let batch: BatchID
  private let context: Context

  init(_ session: EngineSession, _ options: RunOptions, _ batch: BatchID, _ context: Context) {
    self.session = session
    self.options = options
    self.batch = batch
    self.context = context
  }

  func follow() throws(CommandFailure) -> RunNumbers {
    session.reporter.say("another engine owns the ledger; it sends this batch, waiting for it")
    let ledger = try LedgerAccess.open(options.storePath, context)
    defer {
      ledger.close()
      session.reporter.finish()
    }
    let startedMs = context.clock.bootMs
    session.listenWhileWaiting()
    while true {
      let totals = try totals(ledger)
      let elapsedMs = context.clock.bootMs - startedMs
      session.reporter.progress(totals.snapshot(elapsedMs: elapsedMs))
      if totals.left == 0 || session.isStopping { return RunNumbers(totals, wallMs: elapsedMs) }
      if let numbers = try takeOver() { return numbers }
      session.listenWhileWaiting()
      usleep(500_000)
    }
  }

  private func totals(_ ledger: Ledger) throws(CommandFailure) -> FileTotals {
    var filter = RowFilter()
    filter.batches = [batch.rawValue...batch.rawValue]
    return try failing { () throws(TransferError) in try ledger.read { try $0.totals(filter) } }
  }

  /// nil while the other engine holds the lock.
  private func takeOver() throws(CommandFailure) -> RunNumbers? {
    do {
      return RunNumbers(try session.run(options))
    } catch {
      guard error.kind == .locked else { throw CommandFailure(error) }
      return nil
    }
  }
}

extension FileTotals {
  func snapshot(elapsedMs: Int64) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    (snapshot.filesTotal, snapshot.filesDone) = (files, count(.done))
    (snapshot.filesFailed, snapshot.filesUnknown) = (count(.failed), count(.unknown))
    snapshot.active = count(.active) + count(.finishing)
    (snapshot.bytesTotal, snapshot.bytesAcked, snapshot.elapsedMs) = (bytes, bytesAcked, elapsedMs)
    return snapshot
  }
}
