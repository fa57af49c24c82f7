import CDigest
import Testing
import TransferModel

@testable import TransferReports

@Suite struct HTMLReportTests {
  private struct Row: Sendable { var name: NameBytes, state: String, size: Int64 }
  private static let form = ReportForm<[Row]>(
    "transfers.test/1",
    [
      .facts([.counts("states", "states") { Dictionary(grouping: $0, by: \.state).mapValues(\.count) }]),
      .table(
        "files", "files",
        [
          .name("path", "Path") { $0.name }, .text("state", "State") { $0.state }.label(),
          .bytes("bytes", "Size") { $0.size },
        ], TableLook(chart: .histogram(name: "path", value: "bytes"))
      ) { $0 },
    ])

  private let rows = (0..<40).map { index in
    Row(name: NameBytes("/data/\(index)"), state: index % 4 == 0 ? "failed" : "done", size: Int64(index) * 1000)
  }

  private func page(_ rows: [Row], budget: Int = HTMLReport.rowBudget) -> String {
    let header = ReportHeader(store: StoreIdentity(path: "/l.db"), filters: ["--path": .text("<b>")], generatedMs: 0)
    return HTMLReport.render(Self.form.report(rows), header, rowBudget: budget)
  }

  /// Names and texts of servers come from anybody.
  @Test(arguments: [
    "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "' x='", "a&lt;b", "</title></style></script><img src=x>",
    "x\u{202E}gpj.exe", "]]>", "<!--",
  ])
  func aNameIsText(_ name: String) {
    let html = page([Row(name: NameBytes(name), state: name, size: 1), Row(name: NameBytes("b"), state: "x", size: 2)])
    for tag in ["<script>", "<img", "<!--", "onmouseover=\"", "\u{202E}", "' x='"] {
      #expect(html.components(of: tag) == (tag == "<script>" ? 1 : 0), "\(tag)")
    }
    #expect(html.contains("&lt;b&gt;"), "so are filters")
  }

  @Test func aPageLoadsNothing() {
    let html = page(rows)
    for reference in ["http:", "https:", "src=", "@import", "url(", "<link", "<form", "style=\""] {
      #expect(!html.contains(reference), "\(reference)")
    }
    #expect(html.contains("default-src 'none'"))
  }

  /// A browser compares them with what stands in the page.
  @Test(arguments: [
    (HTMLAssets.style, HTMLAssets.styleDigest), (HTMLAssets.script, HTMLAssets.scriptDigest),
  ])
  func thePolicyAllowsExactlyThis(_ text: String, _ digest: String) {
    var out = [UInt8](repeating: 0, count: 32)
    let bytes = Array(text.utf8)
    #expect(cdigest_once(.sha256, bytes, bytes.count, &out))
    #expect(base64(out) == digest)
    #expect(page(rows).contains("sha256-\(digest)") && page(rows).contains(">\(text)<"))
  }

  @Test(arguments: [
    (LiveAssets.style, LiveAssets.styleDigest), (LiveAssets.script, LiveAssets.scriptDigest),
    (LiveAssets.entry, LiveAssets.entryDigest),
  ])
  func thePolicyOfLivePagesAllowsExactlyThis(_ text: String, _ digest: String) {
    var out = [UInt8](repeating: 0, count: 32)
    let bytes = Array(text.utf8)
    #expect(cdigest_once(.sha256, bytes, bytes.count, &out))
    #expect(base64(out) == digest)
    #expect(HTMLLive.policy.contains("'sha256-\(digest)'") && !HTMLLive.policy.contains("unsafe"))
    #expect((livePage(rows) + HTMLLive.entry("")).contains(">\(text)<"))
  }

  private func livePage(_ rows: [Row]) -> String {
    let header = ReportHeader(store: StoreIdentity(path: "/l.db"), filters: ["--path": .text("<b>")], generatedMs: 0)
    let live = HTMLLive(links: [.init("<Files>", "/\"files")], path: "/", mayControl: true, tag: "\"t\"")
    return HTMLReport.render(Self.form.report(rows), header, live: live)
  }

