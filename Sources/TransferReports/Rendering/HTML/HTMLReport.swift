/// A report as one self-contained page: readable without scripts, in light and dark, on paper and on a telephone. It
/// loads nothing, and its content security policy allows its own style and script and nothing else.
public struct HTMLReport {
  /// Maximum number of bytes for the rows of all tables of a page.
  public static let rowBudget = 900_000

  private var out = ""
  private var links: [(id: String, title: String)] = []
  private var left: Int
  private let isLive: Bool
  private var sectionCount = 0

  /// With `live`, the same page as shown by `transfers serve`.
  public static func render(
    _ report: Report, _ header: ReportHeader, live: HTMLLive? = nil, rowBudget: Int = rowBudget
  ) -> String {
    var page = HTMLReport(left: rowBudget, isLive: live != nil)
    page.append(report.sections, level: 2, path: [])
    return page.document(report, header, live)
  }

  private init(left: Int, isLive: Bool) { (self.left, self.isLive) = (left, isLive) }

  private func document(_ report: Report, _ header: ReportHeader, _ live: HTMLLive?) -> String {
    let title = "Transfers: \(SchemaName.short(report.schema).replacing(".", with: " "))"
    let filters = header.filters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
    let nav = links.map { "<a href=\"#\($0.id)\">\(HTMLText.escaped($0.title))</a>" }.joined()
    let (style, script) =
      live == nil
      ? ("", "")
      : (
        "<style>\(LiveAssets.style)</style>", "<p id=\"said\" role=\"status\"></p><script>\(LiveAssets.script)</script>"
      )
    return """
      <!doctype html>
      <html lang="en"\(live?.attributes ?? "")><head><meta charset="utf-8">\
      <meta name="viewport" content="width=device-width,initial-scale=1">
      \(live == nil ? Self.policy : "")
      <title>\(HTMLText.escaped(title))</title><style>\(HTMLAssets.style)</style>\(style)</head><body>
      <header>\(live?.navigation ?? "")<h1>\(HTMLText.escaped(title))</h1>
      <p>\(HTMLText.escaped(header.store.path.text)) · \(HTMLText.cell(.time(header.generatedMs)))\
      \(filters.isEmpty ? "" : " · only " + HTMLText.escaped(filters))</p>\(header.checks.html)<nav class="parts">\(nav)</nav></header>
      <main>\(out)</main><script>\(HTMLAssets.script)</script>\(script)</body></html>

      """
  }

  /// For a page in a file; a live one has its policy in the answer's header.
  private static let policy = """
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-\(HTMLAssets.styleDigest)'; \
    script-src 'sha256-\(HTMLAssets.scriptDigest)'; base-uri 'none'; form-action 'none'"><meta name="referrer" content="no-referrer">
    """

  private mutating func append(_ sections: [ReportSection], level: Int, path: [String]) {
    for section in Self.joined(sections) {
      let path = path + (section.key.map { [$0] } ?? [])
      sectionCount += 1
      let id = section.key == nil ? (path + ["\(sectionCount)"]).joined(separator: "-") : path.joined(separator: "-")
      let before = out
      out = ""
      body(section.content, level: level, path: path, id: id)
      guard !out.isEmpty else {
        out = before
        continue
      }
      var heading = ""
      if let title = section.title {
        let name = Self.capitalised(title)
        heading = "<h\(level)>\(HTMLText.escaped(name))</h\(level)>"
        if level == 2 { links.append((id: "section-" + id, title: name)) }
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

  private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  private mutating func body(_ content: ReportSection.Content, level: Int, path: [String], id: String) {
    switch content {
    case .facts(let facts, _): out += Self.facts(facts)
    case .table(let table, let look):
      guard !look.isForPrograms else { return }
      guard !table.rows.isEmpty else {
        out += look.empty.map { "<p>\(HTMLText.escaped($0))</p>" } ?? ""
        return
      }
      let rows = HTMLTable(table, look, id: id).html(budget: left, packs: !isLive)
      left = max(0, left - rows.utf8.count)
      out += HTMLChart.svg(table, look.chart) + rows
    case .object(let sections): append(sections, level: min(level + 1, 6), path: path)
    case .words(let words): out += "<p>\(HTMLText.escaped(words))</p>"
    case .document, .absent: break
    }
  }

  private static func facts(_ facts: [Fact]) -> String {
    var (list, charts) = ("", "")
    for fact in facts {
      guard let words = fact.words, let title = fact.heading.title else { continue }
      let tone = fact.tone.map { " class=\"\($0)\"" } ?? ""
      list += "<div><dt>\(HTMLText.escaped(capitalised(title)))</dt><dd\(tone)>\(HTMLText.escaped(words))</dd></div>"
      guard case .counts(let counts) = fact.cell, counts.count > 1 else { continue }
      let parts = counts.sorted { $0.key < $1.key }.map { (name: $0.key, text: "\($0.value)", value: Double($0.value)) }
      charts += "<h3>\(HTMLText.escaped(capitalised(title)))</h3>" + HTMLChart.stack(title, parts)
    }
    return (list.isEmpty ? "" : "<dl>\(list)</dl>") + charts
  }
}
