import TransferModel
import TransferReports

/// `report runs`: when each engine ran, how it ended, and its totals.
struct RunsReport: OutputValue {
  let figures: RunFigures

  static let form = ReportForm<RunsReport>(
    "transfers.report.runs/1", rows: "runs_listed",
    [
      .facts(RunHistoryFigures.totals.map { $0.of { $0.figures } }),
      .table("runs_listed", nil, RunHistoryFigures.columns, TableLook(empty: "no engine ran")) { $0.figures.rows },
    ])
}
