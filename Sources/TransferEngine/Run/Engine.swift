import TransferLedger
public import TransferModel

/// Transfers the pending files of a ledger: the one place where ledger and network meet.
///
/// One engine owns a ledger at a time (``Ledger/startRun(_:)``). The loop runs on the calling thread; requests, commits
/// and preparations run on other threads and post events to its mailbox.
public struct Engine: Sendable {
  let ledger: Ledger
  let run: RunID
  let resolver: any DestinationResolver
  let clock: any TransferClock
  let configuration: EngineConfiguration
  let observer: EngineObserver

  package init(
    ledger: Ledger, run: RunID, resolver: any DestinationResolver, clock: any TransferClock,
    configuration: EngineConfiguration, observer: EngineObserver
  ) {
    self.ledger = ledger
    self.run = run
    self.resolver = resolver
    self.clock = clock
    self.configuration = configuration
    self.observer = observer
  }

  /// Recovers the state left by a crashed run, then transfers files until nothing is left, `stop` is requested, or no
  /// destination can be reached. Blocks. On return every attempt of this run is closed and the run row records how it
  /// ended. A batch with an unusable destination does not delay others: the summary names it.
  /// - Throws: errors of the store, `.leaseLost`; then attempts may be left open, and the next run recovers them. After
  ///   `.storeFull` none is left open if there was space for the last results within
  ///   ``EngineConfiguration/diskWaitMs``.
  public func work(until stop: StopSignal) throws(TransferError) -> RunResult {
    let run = run
    let recovery = try recover()
    if configuration.claimsFiles { try ledger.write { tx in try tx.awaitLooks() } }
    let loop = try EngineLoop(engine: self)
    stop.onRequest { loop.ask($0) }
    let mailbox = loop.mailbox
    ledger.retryCommits(CommitRetry(forMs: configuration.diskWaitMs) { mailbox.put(.diskTrouble($0)) })
    do throws(TransferError) {
      var summary = try loop.work()
      summary.unknown += recovery.unknownFiles
      summary.failed += recovery.refused.count
      let left = try ledger.read { reader in try reader.workLeft() }
      summary.left = left.files + left.paused
      summary.paused = left.paused
      if summary.stoppedBy == nil { summary.stoppedBy = loop.end.whyLeft(left) }
      let unrecorded = recovery.refused.merging(loop.refused.unrecorded) { first, _ in first }
      (summary.blocked, summary.tooLong) = (loop.batches.blocked, loop.limits.tooLong)
      summary.unrecorded = try errors(unrecorded)
      let how = summary.error.map { "failed: \($0.kind.rawValue)" } ?? summary.stoppedBy?.rawValue ?? "done"
      let learned = loop.hosts.takeLearnedConcurrency()
      _ = try ledger.write { tx in
        for (host, count) in learned { try tx.noteHost(host, requestsAtOnce: count, run) }
        return try tx.endRun(run, how: how, processorMs: clock.processorMs)
      }
      // If this fails, the next run stores the sums; until then reports compute them.
      try? ledger.addUpHistory(
        withFiles: ledger.shouldAddUpFiles(run, done: summary.done), until: { stop.isAsked })
      return summary
    } catch {
      let how = "failed: \(error.kind.rawValue)"
      _ = try? ledger.write { tx in try tx.endRun(run, how: how, processorMs: clock.processorMs) }
      throw error
    }
  }

  /// Recovers the state left by a crashed run, and notifies the observer.
  @discardableResult
  func recover() throws(TransferError) -> Recovery {
    let recovery = try ledger.recover(run)
    for (file, cause) in recovery.refused.sorted(by: { $0.key < $1.key }) {
      observer.notice(.failed(path: try path(of: file), Failure(.engineBug, cause)))
    }
    if recovery.crashedAttempts + recovery.requeuedFiles + recovery.unknownFiles > 0 {
      observer.notice(
        .recovered(
          attempts: recovery.crashedAttempts, files: recovery.requeuedFiles, unknown: recovery.unknownFiles))
    }
    return recovery
  }

  /// Files whose failure could not be recorded do not hold up others, but another run would not end them either: this
  /// one ends with an error for each of their batches.
  private func errors(_ causes: [FileID: String]) throws(TransferError) -> [BatchID: TransferError] {
    var errors: [BatchID: TransferError] = [:]
    for (file, cause) in causes.sorted(by: { $0.key < $1.key }) {
      guard let row = try ledger.read({ try $0.files(.files([file]), after: 0, limit: 1).first }),
        errors[row.batch] == nil
      else { continue }
      errors[row.batch] = TransferError(
        .storeCorrupt, "record the failure of", row.path, cause: "the ledger \"\(ledger.path)\" refuses it: \(cause)",
        remedy: "see \"transfers store check\"; the file stays active until the ledger is repaired")
    }
    return errors
  }

  private func path(of file: FileID) throws(TransferError) -> NameBytes {
    try ledger.read { try $0.files(.files([file]), after: 0, limit: 1).first?.path } ?? NameBytes(file.description)
  }

  /// The initial concurrency of a host: what earlier runs learned, or what a person specified.
  func concurrency(_ host: String, workers: Int) -> Concurrency {
    guard configuration.startsSlowly else { return Concurrency(first: workers, highest: workers, isExplicit: true) }
    let known = try? ledger.read { reader in try reader.requestsAtOnce(host: host) }
    return Concurrency(first: known.flatMap(\.self) ?? Concurrency.usualFirst, highest: workers, isExplicit: false)
  }
}

extension Engine {
  /// The clock of this run, for due times and waits.
  var wallMs: Int64 { clock.wallMs }
  /// The current civil time, for people and servers.
  var civilMs: Int64 { clock.civilMs }
  var bootMs: Int64 { clock.bootMs }
}
