import ArgumentParser
import TransferModel
import Transfers

/// `transfers pull`: record, fetch and summary in one command.
struct PullCommand: MovesFiles, HasInapplicableOptions, NamesPlace {
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Download files: record, run and summary in one command.",
    discussion: """
      A file is fetched in ranges if its server gives a strong validator, else in one body. It gets its name only when \
      it is complete; until then its bytes are in a partial file in the same folder, from which an interrupted pull \
      continues. A file that changes on the server meanwhile is fetched again from the start.

      Examples:
        transfers pull https://files.example/data/a.tar .
        transfers pull --overwrite https://files.example/a.tar \\
          https://files.example/b.tar in/
        transfers pull s3://bucket/2026/a.tar in/
        transfers pull s3://bucket/2026/ in/
        transfers pull --files-from SHA256SUMS \\
          --base-url https://files.example/data/ in/
        transfers pull https://files.example/a.tar - | tar -x
      """)

  @OptionGroup(title: "Files") var files: DownloadFlags
  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @Flag(name: [.customShort("n"), .long], help: "Only print the plan; writes and fetches nothing.")
  var dryRun = false
  @Flag(name: .customLong("no-run"), help: "Only record the files; \"transfers run\" fetches them.")
  var noRun = false
  @OptionGroup var common: CommonOptions

  var inapplicableOptions: Set<String> { files.inapplicableOptions(Config()) }
  func inapplicableOptions(_ config: Config) -> Set<String> { files.inapplicableOptions(config) }
  var placeWord: (word: String, kind: ConfigSection.Kind)? { files.placeWord }

  func validate() throws {
    if let flag = streamConflict {
      throw ValidationError("\(flag) does not apply to downloads to standard output or into an archive")
    }
    if dryRun, noRun { throw ValidationError("--dry-run and --no-run contradict each other; give one of them") }
  }

  /// A flag that does not apply to files that are not recorded.
  private var streamConflict: String? {
    guard files.isStream else { return nil }
    let given = [
      (dryRun, "--dry-run"), (noRun, "--no-run"), (engine.workers != nil, "--workers"),
      (engine.rateGroup != nil, "--rate-group"),
      (engine.trustCopy, "--trust-copy"), (engine.maxBytes != nil, "--max-bytes"),
      (engine.maxDuration != nil, "--max-duration"),
    ]
    return files.streamConflict ?? given.first { $0.0 }?.1
  }

  func localPlaces(_ context: Context) -> LocalPlaces { files.localPlaces }

  func execute(_ context: Context) throws(CommandFailure) {
    if files.isStream {
      return try PullStream(
        files: files, rate: engine.rate?.timetable.bytesPerSecond(civilMs: context.clock.civilMs), common: common,
        context: context
      ).run()
    }
    let options = try files.download(context)
    let path = try common.storePath(context)
    if dryRun {
      return try PlanPrinter(path, .download, common, context).run { store, notice throws(TransferError) in
        try store.plan(options, notice: notice)
      }
    }
    if noRun { return try record(options, path, context) }
    try common.checkColumns(of: RunOutput.sample(ofPush: true), context)
    try engine.checkRateGroup()
    let session = EngineSession(common, progress, title: "transfers pull", context)
    defer { session.end() }
    let startedMs = context.clock.wallMs
    let add = try failing { () throws(TransferError) in
      defer { session.reporter.finish() }
      return try context.store(path).add(options) { [reporter = session.reporter] in reporter.notice($0) }
    }
    let folder = printable(options.folder.description)
    session.reporter.setTitle((add.batch.map { "\($0)  " } ?? "") + folder)
    if common.format.isForPeople, !common.quiet {
      context.out.writeLine(AddOutput.line(add, destination: folder, .download))
    }
    let numbers = try fetch(add, session, path, context)
    try RunConclusion(
      session: session, add: add, destination: folder, storePath: path, sinceMs: startedMs, sources: files.urls
    ).tell(numbers)
  }

  private func fetch(
    _ add: AddResult, _ session: EngineSession, _ path: String, _ context: Context
  ) throws(CommandFailure) -> RunNumbers {
    guard add.counts.added + add.counts.queued + add.counts.requeued > 0 else { return .none }
    let work = PushWork(
      session: session, storePath: path, options: engine.runOptions(context), files: add.files, patienceMs: nil,
      context: context)
    return try work.finish() ?? .none
  }

  private func record(_ options: DownloadOptions, _ path: String, _ context: Context) throws(CommandFailure) {
    try common.checkColumns(of: AddOutput.sample, context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let add = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try context.store(path).add(options) { reporter.notice($0) }
    }
    let value = AddOutput(result: add, destination: printable(options.folder.description))
    try common.print(value, store: StoreIdentity.read(path, context), context)
  }
}
