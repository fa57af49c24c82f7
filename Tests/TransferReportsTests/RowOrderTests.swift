import Testing
import TransferModel

@testable import TransferReports

/// Rows are sorted by the raw values of a column.
@Suite struct RowOrderTests {
  private struct Row: Sendable { var name: String, bytes: Int64? }

  private static let rows = [
    Row(name: "b", bytes: 900), Row(name: "a", bytes: nil), Row(name: "d", bytes: 1000), Row(name: "c", bytes: 900),
  ]
  private static let form = ReportForm<[Row]>(
    "transfers.test/1", rows: "rows",
    [
      .facts([.integer("count", "rows") { $0.count }]),
      .table(
        "rows", nil, [.text("name", "Name") { $0.name }, .bytes("bytes") { $0.bytes }, .counts("by") { _ in [:] }]
      ) { $0 },
    ])

  private func names(_ key: String, desc: Bool = false, limit: Int? = nil) throws -> String {
    let order = RowOrder(key: key, isDescending: desc)
    let table = try #require(try Self.form.report(Self.rows).arranged(by: order, limit: limit).table)
    return table.rows.map { $0[0].plainText }.joined()
  }

  /// 1000 comes after 900 (as text it would not); unknown values come last in both directions; b stays before c.
  @Test func numbersAreComparedAndUnknownOnesComeLast() throws {
    #expect(try names("bytes") == "bcda")
    #expect(try names("bytes", desc: true) == "dbca")
    #expect(try names("name") == "abcd")
    #expect(try names("name", desc: true) == "dcba")
  }

  @Test func theLimitIsOfTheOrderedRows() throws {
    #expect(try names("bytes", desc: true, limit: 1) == "d")
    let unordered = try Self.form.report(Self.rows).arranged(by: nil, limit: 2)
    #expect(unordered.table?.rows.count == 2)
  }

  @Test func whatHasNoOrderIsRefusedWithWhatHas() throws {
    for key in ["by", "bytes2"] {
      let error = #expect(throws: UnknownFigure.self) { _ = try names(key) }
      #expect(error?.known == ["name", "bytes"])
    }
  }

  @Test func aColumnOfTheMainTableNeedsNoPath() {
    let report = Self.form.report(Self.rows)
    #expect(report.path(of: "bytes") == "rows.bytes")
    #expect(report.path(of: "count") == "count")
    #expect(report.path(of: "rows.bytes") == "rows.bytes")
    #expect(report.path(of: "nothing") == "nothing")
  }

  /// The formats with fixed columns know only the table, so JSON takes the column, too.
  @Test func aColumnTakesPrecedenceOverAFigureWithItsName() {
    let form = ReportForm<Int64>(
      "transfers.test/1", rows: "grid",
      [
        .facts([.integer("retries", "retries") { $0 }]),
        .table("grid", nil, [.integer("retries", "Retries") { $0 }]) { [$0, $0] },
      ])
    let report = form.report(7)
    #expect(report.path(of: "retries") == "grid.retries")
    #expect(report.path(of: "grid.retries") == "grid.retries")
  }

  @Test func checksStandInEveryForm() {
    let checks = [
      ReportCheck(condition: "failed>0", figure: "failed", value: .integer(2), hasPassed: false),
      ReportCheck(condition: "<b>", figure: "left", value: .none, hasPassed: true),
    ]
    let header = ReportHeader(store: StoreIdentity(path: nil), generatedMs: 0, checks: checks)
    #expect(
      checks.text(.plain) == "failed: --fail-on failed>0, and failed is 2\nno value: --fail-on <b>, and left is -\n")
    let report = Self.form.report([])
    let html = HTMLReport.render(report, header)
    #expect(html.contains("<li class=\"bad\">failed: --fail-on failed&gt;0, and failed is 2</li>"))
    #expect(!html.contains("<b>"))
    #expect(PrometheusReport.render(report, header).contains("_check_passed{condition=\"failed>0\"} 0\n"))
    let document = String(decoding: JSONWriter.bytes(.object(header.members(schema: "s"))), as: UTF8.self)
    #expect(document.contains(#""checks":[{"condition":"failed>0","figure":"failed","passed":false,"value":2},"#))
    #expect(document.contains(#""passed":false"#))
  }

  /// Two reports of one schema may be in one folder of text files: labels for their subjects distinguish their samples.
  @Test func whatAReportIsAboutStandsOnItsSamples() {
    let form = ReportForm<String>(
      "transfers.test/1",
      [
        .facts([.text("period", nil) { $0 }.label(), .integer("files") { _ in 3 }]),
        .table("rows", nil, [.text("host") { $0 }.label(), .integer("n") { _ in 1 }]) { _ in ["h"] },
      ])
    let text = PrometheusReport.render(
      form.report("week"), ReportHeader(store: StoreIdentity(path: nil), generatedMs: 0))
    #expect(text.contains("transfers_test_files{period=\"week\"} 3\n"))
    #expect(text.contains("transfers_test_rows_n{period=\"week\",host=\"h\"} 1\n"))
    #expect(text.contains("transfers_test_generated_timestamp_seconds{period=\"week\"} 0\n"))
  }
}
