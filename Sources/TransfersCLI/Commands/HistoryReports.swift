import TransferModel
import TransferReports

/// `report batches`: the results of each batch.
struct BatchesReport: OutputValue {
  let rows: [BatchHistory]

  static let form = ReportForm<BatchesReport>(
    "transfers.report.batches/1", rows: "batches",
    [.table("batches", nil, BatchHistoryFigures.columns, TableLook(empty: "no batches")) { $0.rows }])
}

/// `report hosts`: the results of each server.
struct HostsReport: OutputValue {
  let rows: [HostRow]
  let limits: [HostLimitRow]
  let accepted: [HostAcceptanceRow]
  /// Ranges and resumption are counted from single attempts.
  let hasPrunedAttempts: Bool

  static let form = ReportForm<HostsReport>(
    "transfers.report.hosts/1", rows: "hosts",
    [
      .table("hosts", nil, HostFigures.columns, TableLook(empty: "no attempts")) { $0.rows },
      .table("accepted", "what the servers accepted", HostFigures.accepted) { $0.accepted },
      .words {
        $0.hasPrunedAttempts
          ? "ranges and resumption: only of requests that \"store prune\" has not deleted" : nil
      },
      .table("limits", "what runs learned", HostFigures.limits) { $0.limits },
    ])
}

/// `report retries`: when and where attempts were repeated.
struct RetriesReport: OutputValue {
  let figures: RetryFigures

  static let form = ReportForm<RetriesReport>(
    "transfers.report.retries/1", rows: "grid",
    [
      .facts(RetryReportFigures.totals.map { $0.of { $0.figures } }),
      .table(
        "grid", "retries by hour and host", RetryReportFigures.grid,
        TableLook(chart: .heat(column: "hour", row: "host", value: "retries"), empty: "no retries")
      ) { value in value.figures.grid.map { ($0, value.figures.share(of: $0)) } },
      .table(
        "chunks_by_attempts", "chunks by the number of their attempts", RetryReportFigures.parts,
        TableLook(chart: .histogram(name: "attempts", value: "chunks"))
      ) { $0.figures.parts },
    ])
}

/// `report daily`, `weekly` and `monthly`.
struct PeriodsReport: OutputValue {
  let period: CalendarPeriod
  let rows: [PeriodRow]

  static let form = ReportForm<PeriodsReport>(
    "transfers.report.periods/1", rows: "periods",
    [
      .facts([.text("period", nil) { $0.period.rawValue }.label()]),
      .table(
        "periods", nil, PeriodFigures.columns,
        TableLook(chart: .series(x: "from", y: "bytes"), empty: "nothing in this time")
      ) { $0.rows },
    ])
}