  /// What is seen live is what is exported, but for the refreshing and the buttons.
  @Test func aLivePageHasTheContentOfTheFile() throws {
    func main(_ html: String) throws -> Substring {
      let start = try #require(html.firstRange(of: "<main>"))
      let end = try #require(html.firstRange(of: "</main>"))
      return html[start.lowerBound..<end.upperBound]
    }
    let live = livePage(rows)
    #expect(try main(live) == main(page(rows)))
    #expect(live.contains("data-live=\"control\" data-tag=\"&quot;t&quot;\""))
    #expect(live.contains("<a href=\"/&quot;files\">&lt;Files&gt;</a>"))
    #expect(!page(rows).contains("data-live"))
  }

  @Test func neighboursOfOneStateAreOnePieceOfAStrip() {
    let states = Array(repeating: "done", count: 6000) + ["in_flight", "failed", "failed"]
    let columns: [Column<String>] = [.text("state", "State") { $0 }, .bytes("length", "Length") { _ in 10 }]
    let table = FigureTable(columns, states)
    let svg = HTMLChart.svg(table, .strip(state: "state", length: "length"))
    #expect(svg.components(of: "<rect") == 3)
    #expect(svg.contains("<title>6000 chunks done</title>") && svg.contains("<title>2 chunks failed</title>"))
    #expect(svg.contains("class=\"moving\""))
    #expect(HTMLChart.svg(FigureTable(columns, ["done"]), .strip(state: "state", length: "length")).isEmpty)
  }

  @Test func anUnfinishedFileShowsHowMuchIsThere() {
    let columns: [Column<Int64>] = [
      .bytes("bytes", "Size") { _ in 100 }, .bytes("bytes_acked", "Acked") { $0 },
    ]
    let html = HTMLTable(FigureTable(columns, [30, 100]), TableLook(), id: "t").html(budget: 10_000)
    #expect(html.components(of: "<progress") == 1 && html.contains("max=\"100\" value=\"30\""))
  }

  @Test func aChartDrawsTheFiguresOfItsTable() throws {
    let html = page(rows)
    let bars = html.split(separator: "<rect class=\"bar\"").dropFirst().map(String.init)
    #expect(bars.count == 39, "nothing is drawn for 0")
    let widths = try bars.map { bar in
      let width = try #require(bar.split(separator: "width=\"").dropFirst().first?.split(separator: "\"").first)
      return try #require(Double(width))
    }
    for (index, width) in widths.enumerated() {
      #expect(abs(width - Double(index + 1) / 39 * 460) < 0.01)
      #expect(bars[index].contains("<title>/data/\(index + 1): \(Quantity.bytes(Int64(index + 1) * 1000))</title>"))
    }
  }

  @Test func everyPlaceHasANameOfItsOwn() {
    let facts = ReportSection(nil, nil, .words("x"))
    let table = ReportSection(nil, nil, .table(FigureTable([Column<Int>.integer("n", "N") { $0 }], [1]), TableLook()))
    let report = Report(
      "transfers.test/1", [facts, table, table, ReportSection("a", "a", .object([facts, table, facts])), facts])
    let html = HTMLReport.render(report, ReportHeader(store: StoreIdentity(path: nil), generatedMs: 0))
    let ids = html.split(separator: " id=\"").dropFirst().compactMap { $0.split(separator: "\"").first }
    #expect(ids.count > 8 && Set(ids).count == ids.count, "\(ids)")
  }

  @Test func facetsCountTheRows() {
    let html = page(rows)
    #expect(html.contains("<a href=\"#files.state=done\">done <b>30</b></a>"))
    #expect(html.contains("<a href=\"#files.state=failed\">failed <b>10</b></a>"))
  }

  @Test func rowsBeyondTheBudgetAreCounted() {
    let html = page(rows, budget: 1_000)
    let shown = html.components(of: "<tr><td")
    #expect(shown > 5 && shown < 40)
    #expect(html.contains("<p class=\"rest\">\(40 - shown) rows more"))
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
