/// A report as text for people.
package struct TextReport {
  private let style: TextStyle
  private var out = ""

  package static func render(_ report: Report, _ style: TextStyle) -> String {
    var text = TextReport(style: style)
    text.append(report.sections, indent: 0)
    return text.out
  }

  private init(style: TextStyle) { self.style = style }

  private mutating func append(_ sections: [ReportSection], indent: Int) {
    // Sections without a heading are shown as one: their figures share a column.
    let width = sections.filter { $0.title == nil }.map { Self.labelWidth($0.content) }.max() ?? 0
    for section in sections {
      let isNested = section.title != nil
      let body = body(
        section.content, indent: isNested ? indent + 2 : indent,
        labelWidth: isNested ? Self.labelWidth(section.content) : width)
      guard !body.isEmpty else { continue }
      if let title = section.title { out += margin(indent) + style.paint(title, .bold) + "\n" }
      out += body
    }
  }

  private func body(_ content: ReportSection.Content, indent: Int, labelWidth: Int) -> String {
    switch content {
    case .facts(let facts, .lines): return lines(facts, indent, labelWidth)
    case .facts(let facts, .headline(let count)):
      let head = words(facts.prefix(count)).joined(separator: " ")
      let rest = words(facts.dropFirst(count)).joined(separator: style.dot)
      return margin(indent) + [head, rest].filter { !$0.isEmpty }.joined(separator: ": ") + "\n"
    case .table(let table, let look): return rows(table, look, indent)
    case .object(let sections):
      var inner = TextReport(style: style)
      inner.append(sections, indent: indent)
      return inner.out
    case .words(let words): return margin(indent) + words + (words.hasSuffix("\n") ? "" : "\n")
    case .absent, .document: return ""
    }
  }

  private static func labelWidth(_ content: ReportSection.Content) -> Int {
    guard case .facts(let facts, .lines) = content else { return 0 }
    return facts.compactMap { fact in fact.words.map { _ in DisplayWidth.of(fact.heading.title ?? "") } }.max() ?? 0
  }

  /// Titles have a column of their own; a sentence has no title.
  private func lines(_ facts: [Fact], _ indent: Int, _ labelWidth: Int) -> String {
    facts.compactMap { fact in
      guard let words = fact.words else { return nil }
      let title = fact.heading.title ?? ""
      let label = title.isEmpty ? "" : DisplayWidth.pad(title, to: labelWidth, alignsRight: false) + "  "
      let end = words.hasSuffix("\n") ? "" : "\n"
      // Names stay unchanged.
      let shown = style.isASCII && fact.heading.kind != .name ? words.replacing("×", with: style.times) : words
      return margin(indent) + label + style.paint(shown, fact.tone) + end
    }.joined()
  }

  private func words(_ facts: ArraySlice<Fact>) -> [String] {
    facts.compactMap { fact in fact.words.map { style.paint($0, fact.tone) } }
  }

  private func rows(_ table: FigureTable, _ look: TableLook, _ indent: Int) -> String {
    guard !look.isForPrograms else { return "" }
    guard !table.rows.isEmpty else { return look.empty.map { margin(indent) + $0 + "\n" } ?? "" }
    var text = Table(style, indent: indent, look)
    let shown = look.limit.map { FigureTable(table.headings, Array(table.rows.prefix($0))) } ?? table
    return text.page(shown) + ChartText.lines(table, look.chart, style).map { margin(indent) + $0 + "\n" }.joined()
  }

  private func margin(_ indent: Int) -> String { String(repeating: " ", count: indent) }
}
