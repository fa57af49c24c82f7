import TransferReports

/// The result of a command; its form turns it into a report, and renderers make every output from the report.
protocol OutputValue: Sendable {
  static var form: ReportForm<Self> { get }
}

extension OutputValue {
  var report: Report { Self.form.report(self) }
}
