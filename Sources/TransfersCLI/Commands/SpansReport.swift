import Transfers
import TransferModel
import TransferReports

/// `report otlp`: the result of sending attempts to a collector.
struct SpansReport: OutputValue {
  let result: SpanExportResult

  static let form = ReportForm<SpansReport>(
    "transfers.report.otlp/1",
    [
      .facts([
        .text("endpoint", "sent to") { $0.result.endpoint }, .integer("spans_sent", "spans") { $0.result.spansSent },
        .integer("spans_rejected", "rejected") { $0.result.spansRejected },
        .integer("requests", "requests") { $0.result.requests },
        .integer("retries", "of them repeated") { $0.result.retries },
        .text("message", "the collector says") { $0.result.message },
      ])
    ])

  /// Sends the selected attempts, and prints the result.
  static func run(
    _ selection: SelectionOptions, to endpoint: String?, _ headers: [String], _ common: CommonOptions,
    _ context: Context
  ) throws(CommandFailure) {
    guard let endpoint else {
      throw .usage("report otlp needs --endpoint", remedy: "--endpoint http://127.0.0.1:4318")
    }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: .attempts).withHidden
    let result = try failing { () throws(TransferError) in
      try SpanExport(endpoint: endpoint, headers: headers, clock: context.clock) { cause in
        if !common.quiet { context.err.writeLine(printable("this page was not accepted: \(cause)")) }
      }.send(filter, of: ledger)
    }
    try common.print(
      SpansReport(result: result), store: StoreIdentity(ledger), filters: selection.filters, context)
    guard result.spansRejected == 0 else {
      throw CommandFailure(
        .partial, code: "spans_rejected",
        printable("the collector rejected \(result.spansRejected) of \(result.spansSent) spans"),
        remedy: "see the message of the collector")
    }
  }
}
