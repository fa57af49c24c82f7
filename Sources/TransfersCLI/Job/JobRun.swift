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
  var context: Context
  /// False to leave what was recorded to the engine that owns the ledger.
  var sends = true

  let callbacks = RunCallbacks()

  /// Runs the job, and reports and logs the run. `problems` do not affect the transfers.
  func recorded(
    _ telling: JobTelling, writesLog: Bool, plans: [PlannedFiles]?,
    _ parsed: () throws(CommandFailure) -> [JobLine.Parsed]
  ) -> (outcome: JobOutcome, problems: [CommandFailure]) {
    keeping { run in
      let books = JobBooks(
        job: job, storePath: storePath, context: run.context, telling: telling, callbacks: callbacks)
      var problems = books.open()
      let outcome = run.run(plans: plans, parsed)
      problems += books.close(outcome, writesLog: writesLog)
      return (outcome, problems)
    }
  }

  /// Only records new files. This is no run of the job: it has no result, and nobody is told of it.
  /// - Returns: the error, if any; the run that continues, or the next, tells it.
  func record(_ parsed: () throws(CommandFailure) -> [JobLine.Parsed]) -> CommandFailure? {
    keeping { run in run.run(plans: nil, parsed).failure }
  }

  /// The steps of a run open the ledger one after the other: they keep its connections until the run ends, or longer if
  /// the caller has some to keep.
  private func keeping<Result>(_ body: (JobRun) -> Result) -> Result {
    guard context.machine.connections == nil else { return body(self) }
    let connections = StoreConnections()
    defer { connections.closeIdle() }
    var run = self
    run.context = context.keeping(connections)
    return body(run)
  }

  private func run(
    plans: [PlannedFiles]?, _ parsed: () throws(CommandFailure) -> [JobLine.Parsed]
  ) -> JobOutcome {
    let startedMs = context.clock.wallMs
    var outcome = JobOutcome(startedMs: startedMs, endedMs: startedMs)
    let (faults, engineEnd) = (SourceFaults(job), EngineEnd(context.clock))
    do throws(CommandFailure) {
      let lines = try parsed()
      guard let (command, given) = lines.first else { return outcome }
      let inner = given.keeping(context.machine.connections)
      if let push = command as? PushCommand {
        let asked = try uploads(lines, plans, faults)
        let destinations = asked.map(\.settings.destination).joined(separator: ", ")
        let work = JobWork(
          run: self, engine: push.engine, progress: push.progress, common: push.common, destination: destinations,
          context: inner, faults: faults, engineEnd: engineEnd)
        try work.perform(&outcome) { store, notice throws(TransferError) in
          try store.add(push.batch.namedSources, toEach: asked, notice: notice)
        }
      } else if let pull = command as? PullCommand {
        guard !pull.files.isStream else { throw .usage("a download job needs a folder") }
        guard plans == nil else { throw .usage("--plan is for upload jobs", remedy: "run the job without it") }
        let asked = try pull.files.download(inner)
        let work = JobWork(
          run: self, engine: pull.engine, progress: pull.progress, common: pull.common,
          destination: printable(asked.folder.description), context: inner, faults: faults, engineEnd: engineEnd)
        try work.perform(&outcome) { store, notice throws(TransferError) in
          [try store.add(asked, notice: notice)]
        }
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
}
