import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store receipts`.
struct StoreReceiptsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "receipts", abstract: "Print what proves that files arrived, so that strangers can check it.",
    discussion: """
      One row for each receipt of the files that are done. In JSON, CSV and the other forms for programs each carries the \
      bytes of its leaf in the log, the path from there to the head of the log (https://c2sp.org/tlog-proof) and the \
      checkpoint, signed with the ledger's key: see "transfers store seal". tools/verify-receipt.py checks them without \
      the ledger. --sha256sum prints lines for "sha256sum -c" instead, of files whose SHA-256 is known.

      Examples:
        transfers store receipts --batch nightly --json -o receipts.json
        transfers store receipts --sha256sum | sha256sum -c
      """)

  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Flag(name: .customLong("sha256sum"), help: "Print a digest and a path a line, as sha256sum does.")
  var printsSums = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard printsSums, common.format != .table || common.columns != nil else { return }
    throw ValidationError("--sha256sum is a form of its own; leave out --format, --json and --columns")
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try rows.filter(ledger, context).withHidden
    let prover = try failing { () throws(TransferError) in try ledger.receiptProver() }
    if printsSums { return try printSums(ledger, filter, prover, context) }
    var printer = RowPrinter(
      schema: "transfers.store.receipts/1", store: try StoreIdentity(ledger), filters: rows.filters, common, context)
    try forEachPage(ledger, filter, prover) { page in
      printer.print(FigureTable(ReceiptFigures.columns, page))
      return !printer.isClosed
    }
    try printer.finish(empty: "no receipts", summary: Self.summary(prover.seal))
  }

  /// Each page is one short look at the ledger, so that a slow reader of the output holds nothing back there.
  private func forEachPage(
    _ ledger: OpenStore, _ filter: RowFilter, _ prover: ReceiptProver, _ body: ([ProvenReceipt]) -> Bool
  ) throws(CommandFailure) {
    var next: Int64? = 0
    while let after = next {
      let page = try LedgerAccess.read(ledger) { try $0.provenReceipts(filter, after: after, limit: 200, by: prover) }
      guard body(page.receipts) else { return }
      next = page.last
    }
  }

  private static func summary(_ seal: LedgerSeal) -> FigureObject {
    FigureObject([
      ("origin", .text(seal.origin)), ("leaves", .integer(seal.leaves)), ("head", .text(seal.head)),
      ("public_key", .text(seal.publicKey)),
    ])
  }

  private func printSums(
    _ ledger: OpenStore, _ filter: RowFilter, _ prover: ReceiptProver, _ context: Context
  ) throws(CommandFailure) {
    var others = 0
    try forEachPage(ledger, filter, prover) { page in
      for receipt in page where receipt.number == 1 {
        if let line = SumLine.of(receipt) { context.out.write(line) } else { others += 1 }
      }
      return context.out.state == .open
    }
    context.out.markComplete()
    if others > 0, !common.quiet {
      context.err.writeLine("\(Quantity.count(others, "file")) without a known SHA-256 left out")
    }
  }
}

/// A line as `sha256sum` of GNU coreutils writes and reads it.
enum SumLine {
  /// nil where the receipt names no SHA-256.
  static func of(_ receipt: ProvenReceipt) -> [UInt8]? {
    let prefix = "sha256:"
    guard let digest = receipt.receipt.digest, digest.hasPrefix(prefix) else { return nil }
    return line(String(digest.dropFirst(prefix.count)), receipt.path.bytes)
  }

  /// A name with a backslash or the end of a line is escaped, and a backslash in front says so. Source: GNU coreutils
  /// manual, "md5sum invocation".
  static func line(_ digest: String, _ name: [UInt8]) -> [UInt8] {
    let escapes: [UInt8: String] = [0x5C: #"\\"#, 0x0A: #"\n"#, 0x0D: #"\r"#]
    let escaped = name.flatMap { escapes[$0].map { Array($0.utf8) } ?? [$0] }
    return (escaped == name ? [] : [0x5C]) + Array("\(digest)  ".utf8) + escaped + [0x0A]
  }
}
