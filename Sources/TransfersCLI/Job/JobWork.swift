import TransferModel
import TransferReports
import Transfers

/// The work of one run of a job: records new files, and sends them with those that its earlier runs left.
struct JobWork {
  let run: JobRun
  let engine: EngineOptions
  let progress: ProgressOptions
  let common: CommonOptions
  /// For people.
  let destination: String
  /// That of the command for which the job stands.
  let context: Context
  let faults: SourceFaults
  let engineEnd: EngineEnd

  /// How long to wait for another engine that may be about to end before files are left to it: it may have looked for
  /// work for the last time already.
  private static let graceMs: Int64 = 1_000

  private var job: ConfigSection { run.job }
  private var storePath: String { run.storePath }

  /// - Parameter add: records the new files, one result for each destination.
  func perform(
    _ outcome: inout JobOutcome,
    add: (TransferStore, @escaping @Sendable (Notice) -> Void) throws(TransferError) -> [AddResult]
  ) throws(CommandFailure) {
    try setQuota()
    let session = EngineSession(
      common, progress, title: "transfers job run \(job.name)", context, callbacks: run.callbacks)
    let results = try faults.keeping(storePath) { () throws(TransferError) in
      try add(context.store(storePath)) { [reporter = session.reporter] in reporter.notice($0) }
    }
    outcome.batches = results.compactMap(\.batch)
    var added = AddResult(of: results)
    guard run.sends else { return }
    let earlier = try unfinished()
    added.files = added.files.adding(earlier.files)
    outcome.add = added
    let (counts, blocked) = (added.counts, Lock<CommandFailure?>(nil))
    let isIdle = counts.added + counts.queued + counts.busy + counts.requeued + earlier.count == 0
    let hasWork = isIdle ? try hasDueRemovals() : true
    if hasWork {
      guard let numbers = try finish(session, added.files, blocked) else {
        outcome.isSkipped = true
        return
      }
      outcome.numbers = numbers
      try judge(&outcome, since: added.files.mark)
    }
    let conclusion = RunConclusion(
      session: session, add: added, destination: destination, storePath: storePath, sinceMs: outcome.startedMs,
      job: job.name)
    (outcome.output, outcome.failure) = try conclusion.summary(outcome.numbers)
    if outcome.failure?.status == .workLeft { outcome.failure?.text += JobRemains.told(outcome.heldUp) }
    if let error = blocked.withLock(\.self) { outcome.failure = error }
  }

  /// Finds out whether the limits of the job alone have left files.
  private func judge(_ outcome: inout JobOutcome, since mark: AddedFiles.Mark) throws(CommandFailure) {
    guard outcome.numbers.left > 0 else { return }
    let remains = try JobRemains(job.name, since: mark, storePath, context)
    remains.explain(&outcome.numbers)
    outcome.heldUp = remains.heldUp(outcome.numbers.stoppedBy)
  }

  /// Whether sources are to be removed now that were not when their files were done: they waited for a destination that
  /// the job no longer has, or whose files somebody has sent or hidden since. One that was put off starts an engine if
  /// the folder for which it waited is available again, or if it waits for a destination and is gone: its removal
  /// ends then.
  private func hasDueRemovals() throws(CommandFailure) -> Bool {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try failing { () throws(TransferError) in
      try ledger.hasDueRemoval(ofJob: job.name, nowMs: context.clock.wallMs)
    }
  }

  /// Stored in the ledger before any file of the job: it binds every engine.
  private func setQuota() throws(CommandFailure) {
    let quota: JobQuota?
    do throws(ScheduleFault) { quota = try JobQuotaText.quota(job) } catch {
      throw CommandFailure(.config, "\(error.fault.place): \(error.fault.message)")
    }
    try failing { () throws(TransferError) in
      try context.store(storePath).setQuota(ofJob: job.name, quota)
    }
  }

  private func unfinished() throws(CommandFailure) -> UnfinishedFiles {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { try $0.unfinished(ofJob: job.name) }
  }

  /// nil if another engine sends the files, and the job does not wait for it.
  private func finish(
    _ session: EngineSession, _ files: AddedFiles, _ blocked: Lock<CommandFailure?>
  ) throws(CommandFailure) -> RunNumbers? {
    var options = engine.runOptions(context)
    options.whenEnded = { [engineEnd] in engineEnd.note() }
    options.argv = run.argv
    // The next run scans them again.
    options.waitsForSettling = false
    options.leftJobs = JobLimits.leftJobs(context, by: job)
    let patienceMs: Int64? = run.policy == "wait" ? nil : run.policy == "fail" ? 0 : Self.graceMs
    var work = PushWork(
      session: session, storePath: storePath, options: options, files: files, patienceMs: patienceMs, context: context)
    // What the other destinations got counts, also those that the job no longer has.
    if job.direction == .upload {
      work.whenBlocked = { error in blocked.withLock { $0 = $0 ?? error } }
    }
    do throws(CommandFailure) {
      if let numbers = try work.finish() { return numbers }
    } catch {
      guard error.status == .timeout, run.policy == "skip" else { throw error }
      return nil
    }
    guard run.policy == "fail" else { return nil }
    throw CommandFailure(
      .locked, "another engine owns the ledger; the files are recorded, and it sends them",
      remedy: "transfers wait --job \(job.name)")
  }
}
