import ArgumentParser
import TransferModel
import Transfers

/// `transfers pull`: record, fetch and summary in one command.
struct PullCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Download files: record, run and summary in one command.",
    discussion: """
      Each file is fetched in ranges where its server has a strong ETag and takes them, else in one body. It stands under its \
      name only when it is whole; until then its bytes are in a partial file beside it, and an interrupted pull goes on \
      from there. A file that changes at the server meanwhile is fetched anew.

      Examples:
        transfers pull https://files.example/data/a.tar .
        transfers pull --overwrite https://files.example/a.tar https://files.example/b.tar in/
      """)

  @Argument(help: ArgumentHelp("URLs of files, then the folder that they go to."), completion: .directory)
  var places: [NameBytes] = []
  @Flag(help: "Replace files that are there.")
  var overwrite = false
  @Option(help: ArgumentHelp("Name of the batch; reusing it adds no duplicates.", valueName: "name"))
  var name: String?
  @Option(
    name: .customLong("label"), help: ArgumentHelp("A note that reports can show; repeatable.", valueName: "key=value"))
  var labels: [String] = []
  @Option(help: ArgumentHelp("Higher values are fetched first.", valueName: "n"))
  var priority = 0
  @Option(
    help: ArgumentHelp(
      "Credential, by reference: basic=env:NAME, basic=file:PATH, bearer=env:NAME, bearer=file:PATH.", valueName: "ref")
  )
  var auth: String?
  @Option(help: ArgumentHelp("Certificate authorities to trust, a PEM file.", valueName: "path"), completion: .file())
  var caFile: String?
  @Option(help: ArgumentHelp("Bytes of a range: 8M (default: chosen).", valueName: "bytes"))
  var partSize: ByteQuantity?
  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard places.count >= 2 else { throw ValidationError("name one URL or more, and then a folder") }
    try BatchOptions.checkLabels(labels)
    try BatchOptions.checkReference(auth)
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let options = try download()
    let path = try common.storePath(context)
    try common.checkColumns(of: RunOutput.sample(ofPush: true), context)
    let session = EngineSession(common, progress, title: "transfers pull", context)
    let startedMs = context.clock.wallMs
    let add = try failing { () throws(TransferError) in
      defer { session.reporter.finish() }
      return try TransferStore(at: path).add(options)
    }
    let folder = printable(options.folder.description)
    session.reporter.setTitle((add.batch.map { "\($0)  " } ?? "") + folder)
    if common.format.isForPeople, !common.quiet {
      context.out.writeLine(AddOutput.line(add, destination: folder, common.style(context)))
    }
    var run = RunOptions(
      workers: engine.workers, rate: engine.bytesPerSecond, argv: RecordedArguments.masked(context.arguments))
    run.trustsCopy = engine.trustCopy
    let work = PushWork(
      session: session, storePath: path, options: run, files: add.files, patienceMs: nil, context: context)
    try session.conclude(
      try work.finish() ?? .none, add: add, destination: folder, storePath: path, sinceMs: startedMs)
  }

  private func download() throws(CommandFailure) -> DownloadOptions {
    let urls = try places.dropLast().map { url throws(CommandFailure) in
      guard let text = url.utf8 else { throw .usage("the URL \"\(url)\" is not UTF-8") }
      return text
    }
    var options = DownloadOptions(urls: urls, folder: places.last ?? NameBytes("."))
    options.overwrites = overwrite
    (options.name, options.labels, options.priority) = (name, BatchOptions.table(labels), priority)
    (options.auth, options.caFile) = (auth, caFile)
    if let partSize { options.options["part-size"] = .number(partSize.bytes) }
    return options
  }
}
