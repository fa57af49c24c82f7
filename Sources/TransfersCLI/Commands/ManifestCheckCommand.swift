import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers manifest check`.
struct ManifestCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Compare files with a manifest.",
    discussion: """
      Compares sizes and, without --quick, digests of the files below the folder. Changed and missing files are \
      listed, and the command exits with 8; --verbose lists all files. Files that are not in the manifest are ignored. \
      Nothing outside of the folder is read.

      Examples:
        transfers manifest check SHA256SUMS --folder /data/in
        transfers manifest check out.jsonl --quick --json
      """)

  @OptionGroup var source: ManifestSource
  @Option(
    help: ArgumentHelp("Where the files are; . is the current folder.", valueName: "folder"),
    completion: .directory)
  var folder = NameBytes(".")
  @Flag(help: "Compare sizes only; no file is read.")
  var quick = false
  @OptionGroup var common: CommonOptions

  typealias Entry = (file: ManifestTool.ListedFile, finding: Result<LocalFinding, Failure>)

  static let columns: [Column<Entry>] = [
    .text("finding", "Finding") { VerifyCommand.word($0.finding, isSizeKnown: $0.file.size != nil) },
    .bytes("bytes", "Size") { (try? $0.finding.get())?.size },
    .bytes("expected_bytes", "Expected") { $0.file.size },
    .text("digest", "Digest") { (try? $0.finding.get())?.digest?.description },
    .text("expected_digest", "Expected digest") { $0.file.digest?.description },
    .name("path", "Path") { $0.file.path },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    var printer = RowPrinter(schema: "transfers.manifest.check/1", store: StoreIdentity(path: nil), common, context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.check(
        source.path, source.listFormat, below: folder, readsContent: !quick
      ) { file, finding in
        let isIntact = (try? finding.get())?.outcome == .intact
        if common.verbose || !isIntact { printer.print(FigureTable(Self.columns, [(file, finding)])) }
      }
    }
    try printer.finish(
      empty: result.files == 0 ? "no files" : "nothing has changed", summary: VerifyCommand.summary(result))
    if common.format.isForPeople, !common.quiet { context.out.writeLine(VerifyCommand.line(result)) }
    try VerifyCommand.requireSuccess(result, remedy: "")
  }
}
