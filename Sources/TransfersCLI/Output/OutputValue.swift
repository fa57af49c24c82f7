import TransferReports

/// What a command found out; its form makes a report of it, and renderers make every output of the report.
protocol OutputValue: Sendable {
  static var form: ReportForm<Self> { get }
}

extension OutputValue {
  var report: Report { Self.form.report(self) }
}
