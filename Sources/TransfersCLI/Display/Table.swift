import TransferReports

/// Rows of figures as aligned text: numbers to the right, names cut in the middle when the terminal is narrow.
/// One `Table` may print several pages; columns keep the width that earlier pages needed.
struct Table {
  private let style: TextStyle
  private let indent: String
  private var widths: [Int] = []

  init(_ style: TextStyle, indent: Int = 0) {
    self.style = style
    self.indent = String(repeating: " ", count: indent)
  }

  /// Headings (unless `isContinued`) and rows, a newline after each.
  mutating func page(_ table: FigureTable, isContinued: Bool = false) -> String {
    let headings = table.headings.indices.filter { table.headings[$0].title != nil }
    let cells = table.rows.map { row in headings.map { row[$0] } }
    let texts = cells.map { $0.map(\.text) }
    let titles = headings.map { table.headings[$0].title ?? "" }
    widen(titles, texts)
    let layout = layout(headings.map { table.headings[$0].key }, cells)
    var out = isContinued ? "" : style.paint(line(titles, layout), .bold) + "\n"
    for row in texts { out += line(row, layout, paintsState: true) + "\n" }
    return out
  }

  private struct ColumnLayout {
    var width: Int
    var alignsRight: Bool
    var isName: Bool
    var isState: Bool
  }

  private mutating func widen(_ titles: [String], _ rows: [[String]]) {
    if widths.isEmpty { widths = titles.map { DisplayWidth.of($0) } }
    for row in rows {
      for (column, text) in row.enumerated() { widths[column] = max(widths[column], DisplayWidth.of(text)) }
    }
  }

  private func layout(_ keys: [String], _ cells: [[Cell]]) -> [ColumnLayout] {
    let natural = keys.indices.map { i in
      ColumnLayout(
        width: widths[i], alignsRight: cells.contains { $0[i].isNumber }, isName: cells.contains { $0[i].isName },
        isState: keys[i] == "state" || keys[i] == "outcome")
    }
    return style.columns.map { fitted(natural, to: $0) } ?? natural
  }

  /// Takes what is too much from the widest name columns, down to 12 columns each.
  private func fitted(_ natural: [ColumnLayout], to columns: Int) -> [ColumnLayout] {
    var layout = natural
    var excess = layout.map(\.width).reduce(indent.count + 2 * (layout.count - 1), +) - columns
    while excess > 0 {
      let names = layout.indices.filter { layout[$0].isName && layout[$0].width > 12 }
      guard let widest = names.max(by: { layout[$0].width < layout[$1].width }) else { break }
      layout[widest].width -= 1
      excess -= 1
    }
    return layout
  }

  private func line(_ texts: [String], _ layout: [ColumnLayout], paintsState: Bool = false) -> String {
    var cells = zip(texts, layout).map { text, column in
      DisplayWidth.pad(
        DisplayWidth.cutMiddle(text, to: column.width, mark: style.cut), to: column.width,
        alignsRight: column.alignsRight)
    }
    if let last = cells.indices.last, !layout[last].alignsRight {
      cells[last] = DisplayWidth.cutMiddle(texts[last], to: layout[last].width, mark: style.cut)
    }
    if paintsState {
      for i in cells.indices where layout[i].isState {
        if let colour = TextStyle.colour(ofState: texts[i]) { cells[i] = style.paint(cells[i], colour) }
      }
    }
    return indent + cells.joined(separator: "  ")
  }
}
