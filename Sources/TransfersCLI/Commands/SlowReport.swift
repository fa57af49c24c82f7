import Transfers
import TransferModel
import TransferReports

/// `report slow`: the files with the longest wall time, and where it went.
struct SlowReport: OutputValue {
  /// How many are told unless somebody asks for more or less: each costs what `why` of it costs.
  static let rows = 20

  let rows: [WhyFigures]

  static let form = ReportForm<SlowReport>(
    "transfers.report.slow/1", rows: "files",
    [
      .table(
        "files", nil, SlowFigures.columns,
        TableLook(
          chart: .stacks(name: "id", parts: SlowFigures.partKeys), empty: "no files that came to rest", note: "verdict")
      ) {
        $0.rows
      },
      .table(
        "parts", "the time of these files by its parts", SlowFigures.sums,
        TableLook(chart: .parts(name: "part", value: "wall_ms"))
      ) { SlowFigures.sums($0.rows) },
    ])
}
