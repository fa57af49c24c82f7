import TransferModel
import TransferReports

/// `report summary`.
struct SummaryOutput: OutputValue {
  let figures: SummaryFigures
  let absence: Absence

  static let form = ReportForm<SummaryOutput>(
    "transfers.report.summary/1",
    [
      .words { $0.figures.totals.files == 0 ? $0.absence.line : nil },
      .merged(SummaryFigures.sections) { $0.figures },
    ])
}
