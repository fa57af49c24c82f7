import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// Length of the stretches of `report throughput`.
enum ThroughputBucket: Hashable, Sendable, CaseIterable, ExpressibleByArgument {
  case auto
  case fixed(ms: Int64)

  static let allCases: [ThroughputBucket] = ThroughputSeries.steps.map { .fixed(ms: $0.ms) } + [.auto]
  static var allValueStrings: [String] { ThroughputSeries.steps.map(\.name) + ["auto"] }

  init?(argument: String) {
    if argument == "auto" {
      self = .auto
    } else if let step = ThroughputSeries.steps.first(where: { $0.name == argument }) {
      self = .fixed(ms: step.ms)
    } else {
      return nil
    }
  }

  func ms(_ spanMs: Int64) -> Int64 {
    switch self {
    case .auto: ThroughputSeries.automaticStepMs(spanMs)
    case .fixed(let ms): ms
    }
  }
}

/// `report throughput`: how fast it was, over time.
struct ThroughputReport {
  private let selection: SelectionOptions
  private let bucket: ThroughputBucket
  private let common: CommonOptions

  init(_ selection: SelectionOptions, _ bucket: ThroughputBucket, _ common: CommonOptions) {
    (self.selection, self.bucket, self.common) = (selection, bucket, common)
  }

  func print(_ schema: String, _ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context).withHidden
    let rows = try LedgerAccess.read(ledger) { reader in
      try reader.throughput(filter, nowMs: context.clock.wallMs) { bucket.ms($0) }
    }
    var printer = RowPrinter(
      schema: schema, rowType: "bucket", store: try StoreIdentity(ledger), filters: selection.filters, common, context)
    printer.print(FigureTable(ThroughputFigures.columns, rows))
    try printer.finish(empty: "no attempts")
    if common.format == .table, common.chosenColumns == nil, rows.count > 1 {
      context.out.write(line(rows, context))
    }
  }

  /// `goodput ▁▂▅█▇  at most 34.9 MiB/s`
  private func line(_ rows: [ThroughputRow], _ context: Context) -> String {
    let rates = rows.map { $0.bps ?? 0 }
    let highest = rates.max() ?? 0
    guard highest > 0 else { return "" }
    let isASCII = !Locale.isUTF8(context.environment)
    let bars = Sparkline.text(rates, columns: min(60, (common.style(context).columns ?? 100) - 40), isASCII: isASCII)
    return "goodput |\(bars)|  at most \(Quantity.bytesPerSecond(highest))\n"
  }
}
