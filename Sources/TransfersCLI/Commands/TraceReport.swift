import Transfers
import TransferModel
import TransferReports

/// `report trace`: the attempts in a file for Perfetto and chrome://tracing, written as they are read.
struct TraceReport {
  let selection: SelectionOptions
  let common: CommonOptions
  let context: Context

  /// Bytes that are gathered before they are written.
  private static let piece = 1 << 16

  func write() throws(CommandFailure) {
    guard let output = common.output, output != NameBytes("-") else {
      throw .usage("report trace writes a file", remedy: "transfers report trace -o trace.json.gz")
    }
    guard common.format == .table || common.format == .json, common.columns == nil else {
      throw .usage("report trace has its own format", remedy: "leave out --format and --columns")
    }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: .attempts).withHidden
    var document = TraceDocument(nowMs: context.clock.wallMs)
    var gzip: Gzip? = output.bytes.suffix(3) == Array(".gz".utf8)[...] ? Gzip() : nil
    var gathered: [UInt8] = []
    try LedgerAccess.read(ledger) { reader in
      try reader.attemptSpans(filter) { span in
        document.add(span)
        gathered += document.taken()
        guard gathered.count >= Self.piece else { return }
        context.out.write(gzip?.add(gathered) ?? gathered)
        gathered = []
      }
    }
    gathered += document.finish()
    context.out.write(gzip?.add(gathered) ?? gathered)
    if let rest = gzip?.finish() { context.out.write(rest) }
    context.out.markComplete()
  }
}
