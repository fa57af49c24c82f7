import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finishes the files of one push: with its own engine, or by waiting for the engine that owns the ledger and taking
/// over when that ends with some of them unfinished. Results are read from the ledger in both cases, so that they do
/// not depend on which engine sent the files. Runs on the main thread.
struct PushWork {
  let session: EngineSession
  let storePath: String
  let options: RunOptions
  let files: AddedFiles
  /// Maximum wait for another engine, in milliseconds; nil for no limit.
  let patienceMs: Int64?
  let context: Context
  /// Takes the error of a batch of the files that could not be sent at all; its files then count as left. If nil, the
  /// error ends the command.
  var whenBlocked: ((CommandFailure) -> Void)?

  /// nil if another engine sends the files and `--no-wait` was given.
  func finish() throws(CommandFailure) -> RunNumbers? {
    if let result = try run(options) { return try numbers(result) }
    if patienceMs == 0 {
      session.reporter.say("another engine owns the ledger; it sends these files")
      return nil
    }
    session.reporter.say("another engine owns the ledger; it sends these files, waiting for it")
    let ledger = try LedgerAccess.open(storePath, context)
    defer {
      ledger.close()
      session.reporter.finish()
    }
    return try follow(ledger)
  }

  /// Finishes the files, and returns the error that kept some of them from being sent.
  func untilSettled() -> TransferError? {
    do throws(CommandFailure) {
      return try finish()?.unrecorded
    } catch {
      return TransferError(error)
    }
  }

  /// nil while another engine holds the lock.
  private func run(_ options: RunOptions) throws(CommandFailure) -> RunResult? {
    var options = options
    options.awaited = Set(files.batches)
    do {
      return try session.run(storePath, options)
    } catch {
      guard error.kind == .locked else { throw CommandFailure(error) }
      return nil
    }
  }

  /// The kernel's lock shows when the other engine has ended; its results are in the ledger.
  private func follow(_ ledger: OpenStore) throws(CommandFailure) -> RunNumbers {
    let startedMs = context.clock.bootMs
    session.listenWhileWaiting()
    let turn = try failing { () throws(TransferError) in try EngineTurn(at: storePath) }
    let watch = LedgerWatch(
      ledger: ledger, clock: context.clock, pause: { usleep(UInt32(clamping: $0 * 1000)) }, slowestMs: 2_000)
    let numbers = try watch.until(timeoutMs: patienceMs) { isDue throws(CommandFailure) -> RunNumbers? in
      if isDue || session.isStopping {
        let totals = try totals(ledger)
        let elapsedMs = context.clock.bootMs - startedMs
        session.reporter.progress(totals.files.snapshot(elapsedMs: elapsedMs))
        if totals.isSettled || session.isStopping { return RunNumbers(totals, wallMs: elapsedMs, stop: nil) }
      }
      guard turn.hasCome else { return nil }
      var options = options
      options.turn = turn
      guard let result = try run(options) else {
        session.listenWhileWaiting()
        return nil
      }
      return try self.numbers(result)
    }
    if let numbers { return numbers }
    throw CommandFailure(
      .timeout, "timed out; the engine that owns the ledger continues with these files",
      remedy: "transfers wait" + files.batches.map { " \($0)" }.joined())
  }

  /// The results of the files. An error that blocks a batch without any of them is only a note here.
  private func numbers(_ result: RunResult) throws(CommandFailure) -> RunNumbers {
    for (batch, error) in result.blocked.sorted(by: { $0.key < $1.key }) {
      if files.batches.contains(batch) {
        guard let whenBlocked else { throw CommandFailure(error) }
        whenBlocked(CommandFailure(error))
        continue
      }
      session.reporter.say("nothing of batch \(batch) could be sent: \(error)")
    }
    for (batch, error) in result.unrecorded.sorted(by: { $0.key < $1.key }) where !files.batches.contains(batch) {
      session.reporter.say("\(batch): \(error)")
    }
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    var numbers = RunNumbers(
      try totals(ledger), wallMs: result.wallMs, stop: result.stoppedBy, unreachable: result.unreachable)
    numbers.tooLong = min(
      numbers.left, result.tooLong.reduce(0) { $0 + (files.batches.contains($1.key) ? $1.value : 0) })
    numbers.waiting = result.waiting.filter { files.batches.contains($0.key) }.min { $0.key < $1.key }?.value
    if !options.waitsForSettling { numbers.leaveSettling() }
    numbers.unrecorded = result.unrecorded.filter { files.batches.contains($0.key) }.min { $0.key < $1.key }?.value
    return numbers
  }

  private func totals(_ ledger: OpenStore) throws(CommandFailure) -> AddedTotals {
    try LedgerAccess.read(ledger) { try $0.totals(of: files, nowMs: context.clock.wallMs) }
  }
}

extension AddedTotals {
  /// No file continues without a person.
  var isSettled: Bool { files.left == files.count(.paused) + overdue }
}

extension FileTotals {
  func snapshot(elapsedMs: Int64) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    (snapshot.filesTotal, snapshot.filesDone) = (files, count(.done))
    (snapshot.filesFailed, snapshot.filesUnknown) = (count(.failed), count(.unknown))
    snapshot.active = count(.active) + count(.finishing)
    (snapshot.bytesTotal, snapshot.bytesAcked, snapshot.elapsedMs) = (bytes, bytesAcked, elapsedMs)
    snapshot.sizesUnknown = unsized
    return snapshot
  }
}

extension TransferError {
  /// The failure of a command as an error, for callers that report it in their own format.
  init(_ failure: CommandFailure) {
    self.init(Kind(rawValue: failure.code), "run", cause: failure.text, remedy: failure.remedy)
  }
}
