import TransferModel
import TransferReports
import Transfers

/// How a run of a job ended.
struct JobOutcome {
  var numbers = RunNumbers.none
  var add: AddResult?
  /// The batches that the run has made: one for each destination that something was recorded for.
  var batches: [BatchID] = []
  /// nil if the run ended before there were any.
  var output: RunOutput?
  /// nil on success.
  var failure: CommandFailure?
  /// Another engine owns the ledger, and sends what was recorded.
  var isSkipped = false
  var startedMs: Int64
  var endedMs: Int64
  /// Destinations that got nothing in the run, while its limits held up the files of others.
  var heldUp: [String] = []

  /// The name of its exit code, or `skipped`.
  var result: String { failure?.status.name ?? (isSkipped ? "skipped" : ExitCode.ok.name) }

  /// All is well, or files are left only because of the limits of the job: its quota, or `max_bytes` or `max_duration`
  /// after something was sent. A limit that lets nothing pass is trouble; so are one that a file never fits into, and a
  /// destination that was tried in vain.
  var isSuccess: Bool {
    guard let failure else { return !isSkipped }
    guard failure.status == .workLeft, heldUp.isEmpty else { return false }
    switch numbers.stoppedBy {
    case .quota: return true
    case .limit: return numbers.tooLong == 0 && (numbers.done > 0 || numbers.bytesAcked > 0)
    default: return false
    }
  }
}

/// One run of a job: records new files, and sends them with those left by its earlier runs.
struct JobRun {
  let job: ConfigSection
  let storePath: String
  /// `skip`, `wait` or `fail`, while another engine owns the ledger.
  let policy: String
  /// The command line for the ledger.
  let argv: [String]
  let context: Context
  /// False to leave what was recorded to the engine that owns the ledger.
  var sends = true

  private let callbacks = RunCallbacks()

  /// How long to wait for another engine that may be about to end before files are left to it: it may have looked for
  /// work for the last time already.
  private static let graceMs: Int64 = 1_000

  /// Runs the job, and reports and logs the run. `problems` do not affect the transfers.
  func recorded(
    _ telling: JobTelling, writesLog: Bool, plans: [PlannedFiles]?,
    _ parsed: () throws(CommandFailure) -> [JobLine.Parsed]
  ) -> (outcome: JobOutcome, problems: [CommandFailure]) {
    let books = JobBooks(job: job, storePath: storePath, context: context, telling: telling, callbacks: callbacks)
    var problems = books.open()
    let outcome = run(plans: plans, parsed)
    problems += books.close(outcome, writesLog: writesLog)
    return (outcome, problems)
  }

  /// Only records new files. This is no run of the job: it has no result, and nobody is told of it.
  /// - Returns: the error, if any; the run that continues, or the next, tells it.
  func record(_ parsed: () throws(CommandFailure) -> [JobLine.Parsed]) -> CommandFailure? {
    run(plans: nil, parsed).failure
  }

  private func run(
    plans: [PlannedFiles]?, _ parsed: () throws(CommandFailure) -> [JobLine.Parsed]
  ) -> JobOutcome {
    let startedMs = context.clock.wallMs
    var outcome = JobOutcome(startedMs: startedMs, endedMs: startedMs)
    let (faults, engineEnd) = (SourceFaults(job), EngineEnd(context.clock))
    do throws(CommandFailure) {
      let lines = try parsed()
      guard let (command, inner) = lines.first else { return outcome }
      if let push = command as? PushCommand {
        let asked = try uploads(lines, plans, faults)
        let destinations = asked.map(\.settings.destination).joined(separator: ", ")
        try work(&outcome, push.engine, push.progress, push.common, destinations, inner, faults, engineEnd) {
          store, notice throws(TransferError) in try store.add(push.batch.namedSources, toEach: asked, notice: notice)
        }
      } else if let pull = command as? PullCommand {
        guard !pull.files.isStream else { throw .usage("a download job needs a folder") }
        guard plans == nil else { throw .usage("--plan is for upload jobs", remedy: "run the job without it") }
        let asked = try pull.files.download(inner)
        try work(
          &outcome, pull.engine, pull.progress, pull.common, printable(asked.folder.description), inner, faults,
          engineEnd
        ) { store, notice throws(TransferError) in [try store.add(asked, notice: notice)] }
      }
    } catch {
      outcome.failure = error
    }
    outcome.failure = faults.joined(to: outcome.failure)
    if outcome.failure != nil { outcome.isSkipped = false }
    outcome.endedMs = max(startedMs, engineEnd.wallMs)
    return outcome
  }

  /// The options for each destination.
  private func uploads(
    _ lines: [JobLine.Parsed], _ plans: [PlannedFiles]?, _ faults: SourceFaults
  ) throws(CommandFailure) -> [UploadOptions] {
    var all: [UploadOptions] = []
    for (n, line) in lines.enumerated() {
      guard let push = line.command as? PushCommand else { continue }
      var options = try push.batch.upload(line.context)
      options.plan = plans?[n]
      options.whenMissing = { faults.note($0) }
      all.append(options)
    }
    return all
  }

