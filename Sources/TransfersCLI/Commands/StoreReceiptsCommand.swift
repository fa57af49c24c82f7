import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store receipts`.
struct StoreReceiptsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "receipts", abstract: "Print receipts with proofs that third parties can verify.",
    discussion: """
      Prints one row for each receipt of the done files. In JSON, CSV and the other formats for programs each row has \
      the bytes of its leaf in the log, the path from the leaf to the head of the log (https://c2sp.org/tlog-proof) \
      and the checkpoint, signed with the ledger's key: see "transfers store seal". tools/verify-receipt.py checks \
      them without the ledger. With --seal the proofs refer to an existing seal, and nothing is signed; newer receipts \
      are left out. --sha256sum prints lines for "sha256sum -c" instead, for files with a known SHA-256. --bagit \
      writes the tag files of a bag (RFC 8493) into a folder: its payload, data/KEY, consists of the delivered files. \
      Both leave out files without a known SHA-256 (without --record-sha256 an upload usually has only the digest that \
      its server compares), and then exit with 3, or with 9 if nothing is left to write.

      Examples:
        transfers store receipts --batch nightly --json -o receipts.json
        transfers store receipts --seal 2026-10.seal --json
        transfers store receipts --sha256sum | sha256sum -c
        transfers store receipts --batch nightly --bagit bag/
      """)

  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Flag(name: .customLong("sha256sum"), help: "Print a digest and a path per line, like sha256sum.")
  var printsSums = false
  @Option(
    help: ArgumentHelp("Write bagit.txt, bag-info.txt and manifest-sha256.txt into this folder.", valueName: "dir"),
    completion: .directory)
  var bagit: NameBytes?
  @Option(
    help: ArgumentHelp("Prove the receipts with this existing seal.", valueName: "file"), completion: .file())
  var seal: NameBytes?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if printsSums, common.format != .table || common.columns != nil {
      throw ValidationError("--sha256sum has its own format; leave out --format, --json and --columns")
    }
    if [printsSums, bagit != nil, seal != nil].filter(\.self).count > 1 {
      throw ValidationError("--sha256sum, --bagit and --seal exclude each other")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try rows.filter(ledger, context).withHidden
    if printsSums { return try printSums(ledger, filter, context) }
    if let bagit { return try writeBag(in: bagit, ledger, filter, context) }
    let prover = try prover(ledger)
    var printer = RowPrinter(
      schema: "transfers.store.receipts/1", store: try StoreIdentity(ledger), filters: rows.filters, common, context)
    try Self.forEachPage { after throws(CommandFailure) in
      let page = try LedgerAccess.read(ledger) { try $0.provenReceipts(filter, after: after, limit: 200, by: prover) }
      printer.print(FigureTable(ReceiptFigures.proven, page.receipts))
      return printer.isClosed ? nil : page.last
    }
    try printer.finish(empty: "no receipts", summary: Self.summary(prover.seal))
  }

  private func prover(_ ledger: OpenStore) throws(CommandFailure) -> ReceiptProver {
    guard let seal else { return try failing { () throws(TransferError) in try ledger.receiptProver() } }
    let (comparison, prover) = try failing { () throws(TransferError) in try ledger.receiptProver(sealedIn: seal) }
    if let prover { return prover }
    throw StoreSealCommand.failure(of: comparison, "receipts of \"\(seal)\"")
  }

  /// Each page is one short read of the ledger, so that a slow reader of the output does not delay others.
  private static func forEachPage(_ body: (Int64) throws(CommandFailure) -> Int64?) throws(CommandFailure) {
    var next: Int64? = 0
    while let after = next { next = try body(after) }
  }

  private static func summary(_ seal: LedgerSeal) -> FigureObject {
    FigureObject([
      ("origin", .text(seal.origin)), ("leaves", .integer(seal.leaves)), ("head", .text(seal.head)),
      ("public_key", Cell(seal.publicKey)),
    ])
  }

  private func printSums(_ ledger: OpenStore, _ filter: RowFilter, _ context: Context) throws(CommandFailure) {
    var (lines, others) = (0, 0)
    try Self.forEachPage { after throws(CommandFailure) in
      let page = try LedgerAccess.read(ledger) { try $0.storedReceipts(filter, after: after, limit: 200) }
      for receipt in page.receipts where receipt.number == 1 {
        guard let line = SumLine.of(receipt) else {
          others += 1
          continue
        }
        context.out.write(line)
        lines += 1
      }
      return context.out.state == .open ? page.last : nil
    }
    if lines > 0 || others == 0 { context.out.markComplete() }
    try requireAll(of: lines, leftOut: others, "\(Quantity.count(others, "file")) without a known SHA-256")
  }

  /// A list that looks complete and is not would be taken for a check of all files.
  private func requireAll(of written: Int, leftOut: Int, _ others: String) throws(CommandFailure) {
    guard leftOut > 0 else { return }
    throw CommandFailure(
      written > 0 ? .partial : .empty,
      "store receipts: \(others) left out, \(written > 0 ? Quantity.count(written, "file") : "none") written",
      remedy: SHA256Advice.text)
  }

  private func writeBag(
    in folder: NameBytes, _ ledger: OpenStore, _ filter: RowFilter, _ context: Context
  ) throws(CommandFailure) {
    var bag = ReceiptBag()
    try Self.forEachPage { after throws(CommandFailure) in
      let page = try LedgerAccess.read(ledger) { try $0.storedReceipts(filter, after: after, limit: 200) }
      for receipt in page.receipts where receipt.number == 1 { bag.add(receipt) }
      return page.last
    }
    let others = "\(Quantity.count(bag.leftOut, "file")) without a known SHA-256 or a name in a bag"
    if bag.files == 0 { try requireAll(of: 0, leftOut: bag.leftOut, others) }
    let store = try StoreIdentity(ledger)
    try bag.write(into: folder, store: ledger.path, wallMs: context.clock.wallMs)
    let value = BagOutput(
      folder: folder, files: bag.files, bytes: bag.bytes, leftOut: bag.leftOut, replaced: bag.replaced.count)
    try common.print(value, store: store, filters: rows.filters, context)
    try requireNoneReplaced(in: bag)
    try requireAll(of: bag.files, leftOut: bag.leftOut, others)
  }

  /// A bag has one file of each name.
  private func requireNoneReplaced(in bag: ReceiptBag) throws(CommandFailure) {
    guard let first = bag.replaced.first else { return }
    let others = bag.replaced.count > 1 ? " and \(bag.replaced.count - 1) more" : ""
    throw CommandFailure(
      .partial,
      "store receipts: another shard sent other content under the name of \(first.file) (\(first.by))\(others), "
        + "\(Quantity.count(bag.files, "file")) written",
      remedy: "transfers prove lists such files; a bag of each shard has all of them")
  }
}

/// Why most receipts have no SHA-256, and where to get one.
enum SHA256Advice {
  static let text = """
    receipts have the digest that the server compares, or a CRC; "push" and "pull" with --record-sha256 record the \
    SHA-256, downloads from a list of SHA-256 digests have theirs, "transfers manifest" computes those of local files, and "transfers store receipts --json" proves \
    receipts without a SHA-256
    """
}

/// A line as `sha256sum` of GNU coreutils writes and reads it.
enum SumLine {
  /// nil if the receipt has no SHA-256.
  static func of(_ receipt: StoredReceipt) -> [UInt8]? {
    receipt.sha256.map { ManifestTool.sumLine($0, receipt.path.bytes) }
  }
}
