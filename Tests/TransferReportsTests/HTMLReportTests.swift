import CDigest
import FoundationEssentials
import Glibc
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

  /// `show` titles its figures with their keys.
  @Test func figuresOfARowHaveWords() {
    let columns: [Column<Int64>] = [
      .bytes("bytes_unacked_at_most") { $0 }, .duration("wall_ms") { $0 }, .rate("bps") { $0 },
      .rate("goodput_active_bps") { $0 }, .integer("attempts", "tries_of_all") { $0 },
    ]
    let form = ReportForm<Int64>("transfers.test/1", [.facts(Array(columns.prefix(4)).labelled() + [columns[4]])])
    let html = HTMLReport.render(form.report(7), ReportHeader(store: StoreIdentity(path: "/l.db"), generatedMs: 0))
    for title in ["Bytes unacked at most", "Wall", "Rate", "Goodput active", "Tries_of_all"] {
      #expect(html.contains("<dt>\(title)</dt>"), "\(title)")
    }
  }

  /// Names and texts from servers cannot be trusted.
  @Test(arguments: [
    "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "' x='", "a&lt;b", "</title></style></script><img src=x>",
    "x\u{202E}gpj.exe", "]]>", "<!--",
  ])
  func aNameIsText(_ name: String) {
    let html = page([Row(name: NameBytes(name), state: name, size: 1), Row(name: NameBytes("b"), state: "x", size: 2)])
    for tag in ["<script>", "<img", "<!--", "onmouseover=\"", "\u{202E}", "' x='"] {
      #expect(html.components(of: tag) == (tag == "<script>" ? 1 : 0), "\(tag)")
    }
    #expect(html.contains("&lt;b&gt;"), "filters are escaped, too")
  }

  @Test func aPageLoadsNothing() {
    let html = page(rows)
    for reference in ["http:", "https:", "src=", "@import", "url(", "<link", "<form", "style=\""] {
      #expect(!html.contains(reference), "\(reference)")
    }
    #expect(html.contains("default-src 'none'"))
  }

  /// A browser compares these digests with the style and script in the page.
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

  private func livePage(_ rows: [Row], budget: Int = HTMLReport.rowBudget) -> String {
    let header = ReportHeader(store: StoreIdentity(path: "/l.db"), filters: ["--path": .text("<b>")], generatedMs: 0)
    let live = HTMLLive(links: [.init("<Files>", "/\"files")], path: "/", mayControl: true, tag: "\"t\"")
    return HTMLReport.render(Self.form.report(rows), header, live: live, rowBudget: budget)
  }

  /// The live page has the same content as the exported file, except for refreshing and the buttons.
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
    let html = HTMLTable(FigureTable(columns, [30, 100]), TableLook(), id: "t").written(
      budget: 10_000, packs: false
    ).html
    #expect(html.components(of: "<svg class=\"meter\"") == 1 && html.contains("aria-label=\"30 % acknowledged\""))
    #expect(html.contains("<rect class=\"bar\" x=\"0\" width=\"30\"") && !html.contains("class=\"out\""))
  }

  @Test func whatIsInFlightHasAToneOfItsOwn() {
    let columns: [Column<Int64>] = [
      .bytes("bytes", "Size") { _ in 100 }, .bytes("bytes_acked", "Acked") { $0 },
      .bytes("bytes_in_flight", "In flight") { _ in 50 },
    ]
    let html = HTMLTable(FigureTable(columns, [0, 30, 70, 100]), TableLook(), id: "t").written(
      budget: 10_000, packs: false
    ).html
    #expect(html.components(of: "<svg class=\"meter\"") == 3)
    #expect(html.contains("aria-label=\"30 % acknowledged, 50 % in flight\""))
    #expect(html.contains("<rect class=\"out\" x=\"30\" width=\"50\"") && html.contains("x=\"0\" width=\"30\""))
    #expect(html.contains("<rect class=\"out\" x=\"70\" width=\"30\""), "never more than 100 %")
  }

  @Test func aBarOfARowIsMadeOfItsParts() {
    let columns: [Column<Int64>] = [
      .text("id", "File") { "f\($0)" }, .duration("down_ms") { $0 * 1000 }, .duration("send_ms") { _ in 1000 },
      .duration("verify_ms") { _ in 0 },
    ]
    let table = FigureTable(columns, [1, 3])
    let svg = HTMLChart.svg(table, .stacks(name: "id", parts: ["down_ms", "send_ms", "verify_ms"]))
    #expect(svg.components(of: "<rect") == 4)
    #expect(svg.contains("<title>f3: down 3.0 s</title>") && svg.contains("<title>f1: send 1.0 s</title>"))
    #expect(svg.contains("x=\"70\" y=\"24\" width=\"487.5\"") && svg.contains("x=\"70\" y=\"2\" width=\"162.5\""))
    #expect(!svg.contains("verify"), "no legend for parts that did not occur")
  }

  /// It is stretched to the width of the screen, so its words are beside it.
  @Test func aChartOverTimeFitsANarrowScreen() {
    let columns: [Column<Int64>] = [.integer("day", "Day") { $0 }, .bytes("bytes", "Size") { $0 * 1024 }]
    let svg = HTMLChart.svg(FigureTable(columns, [1, 2, 4]), .series(x: "day", y: "bytes"))
    #expect(svg.contains(" class=\"stretch tall\" preserveAspectRatio=\"none\"") && !svg.contains("<text"))
    #expect(svg.contains("<p class=\"ends\"><span>at most 4.0 KiB</span></p>"))
    #expect(svg.contains("<p class=\"ends\"><span>1</span><span>4</span></p>"))
    #expect(svg.contains("y=\"80\" width=\"48\" height=\"80\"><title>2: 2.0 KiB</title>"), "half of the highest")
  }

  /// Two parts of one cause would have the same words and colour.
  @Test func partsOfOneNameAreDistinguishedByTheirOtherLabels() {
    let columns: [Column<String?>] = [
      .text("cause", "Cause") { $0 == nil ? "replaced" : "failed" }.label(), .text("error", "Error") { $0 }.label(),
      .text("note", "Note") { _ in "no label" }, .bytes("bytes", "Bytes") { _ in 1 },
    ]
    func svg(_ rows: [String?]) -> String {
      HTMLChart.svg(FigureTable(columns, rows), .parts(name: "cause", value: "bytes"))
    }
    let several = svg(["net.reset", "http.503", nil])
    #expect(several.contains("<title>failed net.reset: 1 B</title>"))
    #expect(several.contains(">failed http.503 <b>1 B</b></li>") && several.contains(">replaced <b>1 B</b></li>"))
    #expect(svg(["net.reset", nil]).contains(">failed <b>1 B</b></li>"))
  }

  @Test func eachRowHasAMapOfItsChunks() {
    let columns: [Column<String>] = [.text("id", "File") { _ in "f1" }, .text("map") { $0 }]
    let table = FigureTable(columns, ["##>>..!", "#"])
    let svg = HTMLChart.svg(table, .maps(name: "id", map: "map"))
    #expect(svg.components(of: "<rect") == 4, "a single chunk has no map")
    for words in ["2 chunks done", "2 chunks in flight", "2 chunks pending", "1 chunk failed"] {
      #expect(svg.contains("<title>f1: \(words)</title>"), "\(words)")
    }
  }

  /// Source: WCAG 2.2, 1.4.3 (text, 4.5), 1.4.11 (parts of graphics, 3), and its definition of relative luminance.
  @Test(arguments: [0, 1])
  func everyColourCanBeTold(_ scheme: Int) throws {
    let blocks = HTMLAssets.style.split(separator: ":root{").map { $0.prefix { $0 != "}" } }
    let colours = try [blocks[0], blocks[scheme]].reduce(into: [String: Double]()) { all, block in
      for match in block.matches(of: /--([a-z0-9]+):#([0-9a-f]+)/) {
        all[String(match.1)] = try luminance(String(match.2))
      }
    }
    func contrast(_ a: String, _ b: String) throws -> Double {
      let pair = [try #require(colours[a]), try #require(colours[b])].sorted()
      return (pair[1] + 0.05) / (pair[0] + 0.05)
    }
    for text in ["text", "muted", "accent", "good", "bad", "caution"] {
      for ground in ["bg", "card"] { #expect(try contrast(text, ground) >= 4.5, "\(text) on \(ground)") }
    }
    for shape in ["accent", "good", "bad", "caution"] + (0..<HTMLChart.tints).map({ "p\($0)" }) {
      #expect(try contrast(shape, "bg") >= 3, "\(shape)")
    }
  }

  private func luminance(_ hex: String) throws -> Double {
    let digits = hex.count == 3 ? hex.map { "\($0)\($0)" }.joined() : hex
    let number = try #require(Int(digits, radix: 16))
    let parts = [number >> 16, number >> 8 & 255, number & 255].map { part -> Double in
      let share = Double(part) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
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

  @Test func countsHaveOneChartThatFitsANarrowScreen() {
    let counts = Self.form.report(rows).sections[0]
    let report = Report("transfers.test/1", [ReportSection("now", "now", .object([counts])), counts])
    let html = HTMLReport.render(report, ReportHeader(store: StoreIdentity(path: nil), generatedMs: 0))
    #expect(html.components(of: "<dt>States</dt>") == 2 && html.components(of: "<h3>States</h3>") == 1)
    #expect(html.components(of: "<svg role=\"img\" class=\"stretch\" preserveAspectRatio=\"none\"") == 1)
  }

  @Test func facetsCountTheRows() {
    let html = page(rows)
    #expect(html.contains("<a href=\"#files.state=done\">done <b>30</b></a>"))
    #expect(html.contains("<a href=\"#files.state=failed\">failed <b>10</b></a>"))
  }

  @Test func rowsBeyondTheBudgetAreCounted() throws {
    let html = page(rows, budget: 700)
    let shown = html.components(of: "<tr><td")
    let packed = try Self.packed(html).count
    #expect(shown > 1 && packed > 5 && shown + packed < 40)
    #expect(html.contains("<noscript><p class=\"rest\">\(packed) more rows need scripts"))
    #expect(html.contains("<p class=\"rest\">\(40 - shown - packed) more rows are omitted"))
  }

  /// The script unpacks the packed rows to the rows that a page without limits shows.
  @Test func packedRowsAreTheRows() throws {
    let odd = [
      "a", "a", "<script>alert(1)</script>", "</script><!--", "prefix-1\u{301}", "prefix-1", "prefix-\u{202E}2", "0",
    ]
    let rows = rows + odd.map { Row(name: NameBytes($0), state: "2000", size: 2_000) }
    let html = page(rows, budget: 3_000)
    let shown = html.components(of: "<tr><td")
    #expect(shown > 1 && !html.contains("omitted") && html.components(of: "</script>") == 2)
    let texts = try Self.packed(html)
    #expect(texts.count == rows.count - shown)
    for (row, cells) in zip(rows[shown...], texts) {
      let name = HTMLText.harmless(Cell.name(row.name).text)
      #expect(cells == [name, row.state, Cell.bytes(row.size).text], "\(row.name)")
    }
    #expect(!livePage(rows, budget: 3_000).contains("data-of=\"files\""), "a live page replaces rows individually")
  }

  /// The texts of each row, unpacked as the script does it.
  private static func packed(_ html: String) throws -> [[String]] {
    let opening = "data-of=\"files\">"
    guard let start = html.firstRange(of: opening), let end = html[start.upperBound...].firstRange(of: "</script>")
    else {
      return []
    }
    let rows = try JSONDecoder().decode([[Packed]].self, from: Data(html[start.upperBound..<end.lowerBound].utf8))
    var above: [String] = []
    return rows.map { row in
      var texts: [String] = []
      for cell in row { texts += Self.texts(cell, above: above, before: texts) }
      above = texts
      return texts
    }
  }

  /// The texts that a packed cell stands for.
  private static func texts(_ cell: Packed, above: [String], before: [String]) -> [String] {
    let index = before.count
    switch cell {
    case .number(let repeats) where repeats < 0: return Array(above[index..<index - repeats])
    case .number(0): return [above[index]]
    case .number(2):
      let digits = above[index].reversed().prefix { $0.isNumber }.count
      return ["\(above[index].dropLast(digits))\((Int(above[index].suffix(digits)) ?? 0) + 1)"]
    case .number: return [before[index - 1]]
    case .text(let text): return [text]
    case .parts(let parts):
      switch (parts[0], parts.count > 1 ? parts[1] : .none) {
      case (.number(let count), .text(let rest)):
        return [String(decoding: above[index].utf8.prefix(count), as: UTF8.self) + rest]
      // Only the column of sizes has figures of this kind.
      case (.number(let number), _): return [Quantity.bytes(Int64(number))]
      case (.text(let text), _): return [text]
      default: break
      }
    case .none: break
    }
    Issue.record("\(cell)")
    return []
  }

  private enum Packed: Decodable {
    case none, number(Int), text(String), parts([Packed])

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .none
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let number = try? value.decode(Int.self) {
        self = .number(number)
      } else {
        self = .parts(try value.decode([Packed].self))
      }
    }
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