  private func work(
    _ outcome: inout JobOutcome, _ engine: EngineOptions, _ progress: ProgressOptions, _ common: CommonOptions,
    _ destination: String, _ context: Context, _ faults: SourceFaults, _ engineEnd: EngineEnd,
    add: (TransferStore, @escaping @Sendable (Notice) -> Void) throws(TransferError) -> [AddResult]
  ) throws(CommandFailure) {
    try setQuota(context)
    let session = EngineSession(common, progress, title: "transfers job run \(job.name)", context, callbacks: callbacks)
    let results = try faults.keeping(storePath) { () throws(TransferError) in
      try add(context.store(storePath)) { [reporter = session.reporter] in reporter.notice($0) }
    }
    outcome.batches = results.compactMap(\.batch)
    var added = AddResult(of: results)
    guard sends else { return }
    let earlier = try unfinished(context)
    added.files = added.files.adding(earlier.files)
    outcome.add = added
    let (counts, blocked) = (added.counts, Lock<CommandFailure?>(nil))
    let isIdle = counts.added + counts.queued + counts.busy + counts.requeued + earlier.count == 0
    let hasWork = isIdle ? try hasDueRemovals(context) : true
    if hasWork {
      guard let numbers = try finish(session, engine, added.files, context, blocked, engineEnd) else {
        outcome.isSkipped = true
        return
      }
      outcome.numbers = numbers
      try judge(&outcome, since: added.files.mark, context)
    }
    (outcome.output, outcome.failure) = try session.requireSuccess(
      outcome.numbers, add: added, destination: destination, storePath: storePath, sinceMs: outcome.startedMs,
      job: job.name)
    if outcome.failure?.status == .workLeft { outcome.failure?.text += JobRemains.told(outcome.heldUp) }
    if let error = blocked.withLock(\.self) { outcome.failure = error }
  }

  /// Finds out whether the limits of the job alone have left files.
  private func judge(
    _ outcome: inout JobOutcome, since mark: AddedFiles.Mark, _ context: Context
  ) throws(CommandFailure) {
    guard outcome.numbers.left > 0 else { return }
    let remains = try JobRemains(job.name, since: mark, storePath, context)
    remains.explain(&outcome.numbers)
    outcome.heldUp = remains.heldUp(outcome.numbers.stoppedBy)
  }

  /// Whether sources are to be removed now that were not when their files were done: they waited for a destination that
  /// the job no longer has, or whose files somebody has sent or hidden since. One that was put off starts an engine if
  /// the folder for which it waited is available again, or if it waits for a destination and is gone: its removal
  /// ends then.
  private func hasDueRemovals(_ context: Context) throws(CommandFailure) -> Bool {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try failing { () throws(TransferError) in
      try ledger.hasDueRemoval(ofJob: job.name, nowMs: context.clock.wallMs)
    }
  }

  /// Stored in the ledger before any file of the job: it binds every engine.
  private func setQuota(_ context: Context) throws(CommandFailure) {
    let quota: JobQuota?
    do throws(ScheduleFault) { quota = try JobQuotaText.quota(job) } catch {
      throw CommandFailure(.config, "\(error.fault.place): \(error.fault.message)")
    }
    try failing { () throws(TransferError) in
      try context.store(storePath).setQuota(ofJob: job.name, quota)
    }
  }

  private func unfinished(_ context: Context) throws(CommandFailure) -> UnfinishedFiles {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { try $0.unfinished(ofJob: job.name) }
  }

  /// nil if another engine sends the files, and the job does not wait for it.
  private func finish(
    _ session: EngineSession, _ engine: EngineOptions, _ files: AddedFiles, _ context: Context,
    _ blocked: Lock<CommandFailure?>, _ engineEnd: EngineEnd
  ) throws(CommandFailure) -> RunNumbers? {
    var options = engine.runOptions(context)
    options.whenEnded = { engineEnd.note() }
    options.argv = argv
    // The next run scans them again.
    options.waitsForSettling = false
    options.leftJobs = JobLimits.leftJobs(context, by: job)
    let patienceMs: Int64? = policy == "wait" ? nil : policy == "fail" ? 0 : Self.graceMs
    var work = PushWork(
      session: session, storePath: storePath, options: options, files: files, patienceMs: patienceMs, context: context)
    // What the other destinations got counts, also those that the job no longer has.
    if job.direction == .upload {
      work.whenBlocked = { error in blocked.withLock { $0 = $0 ?? error } }
    }
    do throws(CommandFailure) {
      if let numbers = try work.finish() { return numbers }
    } catch {
      guard error.status == .timeout, policy == "skip" else { throw error }
      return nil
    }
    guard policy == "fail" else { return nil }
    throw CommandFailure(
      .locked, "another engine owns the ledger; the files are recorded, and it sends them",
      remedy: "transfers wait --job \(job.name)")
  }
}
