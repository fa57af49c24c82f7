import TransferModel
import TransferReports

/// `report waste`: what was transferred for nothing.
struct WasteReport: OutputValue {
  let figures: WasteFigures

  static let form = ReportForm<WasteReport>(
    "transfers.report.waste/1", rows: "causes",
    [
      .facts(WasteReportFigures.totals.map { $0.of { $0.figures } }),
      .table(
        "causes", "bytes transferred for nothing, by cause", WasteReportFigures.causes,
        TableLook(chart: .parts(name: "cause", value: "bytes"), empty: "no bytes were wasted")
      ) { value in value.figures.causes.map { ($0, Share.of($0.bytes, in: value.figures.bytesWasted)) } },
    ])
}

/// `report integrity`: how what is done was confirmed.
struct IntegrityReport: OutputValue {
  let figures: IntegrityFigures

  static let form = ReportForm<IntegrityReport>(
    "transfers.report.integrity/1", rows: "methods",
    [
      .facts(IntegrityReportFigures.totals.map { $0.of { $0.figures } }),
      .table(
        "methods", "done files by how they were confirmed", IntegrityReportFigures.methods,
        TableLook(chart: .parts(name: "method", value: "files"), empty: "no files are done")
      ) { $0.figures.methods },
      .table("checks", "done files by what the newest check found", IntegrityReportFigures.checks) {
        $0.figures.checks
      },
    ])
}
