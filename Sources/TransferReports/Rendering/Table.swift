/// Rows of figures as aligned text: numbers to the right, names shortened in the middle if the terminal is narrow. If a
/// row does not fit even then, each row is a block with a line for each figure.
/// One `Table` may print several pages; columns keep the width that earlier pages needed.
package struct Table {
  private let style: TextStyle
  private let indent: String
  private let look: TableLook
  private var widths: [Int] = []
  /// Once rows have been printed in one layout, later pages use it too.
  private var isFolded: Bool?

  package init(_ style: TextStyle, indent: Int = 0, _ look: TableLook = TableLook()) {
    self.style = style
    self.indent = String(repeating: " ", count: indent)
    self.look = look
  }

  /// Headings (unless `isContinued`) and rows, a newline after each.
  package mutating func page(_ table: FigureTable, isContinued: Bool = false) -> String {
    let page = Page(table, look, style)
    widen(page)
    let (layout, fits) = layout(page)
    let folds = isFolded ?? !fits
    isFolded = folds
    if folds { return blocks(page, isContinued: isContinued) }
    var out = isContinued ? "" : style.paint(line(page.titles, layout), .bold) + "\n"
    for row in page.texts.indices {
      out += line(page.texts[row], layout, tones: page.tones[row]) + "\n"
      if let note = page.notes[row] { out += "\(indent)  \(style.arrow) \(note)\n" }
    }
    return out
  }

  private struct ColumnLayout {
    var width: Int
    var alignsRight: Bool
    var isName: Bool
  }

  private mutating func widen(_ page: Page) {
    if widths.isEmpty { widths = page.titles.map { DisplayWidth.of($0) } }
    for row in page.texts {
      for (column, text) in row.enumerated() { widths[column] = max(widths[column], DisplayWidth.of(text)) }
    }
  }

  // MARK: - Lines

  /// Also determines whether rows fit into the terminal.
  private func layout(_ page: Page) -> ([ColumnLayout], fits: Bool) {
    let natural = widths.indices.map { i in
      ColumnLayout(width: widths[i], alignsRight: page.alignsRight[i], isName: page.isName[i])
    }
    guard let columns = style.columns else { return (natural, true) }
    return fitted(natural, to: columns)
  }

  /// Reduces the widest name columns, down to ``leastName`` each.
  private func fitted(_ natural: [ColumnLayout], to columns: Int) -> ([ColumnLayout], fits: Bool) {
    var layout = natural
    var excess = layout.map(\.width).reduce(indent.count + 2 * (layout.count - 1), +) - columns
    while excess > 0 {
      let names = layout.indices.filter { layout[$0].isName && layout[$0].width > Self.leastName }
      guard let widest = names.map({ layout[$0].width }).max() else { break }
      let same = names.filter { layout[$0].width == widest }
      let next = names.map { layout[$0].width }.filter { $0 < widest }.max() ?? Self.leastName
      // Narrows all of them equally, down to the next width; the last columns lose one more if that does not divide.
      let each = min(widest - next, excess / same.count)
      for i in same { layout[i].width -= each }
      excess -= each * same.count
      guard each == 0 else { continue }
      for i in same.suffix(excess) { layout[i].width -= 1 }
      excess = 0
    }
    return (layout, excess <= 0)
  }

  /// The width to which name columns may be reduced, in terminal columns.
  private static let leastName = 12

  private func line(_ texts: [String], _ layout: [ColumnLayout], tones: [Tone?] = []) -> String {
    var cells = zip(texts, layout).map { text, column in
      DisplayWidth.pad(
        DisplayWidth.cutMiddle(text, to: column.width, mark: style.cut), to: column.width,
        alignsRight: column.alignsRight)
    }
    if let last = cells.indices.last, !layout[last].alignsRight {
      cells[last] = DisplayWidth.cutMiddle(texts[last], to: layout[last].width, mark: style.cut)
    }
    for (i, tone) in tones.enumerated() { cells[i] = style.paint(cells[i], tone) }
    while let last = cells.last, cells.count > 1, last.isEmpty { cells.removeLast() }
    return indent + cells.joined(separator: "  ")
  }

  // MARK: - Blocks

  /// Unknown figures are omitted.
  private func blocks(_ page: Page, isContinued: Bool) -> String {
    let width = page.titles.map { DisplayWidth.of($0) }.max() ?? 0
    let blocks = page.texts.indices.map { row in
      let known = page.titles.indices.filter { page.texts[row][$0] != "-" && !page.texts[row][$0].isEmpty }
      let lines = known.map { i in
        let label = DisplayWidth.pad(page.titles[i], to: width, alignsRight: false)
        return "\(indent)\(label)  \(style.paint(page.texts[row][i], page.tones[row][i]))\n"
      }
      return lines.joined() + (page.notes[row].map { "\(indent)\(style.arrow) \($0)\n" } ?? "")
    }
    return (isContinued ? "\n" : "") + blocks.joined(separator: "\n")
  }
}

/// The displayed columns of a table, as text.
private struct Page {
  let titles: [String]
  let texts: [[String]]
  let tones: [[Tone?]]
  let notes: [String?]
  let alignsRight: [Bool]
  let isName: [Bool]

  init(_ table: FigureTable, _ look: TableLook, _ style: TextStyle) {
    let shown = table.headings.indices.filter { table.headings[$0].title != nil && table.headings[$0].key != look.note }
    let bars = ChartText.bars(table, look.chart, style)
    let note = look.note.flatMap(table.index)
    titles = shown.map { table.headings[$0].title ?? "" } + (bars == nil ? [] : [""])
    texts = table.rows.enumerated().map { index, row in shown.map { row[$0].text } + (bars.map { [$0[index]] } ?? []) }
    tones = table.rows.map { row in
      shown.map { TextStyle.tone(of: table.headings[$0].key, row[$0]) } + (bars == nil ? [] : [nil])
    }
    notes = table.rows.map { row in note.flatMap { row[$0].isUnknown ? nil : row[$0].text } }
    // Columns of a user's query have no kind.
    alignsRight =
      shown.map { i in table.headings[i].kind.isNumber || table.rows.contains { $0[i].isNumber } }
      + (bars == nil ? [] : [false])
    isName =
      shown.map { i in table.headings[i].isName || table.rows.contains { $0[i].isName } } + (bars == nil ? [] : [false])
  }
}
