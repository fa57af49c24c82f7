import ArgumentParser
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers push`: add, run and summary in one command.
struct PushCommand: MovesFiles, HasInapplicableOptions, NamesPlace {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Upload files and folders: add, run and summary in one command.",
    discussion: """
      Pushing the same tree again sends only new, changed and failed files. If another engine owns the ledger, it \
      sends the files and this command waits for them; with --no-wait it leaves them to that engine and exits with 0.

      Files of other batches that are ready are sent, too. The command does not wait for those that are not.

      Examples:
        transfers push data/ s3://bucket/runs/42/
        transfers push --rate 20M --exclude '**/.*' data/ https://files.example/in/
        transfers push -n data/ s3://bucket/runs/42/
      """,
    aliases: ["copy"])

  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Engine") var settling: SettlingOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @Flag(name: [.customShort("n"), .long], help: "Only print the plan; writes and sends nothing.")
  var dryRun = false
  @Option(
    help: ArgumentHelp(
      "Maximum time to wait while another engine sends the files, then exit with 124: 90s, 8h.", valueName: "time"))
  var wait: TimeSpan?
  @Flag(name: .customLong("no-wait"), help: "Do not wait when another engine sends the files; for cron.")
  var noWait = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if wait != nil, noWait { throw ValidationError("--wait and --no-wait contradict each other; give one of them") }
  }

  var inapplicableOptions: Set<String> { batch.inapplicableOptions(Config()) }
  func inapplicableOptions(_ config: Config) -> Set<String> { batch.inapplicableOptions(config) }
  var placeWord: (word: String, kind: ConfigSection.Kind)? { batch.placeWord }

  func localPlaces(_ context: Context) -> LocalPlaces { batch.localPlaces }

  func execute(_ context: Context) throws(CommandFailure) {
    let options = try batch.upload(context)
    let path = try common.storePath(context)
    if dryRun {
      return try PlanPrinter(path, .upload, common, context).run { store, notice throws(TransferError) in
        try store.plan(batch.namedSources, options, notice: notice)
      }
    }
    try common.checkColumns(of: RunOutput.sample(ofPush: true), context)
    try engine.checkRateGroup()
    let session = EngineSession(common, progress, title: "transfers push", context)
    defer { session.end() }
    let startedMs = context.clock.wallMs
    var add = try record(options, path, session, context)
    let destination = RecordedArguments.masked([options.settings.destination])[0]
    let batchName = add.batch.map { "\($0)  " } ?? ""
    session.reporter.setTitle(batchName + printable(destination))
    tell(add, destination, context)
    guard let sent = add.hasWork ? try work(session, path, add, context) : RunNumbers.none else {
      return try leave(add, destination, path, context)
    }
    var numbers = sent
    // By now the older versions of busy files have usually ended. Sources that cannot be read again stay busy.
    if add.counts.busy > 0, numbers.left == 0, !session.isStopping, options.list?.canBeReadAgain ?? true,
      let again = try? record(options, path, session, context)
    {
      tell(again, destination, context)
      add.take(again)
      guard let all = again.hasWork ? try work(session, path, add, context) : numbers else {
        return try leave(add, destination, path, context)
      }
      numbers = again.hasWork ? all.after(sent) : sent
    }
    try RunConclusion(session: session, add: add, destination: destination, storePath: path, sinceMs: startedMs)
      .tell(numbers)
  }

  private func record(
    _ options: UploadOptions, _ path: String, _ session: EngineSession, _ context: Context
  ) throws(CommandFailure) -> AddResult {
    try failing { () throws(TransferError) in
      defer { session.reporter.finish() }
      return try context.store(path).add(batch.namedSources, options) { [reporter = session.reporter] in
        reporter.notice($0)
      }
    }
  }

  private func tell(_ add: AddResult, _ destination: String, _ context: Context) {
    guard common.format.isForPeople, !common.quiet else { return }
    context.out.writeLine(AddOutput.line(add, destination: destination))
  }

  private func work(
    _ session: EngineSession, _ path: String, _ add: AddResult, _ context: Context
  ) throws(CommandFailure) -> RunNumbers? {
    var run = engine.runOptions(context)
    run.waitsForSettling = !settling.noWait
    return try PushWork(
      session: session, storePath: path, options: run, files: add.files, patienceMs: noWait ? 0 : wait?.ms,
      context: context
    ).finish()
  }

  /// The files are recorded, and another engine sends them: the command ends like `add`.
  private func leave(
    _ add: AddResult, _ destination: String, _ path: String, _ context: Context
  ) throws(CommandFailure) {
    if !common.format.isForPeople {
      let value = AddOutput(result: add, destination: destination)
      try common.print(value, store: StoreIdentity.read(path, context), context)
    }
    try AddCommand.requireSuccess(add)
  }
}

extension FileList {
  /// A pipe delivers its list only once, and may never open again.
  fileprivate var canBeReadAgain: Bool {
    var status = stat()
    return path.map { stat($0.terminated, &status) == 0 && status.st_mode & S_IFMT == S_IFREG } ?? false
  }
}

extension AddResult {
  fileprivate var hasWork: Bool { counts.added + counts.queued + counts.busy + counts.requeued > 0 }

  /// Merges the result of recording the same sources again, which was necessary because some were busy.
  fileprivate mutating func take(_ again: AddResult) {
    let settled = counts.busy - again.counts.busy - again.counts.added - again.counts.requeued
    counts.busy = again.counts.busy
    counts.added += again.counts.added
    counts.changed += again.counts.changed
    counts.bytes +|= again.counts.bytes
    counts.requeued += again.counts.requeued
    // The engine that sent the older version has recorded the newer one itself.
    counts.queued += max(0, settled)
    batch = batch ?? again.batch
    files = AddedFiles(of: [files, again.files])
  }
}

extension RunNumbers {
  /// The same numbers, with the time of earlier work on the same files added.
  fileprivate func after(_ earlier: RunNumbers) -> RunNumbers {
    var numbers = self
    numbers.wallMs += earlier.wallMs
    return numbers
  }
}
