import Transfers
import TransferModel
import TransferReports

/// `report slow`: the files with the longest wall time, and where it went.
struct SlowReport: OutputValue {
  /// The default number of files: each costs as much as its `why`.
  static let rows = 20

  let rows: [WhyFigures]

  static let form = ReportForm<SlowReport>(
    "transfers.report.slow/1", rows: "files",
    [
      .table(
        "files", nil, SlowFigures.columns,
        TableLook(
          chart: .stacks(name: "id", parts: SlowFigures.partKeys), empty: "no ended files", note: "verdict")
      ) {
        $0.rows
      },
      .table(
        "parts", "the time of these files, in nine parts", SlowFigures.sums,
        TableLook(chart: .parts(name: "part", value: "wall_ms"))
      ) { SlowFigures.sums($0.rows) },
    ])
}
