import Transfers
import TransferModel
import TransferReports

/// The page of `report --format html`: what the subreports tell, in one document that can be sent to somebody.
struct ReportPage: OutputValue {
  /// Files that are listed; a page of them stays below a megabyte.
  static let fileLimit = 10_000

  let summary: SummaryOutput
  let throughput: [ThroughputRow]
  let hosts: [HostRow]
  let retries: RetriesReport
  let days: [PeriodRow]
  let files: [FileRow]

  init(_ reader: StoreReader, _ filter: RowFilter, absence: Absence, nowMs: Int64) throws {
    summary = SummaryOutput(figures: try reader.summary(filter), absence: absence)
    throughput = try reader.throughput(filter, nowMs: nowMs) { ThroughputSeries.automaticStepMs($0) }
    hosts = try reader.hosts(filter)
    retries = RetriesReport(figures: try reader.retries(filter))
    days = try reader.periods(.day, filter)
    files = try reader.files(filter, after: 0, limit: Self.fileLimit)
  }

  static let form = ReportForm<ReportPage>(
    "transfers.report/1",
    [
      .merged(SummaryOutput.form.sections) { $0.summary },
      .table("throughput", "throughput", ThroughputFigures.columns, TableLook(chart: .series(x: "from", y: "bps"))) {
        $0.throughput
      },
      .table("hosts", "hosts", HostFigures.columns) { $0.hosts },
      .object("retries", "retries", RetriesReport.form.sections) { $0.retries },
      .table("days", "days", PeriodFigures.columns, TableLook(chart: .series(x: "from", y: "bytes"))) { $0.days },
      .words(\.shortage),
      .table("files_listed", "files", FileFigures.columns) { $0.files },
    ])

  private var shortage: String? {
    let all = summary.figures.totals.files
    return files.count < all ? "\(files.count) of \(all) files are listed here: transfers report files has all" : nil
  }
}
