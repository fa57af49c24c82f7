import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers condor-plugin`: a file-transfer plug-in of HTCondor.
struct CondorPluginCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "condor-plugin", abstract: "Move files for HTCondor, as its file-transfer plug-in.",
    discussion: """
      HTCondor calls it with -classad to query its abilities, and with -infile and -outfile to move files (protocol \
      versions 2 and 4). Each file is in a ledger: --store or TRANSFERS_STORE, else .transfers/condor.db in the \
      scratch folder of the job (_CONDOR_SCRATCH_DIR, else the folder of -infile). Repeating a call continues where a \
      killed one stopped. Exit codes: 0 all files were moved; 11 some were not, and another attempt may succeed; 1 \
      some were not, and a person must act. See docs/scale.md.

      Examples:
        transfers condor-plugin -classad
        transfers condor-plugin -infile .plugin.in -outfile .plugin.out -upload
      """)

  @Flag(name: .customLong("classad", withSingleDash: true), help: "Print the ClassAd of the plug-in.")
  var classad = false
  @Option(
    name: .customLong("infile", withSingleDash: true),
    help: ArgumentHelp("ClassAds with the Url and LocalFileName of each file.", valueName: "file"), completion: .file())
  var infile: NameBytes?
  @Option(
    name: .customLong("outfile", withSingleDash: true),
    help: ArgumentHelp("A ClassAd is appended for each file; never truncated.", valueName: "file"), completion: .file())
  var outfile: NameBytes?
  @Flag(name: .customLong("upload", withSingleDash: true), help: "Send the files; without it they are fetched.")
  var upload = false
  @Option(help: ArgumentHelp("Protocol version that -classad prints: 2 or 4.", valueName: "n"))
  var protocolVersion = 4
  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard classad != (infile != nil && outfile != nil), classad == (infile == nil), classad == (outfile == nil) else {
      throw ValidationError("give -classad, or both -infile and -outfile")
    }
    guard [2, 4].contains(protocolVersion) else { throw ValidationError("--protocol-version must be 2 or 4") }
    if common.format != .table || common.columns != nil {
      throw ValidationError("a ClassAd has its own format; leave out --format, --json and --columns")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    guard let infile, let outfile else {
      return context.out.write(CondorPlugin.ad(protocolVersion: protocolVersion))
    }
    let direction = upload ? Direction.upload : .download
    do throws(CommandFailure) {
      let files = try failing { () throws(TransferError) in try CondorFile.read(infile, direction, outfile) }
      let outcomes = move(FilePairs(files.map(\.pair), direction), infile, context)
      try tell(zip(files, outcomes).map { CondorResult($0, direction, $1) }, outfile, context)
    } catch {
      guard error.exitStatus == nil else { throw error }
      // HTCondor shows only the content of the output file to the submitter.
      let answer = CondorResult(unread: direction, TransferError(error))
      try? ClassAdFile.append([answer.ad(wallMs: context.clock.wallMs)], to: outfile)
      var error = error
      error.exitStatus = 1
      throw error
    }
  }

  private func storePath(_ infile: NameBytes, _ context: Context) throws(CommandFailure) -> String {
    let isSet = common.store != nil || context.variable("TRANSFERS_STORE") != nil
    if isSet || context.config.defaults["store"] != nil { return try common.storePath(context) }
    guard let scratch = context.variable("_CONDOR_SCRATCH_DIR") ?? OwnFolder.folder(of: infile) else {
      throw .usage("the folder of -infile is not UTF-8", remedy: "--store PATH")
    }
    // HTCondor treats new files in the scratch folder as results of the job, but ignores folders.
    let folder = scratch + "/.transfers"
    try failing { () throws(TransferError) in try OwnFolder.make(folder, "set TRANSFERS_STORE for the plug-in") }
    return folder + "/condor.db"
  }

  private func move(_ pairs: FilePairs, _ infile: NameBytes, _ context: Context) -> [PairOutcome] {
    let path: String
    do throws(CommandFailure) { path = try storePath(infile, context) } catch {
      return pairs.outcomes(TransferError(error))
    }
    var pairs = pairs
    let session = EngineSession(common, progress, title: "transfers condor-plugin", context)
    defer { session.end() }
    do throws(TransferError) {
      let added = try pairs.record(in: path) { [reporter = session.reporter] in reporter.notice($0) }
      let work = PushWork(
        session: session, storePath: path, options: engine.runOptions(context), files: added, patienceMs: nil,
        context: context)
      return try pairs.outcomes(added.batches.isEmpty ? nil : work.untilSettled(), in: path)
    } catch {
      // The ledger accepts no writes: no file can be moved.
      session.reporter.finish()
      return pairs.outcomes(error)
    }
  }

  private func tell(_ results: [CondorResult], _ outfile: NameBytes, _ context: Context) throws(CommandFailure) {
    let wallMs = context.clock.wallMs
    try failing { () throws(TransferError) in
      try ClassAdFile.append(results.map { $0.ad(wallMs: wallMs) }, to: outfile)
    }
    let bad = results.filter { !$0.isDone }
    guard !bad.isEmpty else { return }
    var failure = CommandFailure(
      bad.count < results.count ? .partial : .allFailed,
      "of \(Quantity.count(results.count, "file")) \(bad.count) could not be moved: \(bad[0].summary)")
    failure.exitStatus = bad.allSatisfy { $0.isRetryable(wallMs: wallMs) } ? 11 : 1
    throw failure
  }
}
