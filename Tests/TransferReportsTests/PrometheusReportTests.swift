import Testing
import TransferModel

@testable import TransferReports

@Suite struct PrometheusReportTests {
  private struct Row: Sendable { var host: String, state: String, ms: Int64? }

  private func text(_ rows: [Row]) -> String {
    let form = ReportForm<[Row]>(
      "transfers.report.test/1",
      [
        .facts([
          .counts("files", "files") { ["done": $0.count] }, .duration("wall_ms") { _ in 1_500 },
          .flag("ok") { _ in true }, .bytes("bytes") { _ in 7 }, .rate("goodput_bps") { _ in nil },
        ]),
        .table(
          "hosts", nil,
          [.text("host") { $0.host }.label(), .text("state") { $0.state }, .duration("p95_ms") { $0.ms }]
        ) { $0 },
      ])
    let header = ReportHeader(store: StoreIdentity(path: nil), generatedMs: 1_763_632_800_123)
    return PrometheusReport.render(form.report(rows), header)
  }

  private func samples(_ text: String) -> [String] {
    text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
  }

  @Test func figuresAreInBaseUnits() {
    let found = samples(text([Row(host: "a", state: "up", ms: 20), Row(host: "b", state: "up", ms: nil)]))
    #expect(
      found == [
        "transfers_report_test_files{of=\"done\"} 2", "transfers_report_test_wall_seconds 1.500",
        "transfers_report_test_ok 1", "transfers_report_test_bytes 7",
        "transfers_report_test_hosts_p95_seconds{host=\"a\"} 0.020",
        "transfers_report_test_generated_timestamp_seconds 1763632800.123",
      ])
  }

  /// A reader rejects the whole text if two samples have the same name and labels.
  /// `figures_a{figure="backoff_ms"}` of `report compare` is in milliseconds, as its label says.
  @Test func figuresOfAColumnOfSeveralKindsKeepTheUnitOfTheirName() {
    let figures = [
      ComparedFigure(name: "backoff_ms", title: "backoff", before: .milliseconds(648), after: .milliseconds(0)),
      ComparedFigure(name: "bytes", title: "size", before: .bytes(7), after: .bytes(9)),
    ]
    let table = ReportSection(
      "figures", nil, .table(FigureTable(ComparedFigure.columns, figures), TableLook()))
    let header = ReportHeader(store: StoreIdentity(path: nil), generatedMs: 0)
    let found = samples(PrometheusReport.render(Report("transfers.report.compare/1", [table]), header))
    #expect(found.contains("transfers_report_compare_figures_a{figure=\"backoff_ms\"} 648"), "\(found)")
    #expect(found.contains("transfers_report_compare_figures_change{figure=\"bytes\"} 2"), "\(found)")
  }

  @Test func rowsThatLabelsDoNotTellApartAreLeftOut() {
    let found = samples(text([Row(host: "a", state: "up", ms: 1), Row(host: "a", state: "down", ms: 2)]))
    #expect(!found.contains { $0.contains("hosts") })
    let names = found.map { $0.split(separator: " ")[0] }
    #expect(Set(names).count == names.count)
  }

  @Test(arguments: [("a\"b", "a\\\"b"), ("\"\u{301}", "\\\"\u{301}"), ("x\\y\nz", "x\\\\y\\nz")])
  func aLabelStaysInItsQuotes(_ host: String, _ label: String) {
    #expect(text([Row(host: host, state: "", ms: 1)]).contains("{host=\"\(label)\"} 0.001\n"))
  }
}
