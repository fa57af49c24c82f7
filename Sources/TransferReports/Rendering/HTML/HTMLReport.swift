/// A report as one self-contained page: readable without scripts, in light and dark, on paper and on a telephone. It
/// loads nothing, and its content security policy allows its own style and script and nothing else.
package struct HTMLReport: Sendable {
  /// Maximum number of bytes for the rows of all tables of a page.
  package static let rowBudget = 900_000

  private var out = ""
  private var parts: [(id: String, title: String)] = []
  private var left: Int
  private let isLive: Bool
  private let links: HTMLPageLinks?
  private var continuing: String?
  private(set) var longTables: [HTMLLongTable] = []
  private var sectionCount = 0
  /// The keys of counts that the page has a chart of.
  private var charted: Set<String> = []

  /// One page, without further pages. With `live`, the same page as shown by `transfers serve`.
  package static func render(
    _ report: Report, _ header: ReportHeader, live: HTMLLive? = nil, rowBudget: Int = rowBudget
  ) -> String {
    var pages = HTMLPages(header, live: live, links: nil, rowBudget: rowBudget)
    _ = pages.begin(report)
    return pages.end().first
  }

  init(left: Int, isLive: Bool, links: HTMLPageLinks?) {
    (self.left, self.isLive, self.links) = (left, isLive, links)
  }

  mutating func append(_ report: Report, continuing: String?) {
    self.continuing = continuing
    append(report.sections, level: 2, path: [], title: nil)
  }

  static func title(_ schema: String) -> String {
    "Transfers: \(SchemaName.short(schema).replacing(".", with: " "))"
  }

  /// The first page. `tables` are the long ones, with what is on further pages.
  func document(
    _ schema: String, _ header: ReportHeader, _ live: HTMLLive?, words: String?, _ tables: [HTMLLongTable]
  ) -> String {
    let nav = parts.map { "<a href=\"#\($0.id)\">\(HTMLText.escaped($0.title))</a>" }.joined()
    // Every second piece is the place of a remark.
    let pieces = out.utf8.split(separator: 0, omittingEmptySubsequences: false).map { String(Substring($0)) }
    var body = pieces.enumerated().map { index, piece in
      index % 2 == 0 ? piece : tables.first { $0.id == piece }?.remark(links, isLive: isLive) ?? ""
    }.joined()
    if let words { body = "<section id=\"section-0\"><p>\(HTMLText.escaped(words))</p></section>\n" + body }
    return Self.document(body, Self.title(schema), nav, header, live)
  }

  /// The frame of every page; `page` is the number of a further one.
  static func document(
    _ body: String, _ title: String, _ nav: String, _ header: ReportHeader, _ live: HTMLLive?, page: Int? = nil
  ) -> String {
    let filters = header.filters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
    let (style, script) =
      live == nil
      ? ("", "")
      : (
        "<style>\(LiveAssets.style)</style>", "<p id=\"said\" role=\"status\"></p><script>\(LiveAssets.script)</script>"
      )
    return """
      \(page.map { "\(HTMLPages.mark)\($0)\"" } ?? HTMLPages.opening)\(live?.attributes ?? "")><head><meta charset="utf-8">\
      <meta name="viewport" content="width=device-width,initial-scale=1">
      \(live == nil ? policy : "")
      <title>\(HTMLText.escaped(title))</title><style>\(HTMLAssets.style)</style>\(style)</head><body>
      <header>\(live?.navigation ?? "")<h1>\(HTMLText.escaped(title))</h1>
      <p>\(HTMLText.escaped(header.store.path.text)) · \(HTMLText.cell(.time(header.generatedMs)))\
      \(filters.isEmpty ? "" : " · only " + HTMLText.escaped(filters))</p>\(header.checks.html)<nav class="parts">\(nav)</nav></header>
      <main>\(body)</main><script>\(HTMLAssets.script)</script>\(script)</body></html>

      """
  }

  /// For a page in a file; a live one has its policy in the answer's header.
  private static let policy = """
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-\(HTMLAssets.styleDigest)'; \
    script-src 'sha256-\(HTMLAssets.scriptDigest)'; base-uri 'none'; form-action 'none'"><meta name="referrer" content="no-referrer">
    """

  private mutating func append(_ sections: [ReportSection], level: Int, path: [String], title: String?) {
    for section in Self.joined(sections) {
      let path = path + (section.key.map { [$0] } ?? [])
      sectionCount += 1
      let id = section.key == nil ? (path + ["\(sectionCount)"]).joined(separator: "-") : path.joined(separator: "-")
      let before = out
      out = ""
      body(section.content, level: level, path: path, id: id, title: section.title ?? title)
      guard !out.isEmpty else {
        out = before
        continue
      }
      var heading = ""
      if let title = section.title {
        let name = Self.capitalised(title)
        heading = "<h\(level)>\(HTMLText.escaped(name))</h\(level)>"
        if level == 2 { parts.append((id: "section-" + id, title: name)) }
      }
      out = before + "<section id=\"section-\(id)\">\(heading)\(out)</section>\n"
    }
  }

  /// Consecutive figures without a heading are laid out in one grid.
  private static func joined(_ sections: [ReportSection]) -> [ReportSection] {
    var joined: [ReportSection] = []
    for section in sections {
      if section.title == nil, case .facts(let facts, _) = section.content, let last = joined.last, last.title == nil,
        case .facts(let before, let layout) = last.content
      {
        joined[joined.count - 1] = ReportSection(last.key, nil, .facts(before + facts, layout))
      } else {
        joined.append(section)
      }
    }
    return joined
  }

  static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  private mutating func body(
    _ content: ReportSection.Content, level: Int, path: [String], id: String, title: String?
  ) {
    switch content {
    case .facts(let facts, _):
      let figures = self.facts(facts)
      out += figures
    case .table(let table, let look):
      guard !look.isForPrograms else { return }
      guard !table.rows.isEmpty else {
        out += look.empty.map { "<p>\(HTMLText.escaped($0))</p>" } ?? ""
        return
      }
      let rows = rows(HTMLTable(table, look, id: id), table.rows, title)
      out += HTMLChart.svg(table, look.chart) + rows
    case .object(let sections): append(sections, level: min(level + 1, 6), path: path, title: title)
    case .words(let words): out += "<p>\(HTMLText.escaped(words))</p>"
    case .document, .absent: break
    }
  }

  /// The rows that fit; the others are omitted, or on further pages.
  private mutating func rows(_ table: HTMLTable, _ all: [[Cell]], _ title: String?) -> String {
    let written = table.written(budget: left, rows: links?.rowsPerPage ?? .max, packs: !isLive, hasPages: links != nil)
    left = max(0, left - written.html.utf8.count)
    let shown = written.count + written.packed
    guard table.id == continuing || (links == nil ? shown : written.count) < all.count else { return written.html }
    let long = HTMLLongTable(
      table.id, title, table, rowsOnFirstPage: written.count, rowsWithScripts: shown,
      rest: links == nil ? [] : all[written.count...], omitted: all.count - shown, whole: table.whole(isLive: isLive))
    longTables.append(long)
    return written.html + long.place
  }

  /// The same counts may be in several parts of a page; they have one chart.
  private mutating func facts(_ facts: [Fact]) -> String {
    var (list, charts) = ("", "")
    for fact in facts {
      guard let words = fact.words, let title = Self.title(fact.heading) else { continue }
      let tone = fact.tone.map { " class=\"\($0)\"" } ?? ""
      list += "<div><dt>\(HTMLText.escaped(title))</dt><dd\(tone)>\(HTMLText.escaped(words))</dd></div>"
      guard case .counts(let counts) = fact.cell, counts.count > 1, charted.insert(fact.heading.key).inserted else {
        continue
      }
      let parts = counts.sorted { $0.key < $1.key }.map { (name: $0.key, text: "\($0.value)", value: Double($0.value)) }
      charts += "<h3>\(HTMLText.escaped(title))</h3>" + HTMLChart.stack(title, parts)
    }
    return (list.isEmpty ? "" : "<dl>\(list)</dl>") + charts
  }

  /// A figure that is titled with its key for the sake of `--columns` has words here, without the unit, which is beside
  /// its value.
  private static func title(_ heading: FigureHeading) -> String? {
    guard let title = heading.title, title == heading.key else { return heading.title.map(capitalised) }
    if title == "bps" { return "Rate" }
    let unit = ["_ms", "_bps"].first { title.hasSuffix($0) } ?? ""
    return capitalised(String(title.dropLast(unit.count)).replacing("_", with: " "))
  }
}
