/// A report as Markdown with tables, for GitHub and GitLab (GitHub Flavored Markdown Spec 0.29, section 4.10).
package enum MarkdownReport {
  package static func render(_ report: Report) -> String {
    "# \(escaped(heading(report.schema)))\n\n" + sections(report.sections, level: 2)
  }

  private static func sections(_ sections: [ReportSection], level: Int) -> String {
    sections.map { section in
      let body = body(section.content, level)
      guard !body.isEmpty else { return "" }
      let title = section.title.map { "\(String(repeating: "#", count: min(level, 6))) \(escaped(sentence($0)))\n\n" }
      return (title ?? "") + body
    }.joined()
  }

  private static func body(_ content: ReportSection.Content, _ level: Int) -> String {
    switch content {
    case .facts(let facts, _):
      let lines = facts.compactMap { fact in fact.words.map { line(fact, $0) } }
      return lines.isEmpty ? "" : lines.joined() + "\n"
    case .table(let table, let look):
      guard !look.isForPrograms else { return "" }
      guard !table.rows.isEmpty else { return look.empty.map { escaped($0) + "\n\n" } ?? "" }
      return rows(table, look) + "\n"
    case .object(let inner): return sections(inner, level: level + 1)
    case .words(let words): return escaped(words) + "\n\n"
    case .absent, .document: return ""
    }
  }

  private static func line(_ fact: Fact, _ words: String) -> String {
    let title = fact.heading.title ?? ""
    if title.isEmpty, words.dropLast().contains("\n") { return block(words) }
    let text = escaped(words.hasSuffix("\n") ? String(words.dropLast()) : words)
    return title.isEmpty ? "\(text)\n\n" : "- **\(escaped(sentence(title)))**: \(text)\n"
  }

  /// Literal text of several lines: an indented code block, in which no character is special.
  private static func block(_ words: String) -> String {
    let lines = words.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { $0.isEmpty ? "\n" : "    \($0.replacing("\r", with: " "))\n" }.joined()
  }

  /// Header and rows.
  package static func rows(_ table: FigureTable, _ look: TableLook = TableLook(), isContinued: Bool = false) -> String {
    let shown = table.headings.indices.filter { table.headings[$0].title != nil || table.headings[$0].key == look.note }
    let titles = shown.map { table.headings[$0].title ?? sentence(table.headings[$0].key) }
    let rules = shown.map { i in
      table.headings[i].kind.isNumber || table.rows.contains { $0[i].isNumber } ? "---:" : "---"
    }
    let rows = table.rows.prefix(look.limit ?? .max).map { row in line(shown.map { escaped(row[$0].text) }) }
    return (isContinued ? "" : line(titles.map { escaped($0) }) + line(rules)) + rows.joined()
  }

  private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

  /// `report summary` of `transfers.report.summary/2`.
  private static func heading(_ schema: String) -> String {
    sentence(SchemaName.short(schema).replacing(".", with: " "))
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst().replacing("_", with: " ")
  }

  /// Escapes every character that is special in Markdown or HTML. Line ends become blanks.
  package static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": out += " "
      case "\\", "`", "*", "_", "{", "}", "[", "]", "<", ">", "#", "|", "~", "&", "!":
        out += "\\"
        out.unicodeScalars.append(scalar)
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
