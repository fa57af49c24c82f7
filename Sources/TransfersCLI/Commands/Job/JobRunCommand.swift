import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers job run`.
struct JobRunCommand: MovesFiles {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a job: record new files, and send them with those that earlier runs left.",
    discussion: """
      For cron and timers: prints nothing on success, else a few lines on standard error, and has the exit codes of \
      push. While another engine owns the ledger, it records new files, leaves them to that engine and exits with 0 \
      (if_locked: skip). Of runs that start at the same time only one sends. Each run writes one line to the system \
      log.

      Examples:
        transfers job run nightly
        transfers job run -n nightly
        transfers job run --plan plan.jsonl         (exactly the files of a plan)
        */5 * * * *  transfers job run nightly      (crontab)
      """)

  @Argument(help: ArgumentHelp("A job of the configuration; with --plan that of the plan.", valueName: "name"))
  var name: String?
  @Flag(name: [.customShort("n"), .long], help: "Only print the plan; writes and sends nothing.")
  var dryRun = false
  @Option(
    help: ArgumentHelp(
      "Send exactly the files of this plan (transfers job plan); a changed file fails.", valueName: "file"),
    completion: .file())
  var plan: NameBytes?
  @Option(
    name: .customLong("if-locked"),
    help: ArgumentHelp(
      "While another engine owns the ledger: skip, wait or fail (default: as configured).", valueName: "what"))
  var ifLocked: LockedChoice?
  @OptionGroup(title: "Engine") var engine: EngineOptions
  @Flag(name: .customLong("no-syslog"), help: "Write nothing to the system log.") var noSyslog = false
  @OptionGroup var common: CommonOptions

  enum LockedChoice: String, ExpressibleByArgument, CaseIterable, Sendable { case skip, wait, fail }

  func validate() throws {
    if name == nil, plan == nil { throw ValidationError("give the name of a job, or --plan FILE") }
    if dryRun, plan != nil { throw ValidationError("--dry-run and --plan contradict each other; give one of them") }
  }

  /// Those of the commands that the job stands for. An invalid job has none: it is refused when it is run.
  func localPlaces(_ context: Context) -> LocalPlaces {
    guard let name = try? jobName(), let job = try? context.config.job(name, check: context.configCheck),
      let parsed = try? JobLine(job, context).parsed(["--quiet"])
    else { return LocalPlaces() }
    var places = LocalPlaces()
    for one in parsed {
      guard let command = one.command as? any MovesFiles else { continue }
      places.add(command.localPlaces(one.context))
    }
    if let plan { places.files.append(plan) }
    return places
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let job = try context.config.job(try jobName(), check: context.configCheck)
    let path = try common.storePath(context)
    let line = try line(job, context)
    guard !dryRun else { return try JobPlanner(line: line, common: common, context: context).printPlan(path, options) }
    try common.checkColumns(of: RunOutput.sample(ofPush: true), context)
    let planned = try plan.map { file throws(CommandFailure) in
      try PlanFile.read(file, of: job, to: line.plannedPlaces())
    }
    let sends = context.variable(JobRecordings.variable) == nil
    let run = JobRun(
      job: job, storePath: path, policy: ifLocked?.rawValue ?? job["if_locked"]?.value ?? "skip",
      argv: RecordedArguments.masked(context.arguments), context: context, sends: sends)
    guard sends else { return try record(run, line, job, context) }
    let telling = JobTelling(job.name, try JobCallbacks.read(job), startedMs: context.clock.wallMs)
    let (outcome, problems) = run.recorded(telling, writesLog: writesLog(job, context), plans: planned) {
      () throws(CommandFailure) in
      try JobSense.refuse(job, context)
      return try line.parsed(["--quiet"] + options)
    }
    if common.verbose {
      let summary = "transfers: " + JobReport.summary(job.name, outcome)
      if common.format.isForPeople { context.out.writeLine(summary) } else { context.err.writeLine(summary) }
    }
    let end = outcome.isSuccess ? problems.first ?? outcome.failure : outcome.failure ?? problems.first
    let others = JobReport.others(problems, than: end)
    if !common.format.isForPeople, let output = outcome.output {
      try common.print(output, store: StoreIdentity.read(path, context), context)
    } else if common.format.isForPeople, !outcome.isSuccess {
      context.err.write(JobReport.lines(outcome, besides: others.count))
    }
    for other in others { context.err.writeLine(other.line) }
    guard var failure = end else { return }
    failure.isTold = outcome.isSuccess && problems.isEmpty
    throw failure
  }

  /// For the daemon, while a run of the job continues.
  private func record(
    _ run: JobRun, _ line: JobLine, _ job: ConfigSection, _ context: Context
  ) throws(CommandFailure) {
    let failure = run.record { () throws(CommandFailure) in
      try JobSense.refuse(job, context)
      return try line.parsed(["--quiet"] + options)
    }
    guard var failure else { return }
    failure.isTold = true
    throw failure
  }

  private func jobName() throws(CommandFailure) -> String {
    if let name { return name }
    return try PlanFile.job(of: plan ?? NameBytes(""))
  }

  private func line(_ job: ConfigSection, _ context: Context) throws(CommandFailure) -> JobLine {
    do throws(CommandFailure) { return try JobLine(job, context) } catch {
      try JobSense.refuse(job, context)
      throw error
    }
  }

  private var options: [String] {
    let words = [
      engine.workers.map { "--workers=\($0)" }, engine.rate.map { "--rate=\($0.text)" },
      engine.rateGroup.map { "--rate-group=\($0)" },
      engine.trustCopy ? "--trust-copy" : nil,
      engine.maxDuration.map { "--max-duration=\(max(1, $0.ms / 1_000))s" },
      engine.maxBytes.map { "--max-bytes=\($0.bytes)" },
    ]
    return words.compactMap(\.self)
  }

  private func writesLog(_ job: ConfigSection, _ context: Context) -> Bool {
    !noSyslog && (job["syslog"] ?? context.config.defaults["syslog"])?.isTrue != false
  }
}

/// The records of a run: its row, the line in the system log and the Prometheus file.
struct JobBooks {
  let job: ConfigSection
  let storePath: String
  let context: Context
  let telling: JobTelling
  /// Those of the engines of the run.
  let callbacks: RunCallbacks

  /// Records that the run has started. A failure here does not stop the transfers.
  /// - Returns: the error, if any.
  func open() -> [CommandFailure] {
    guard telling.callbacks.contains(where: { $0.event == .started }) else { return [] }
    do throws(CommandFailure) {
      try failing { () throws(TransferError) in
        let ledger = try OpenStore(at: storePath, .create, on: context.machine)
        defer { ledger.close() }
        try ledger.tellStart(of: job.name, telling)
      }
      return []
    } catch { return [error] }
  }

  /// - Returns: the errors of writing, which do not affect the transfers.
  func close(_ outcome: JobOutcome, writesLog: Bool) -> [CommandFailure] {
    var problems: [CommandFailure] = []
    func attempt(_ body: () throws(CommandFailure) -> Void) {
      do throws(CommandFailure) { try body() } catch { problems.append(error) }
    }
    if outcome.isSkipped {
      attempt { () throws(CommandFailure) in try takeBack() }
    } else {
      attempt { () throws(CommandFailure) in try record(outcome) }
    }
    attempt { () throws(CommandFailure) in try deliver(outcome) }
    if let file = job["prom_file"] { attempt { () throws(CommandFailure) in try writeMetrics(file.value) } }
    let isWell = (outcome.isSuccess || outcome.isSkipped) && problems.isEmpty
    if writesLog {
      SystemLog.send(JobReport.summary(job.name, outcome), isWell ? .info : .error)
    }
    return problems
  }

  private func takeBack() throws(CommandFailure) {
    guard telling.callbacks.contains(where: { $0.event == .started }) else { return }
    try failing { () throws(TransferError) in
      let ledger = try OpenStore(at: storePath, .create, on: context.machine)
      defer { ledger.close() }
      try ledger.takeBackStart(of: job.name, telling)
    }
  }

  private func record(_ outcome: JobOutcome) throws(CommandFailure) {
    let ledger = try failing { () throws(TransferError) in
      try OpenStore(at: storePath, .create, on: context.machine)
    }
    defer { ledger.close() }
    let row = JobRow(
      job: job.name, startedMs: outcome.startedMs, endedMs: outcome.endedMs, result: outcome.result,
      message: outcome.failure?.text, succeededMs: outcome.isSuccess ? outcome.endedMs : nil)
    try failing { () throws(TransferError) in
      try ledger.recordJob(
        row, telling, summary: "transfers: " + JobReport.summary(job.name, outcome), report: JobReport.lines(outcome))
    }
  }

  /// Delivers the callbacks of the run that has just ended, and those of files and batches that are due: a run without
  /// files begins no engine, which would deliver them. Those of files that are still being delivered go on beside them,
  /// until one deadline. Failed ones are retried by a later run.
  private func deliver(_ outcome: JobOutcome) throws(CommandFailure) {
    defer { callbacks.finish(isStopped: context.isStopRequested) }
    guard !callbacks.isOpen, !outcome.isSkipped else { return }
    if telling.callbacks.isEmpty, try !hasDueCallback() { return }
    context.catchSignals()
    try failing { () throws(TransferError) in try context.store(storePath).start(callbacks) }
  }

  private func hasDueCallback() throws(CommandFailure) -> Bool {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { try $0.hasDueCallback(nowMs: context.clock.wallMs) }
  }

  /// Written atomically, and readable by the collector, which runs as another user.
  private func writeMetrics(_ path: String) throws(CommandFailure) {
    let status = try JobStatus.read(job.name, job, storePath, context, batches: 0)
    let header = ReportHeader(
      store: .ofAny(storePath, context), filters: [:], generatedMs: context.clock.wallMs, checks: [])
    // The path may be that of a ledger.
    context.machine.connections?.closeIdle()
    do throws(CommandFailure) {
      let file = try OutputFile(NameBytes(path), store: storePath)
      if file.isReplaced, !MetricsFile.mayReplace(path) {
        file.discard()
        throw CommandFailure(
          .error, code: "output", "prom_file \"\(NameBytes(path))\" has something else than metrics of this program",
          remedy: "change prom_file")
      }
      file.stream.write(PrometheusReport.render(status.report, header))
      file.stream.makeReadable()
      try file.keep()
    } catch {
      throw CommandFailure(
        .error, code: "output", error.text.replacing("--output", with: "prom_file"),
        remedy: "free space or change prom_file; the files were sent")
    }
  }
}
