import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// Length of the intervals of `report throughput`: a second or longer.
enum ThroughputBucket: Hashable, Sendable, CaseIterable, ExpressibleByArgument {
  case auto
  case fixed(ms: Int64)

  static let allCases: [ThroughputBucket] = ThroughputSeries.steps.map { .fixed(ms: $0.ms) } + [.auto]
  static var allValueStrings: [String] { ThroughputSeries.steps.map(\.name) + ["auto"] }

  init?(argument: String) {
    if argument == "auto" {
      self = .auto
    } else if let span = TimeSpan(text: argument), span.ms >= ThroughputSeries.shortestMs {
      self = .fixed(ms: span.ms)
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

/// `report throughput`: throughput over time.
struct ThroughputReport: OutputValue {
  let rows: [ThroughputRow]

  static let form = ReportForm<ThroughputReport>(
    "transfers.report.throughput/2", rows: "buckets",
    [
      .table(
        "buckets", nil, ThroughputFigures.columns, TableLook(chart: .series(x: "from", y: "bps"), empty: "no attempts")
      ) {
        $0.rows
      },
      .facts(ThroughputFigures.extremes.map { $0.of { ThroughputExtremes($0.rows) } }),
    ])
}

/// `report failures`: failures by cause and responsibility.
struct FailuresReport: OutputValue {
  let rows: [FailureRow]

  static let form = ReportForm<FailuresReport>(
    "transfers.report.failures/2", rows: "failures",
    [.table("failures", nil, FailureFigures.columns, TableLook(empty: "no failures", note: "hint")) { $0.rows }])
}
