import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers verify`: local files of downloads against the ledger.
struct VerifyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare downloaded files with their recorded size and digests.",
    discussion: """
      Reads each file completely and compares size and digests. The finding is recorded as a receipt of the file. \
      Changed and missing files are listed, and the command exits with 8; with --repair they are also queued to be \
      fetched again. A file that cannot be read, or whose target folder does not exist, is listed too, but no finding \
      is recorded. Files hidden by clean and rm are skipped, unless --hidden is given.

      Examples:
        transfers verify
        transfers verify --subset 3/28
        transfers verify b12 --repair; transfers run
      """)

  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Option(
    help: ArgumentHelp(
      "One of equal shares of all files, by their numbers: 3/28 is the third of 28. A share each night proves all.",
      valueName: "k/n"))
  var subset: FileShare?
  @Flag(
    help:
      "Queue changed and missing files for the next \"transfers run\", which fetches the recorded content again.")
  var repair = false
  @OptionGroup var common: CommonOptions

  typealias Entry = (file: KeptDownload, finding: Result<LocalFinding, Failure>)

  static let columns: [Column<Entry>] = [
    .text("file", "File") { $0.file.id.description },
    .text("finding", "Finding") { Self.word($0.finding) },
    .bytes("bytes", "Size") { (try? $0.finding.get())?.size },
    .bytes("expected_bytes", "Expected") { $0.file.size },
    .text("digest", "Digest") { (try? $0.finding.get())?.digest?.description },
    .text("expected_digest", "Expected digest") { $0.file.digests.first?.description },
    .name("path", "Path") { $0.file.path },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    let result = try verify(try common.storePath(context), context)
    try Self.requireSuccess(result, remedy: result.requeued > 0 ? "transfers run" : "transfers verify --repair")
  }

  /// - Parameter remedy: for changed or missing files.
  static func requireSuccess(_ result: VerifyResult, remedy: String) throws(CommandFailure) {
    var bad: [String] = []
    if result.changed > 0 { bad.append("\(result.changed) changed") }
    if result.missing > 0 { bad.append("\(result.missing) missing") }
    if result.unreadable > 0 { bad.append("\(result.unreadable) unreadable") }
    guard !bad.isEmpty else { return }
    let isMismatch = result.changed + result.missing > 0
    throw CommandFailure(
      isMismatch ? .mismatch : .partial, "\(bad.joined(separator: ", ")) of \(Quantity.count(result.files, "file"))",
      remedy: isMismatch ? remedy : "")
  }

  /// Prints files that are not intact, with `--verbose` all.
  private func verify(_ path: String, _ context: Context) throws(CommandFailure) -> VerifyResult {
    let ledger = try LedgerAccess.open(path, context)
    let (filter, store) = (try rows.filter(ledger, context), try StoreIdentity(ledger))
    ledger.close()
    var printer = RowPrinter(
      schema: "transfers.verify/1", store: store, filters: rows.filters, common, context)
    let result = try failing { () throws(TransferError) in
      try context.store(path).verify(filter, subset ?? .all, repairs: repair) { file, finding in
        let isIntact = (try? finding.get())?.outcome == .intact
        if common.verbose || !isIntact { printer.print(FigureTable(Self.columns, [(file, finding)])) }
      }
    }
    try printer.finish(empty: result.files == 0 ? "no downloads" : "nothing has changed", summary: Self.summary(result))
    if common.format.isForPeople, !common.quiet { context.out.writeLine(Self.line(result)) }
    return result
  }

  /// A file is called intact only if its digest was compared.
  static func word(_ finding: Result<LocalFinding, Failure>, isSizeKnown: Bool = true) -> String {
    switch finding {
    case .success(let found) where found.outcome == .intact && found.digest == nil:
      isSizeKnown ? "same size" : "present"
    case .success(let found): found.outcome.rawValue
    case .failure(let failure): "unreadable: \(failure.message)"
    }
  }

  static func summary(_ result: VerifyResult) -> FigureObject {
    FigureObject([
      ("files", Cell(result.files)), ("bytes", .bytes(result.bytes)), ("intact", Cell(result.intact)),
      ("same_size", Cell(result.sameSize)), ("present", Cell(result.present)),
      ("changed", Cell(result.changed)), ("missing", Cell(result.missing)), ("unreadable", Cell(result.unreadable)),
      ("requeued", Cell(result.requeued)),
    ])
  }

  /// `118 files, 3.2 GiB: 116 intact, 1 changed, 1 missing`.
  static func line(_ result: VerifyResult) -> String {
    var parts: [String] = []
    if result.intact > 0 || result.sameSize + result.present == 0 { parts.append("\(result.intact) intact") }
    if result.sameSize > 0 { parts.append("\(result.sameSize) of the same size (no digest compared)") }
    if result.present > 0 { parts.append("\(result.present) present (nothing to compare with)") }
    if result.changed > 0 { parts.append("\(result.changed) changed") }
    if result.missing > 0 { parts.append("\(result.missing) missing") }
    if result.unreadable > 0 { parts.append("\(result.unreadable) unreadable") }
    if result.requeued > 0 { parts.append("\(result.requeued) to be fetched again") }
    return "\(Quantity.count(result.files, "file")), \(Quantity.bytes(result.bytes)): " + parts.joined(separator: ", ")
  }
}

extension FileShare: ExpressibleByArgument {
  public init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let number = parts[0], let count = parts[1] else { return nil }
    self.init(number, of: count)
  }
}
