import TransferModel

/// A table of figures as HTML, with the attributes that a script needs to sort and filter it. Optional end tags are
/// omitted: a page of 10,000 files is to stay below 1 MB (HTML Living Standard, section 13.1.2.4).
struct HTMLTable {
  private let table: FigureTable
  private let look: TableLook
  let id: String
  private let shown: [Int]
  private let note: Int?

  init(_ table: FigureTable, _ look: TableLook, id: String) {
    (self.table, self.look, self.id) = (table, look, id)
    note = look.note.flatMap(table.index)
    shown = table.headings.indices.filter { [note] in table.headings[$0].title != nil && $0 != note }
  }

  /// A table on a page: the number of its rows, and how many more a script shows.
  struct Written {
    var html: String
    var count, packed: Int
  }

  /// The first rows. Those that do not fit into `budget` bytes are packed for the script, if the page allows that.
  func written(budget: Int, rows limit: Int = .max, packs: Bool, hasPages: Bool = false) -> Written {
    var (rows, count) = written(table.rows.prefix(limit), budget: budget)
    var packed = HTMLPackedRows()
    if packs, count < table.rows.count {
      (rows, count) = written(table.rows[...], budget: budget / 5)
      for row in table.rows[count...] {
        guard packed.append(packedCells(row), budget: budget - rows.utf8.count) else { break }
      }
    }
    let need = HTMLLongTable.remark(packed.count, "need scripts; without them", whole(isLive: false))
    let html =
      facets(table.rows.prefix(count + packed.count)) + frame(rows)
      + (packed.count > 0 && !hasPages ? "<noscript>\(need)</noscript>" : "")
      + (packed.count > 0 ? packed.element(of: id) : "")
    return Written(html: html, count: count, packed: packed.count)
  }

  /// The table with these rows.
  func frame(_ rows: String) -> String {
    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rows\"><table id=\"\(id)\"><thead><tr>\(headings)</thead><tbody>\(rows)</tbody></table></div>"
  }

  /// What has all rows.
  func whole(isLive: Bool) -> String {
    let command = look.whole ?? "the same report with --json or --format csv"
    return isLive ? command : "with -o FILE further pages have them, and \(command)"
  }

  /// The first rows, as many as fit into `budget` bytes.
  private func written(_ rows: ArraySlice<[Cell]>, budget: Int) -> (html: String, count: Int) {
    var (html, count) = ("", 0)
    for row in rows {
      let next = self.row(row)
      guard html.utf8.count + next.utf8.count <= budget else { break }
      html += next
      count += 1
    }
    return (html, count)
  }

  private func packedCells(_ row: [Cell]) -> [HTMLPackedRows.Cell] {
    let cells = shown.map { index -> HTMLPackedRows.Cell in
      let cell = row[index]
      let text = HTMLText.harmless(cell.text)
      if let number = cell.number, isNumber(index) || cell.isNumber {
        return .init(text: text, value: Cell.plain(number), isDerived: isDerived(cell, table.headings[index].kind))
      }
      return .init(text: text, style: isNumber(index) ? "n" : style(index, cell))
    }
    let remark = note.flatMap { row[$0].isUnknown ? nil : row[$0].text }
    return cells + (remark.map { [.init(text: HTMLText.harmless($0))] } ?? [])
  }

  /// Whether the script makes the text from the number: it knows the unit of the column.
  private func isDerived(_ cell: Cell, _ kind: FigureKind) -> Bool {
    switch (cell, kind) {
    case (.bytes(let number), .bytes), (.milliseconds(let number), .duration), (.bytesPerSecond(let number), .rate):
      number >= 0
    case (.integer, .integer): true
    default: false
    }
  }

  private static func unit(_ kind: FigureKind) -> String {
    switch kind {
    case .bytes: " data-u=\"b\""
    case .rate: " data-u=\"r\""
    case .duration: " data-u=\"d\""
    default: ""
    }
  }

  private var headings: String {
    shown.map { index in
      let heading = table.headings[index]
      let number = isNumber(index) ? " class=\"n\"" : ""
      return
        "<th scope=\"col\"\(number)\(Self.unit(heading.kind)) data-key=\"\(HTMLText.escaped(heading.key))\">\(HTMLText.escaped(heading.title ?? ""))"
    }.joined()
  }

  func row(_ row: [Cell]) -> String {
    let cells = shown.map { index -> String in
      let cell = row[index]
      if isNumber(index) || cell.isNumber {
        let figure = "\(HTMLText.cell(cell))\(index == acked ? progress(row) : "")"
        return "<td class=\"n\"\(cell.number.map { " data-v=\"\(Cell.plain($0))\"" } ?? "")>\(figure)"
      }
      return "<td\(style(index, cell).map { " class=\"\($0)\"" } ?? "")>\(HTMLText.cell(cell))"
    }
    let remark = note.flatMap { row[$0].isUnknown ? nil : row[$0].text }
    let below = remark.map { "<tr class=\"note\"><td colspan=\"\(shown.count)\">\(HTMLText.escaped($0))" } ?? ""
    return "<tr>" + cells.joined() + below
  }

  private func style(_ index: Int, _ cell: Cell) -> String? {
    TextStyle.tone(of: table.headings[index].key, cell).map { "\($0)" } ?? (isLong(cell) ? "w" : nil)
  }

  /// The progress of an unfinished file: acknowledged and, in a second tone, in flight.
  private func progress(_ row: [Cell]) -> String {
    guard let size = table.index("bytes"), let acked, let whole = row[size].number, let part = row[acked].number
    else { return "" }
    let out = table.index("bytes_in_flight").flatMap { row[$0].number } ?? 0
    guard part < whole, part > 0 || out > 0 else { return "" }
    let (solid, end) = (max(0, part) / whole * 100, min(100, max(0, part + out) / whole * 100))
    let inFlight = out > 0 ? ", \(Int(end - solid)) % in flight" : ""
    return
      "<svg class=\"meter\" role=\"img\" aria-label=\"\(Int(solid)) % acknowledged\(inFlight)\" viewBox=\"0 0 100 10\">"
      + bar("rest", 0, 100) + (out > 0 ? bar("out", solid, end) : "") + bar("bar", 0, solid) + "</svg>"
  }

  private func bar(_ style: String, _ from: Double, _ to: Double) -> String {
    "<rect class=\"\(style)\" x=\"\(HTMLText.number(from))\" width=\"\(HTMLText.number(to - from))\" height=\"10\"/>"
  }

  /// Text that may be wrapped. Names are not, so that they can be compared.
  private func isLong(_ cell: Cell) -> Bool {
    if case .text(let text) = cell { text.utf8.count > 48 } else { false }
  }

  private var acked: Int? { table.index("bytes_acked") }

  private func isNumber(_ index: Int) -> Bool { table.headings[index].kind.isNumber }

  // MARK: - Facets

  /// For columns with few values: the number of rows of each, as links that filter. `rows` are those of this page.
  private func facets(_ rows: ArraySlice<[Cell]>) -> String {
    let groups = shown.filter { table.headings[$0].isLabel }.compactMap { facet($0, rows) }
    guard !groups.isEmpty, rows.count > 2 else { return "" }
    return "<div class=\"facets\">" + groups.joined() + "</div>"
  }

  private func facet(_ index: Int, _ rows: ArraySlice<[Cell]>) -> String? {
    var counts: [String: Int] = [:]
    for row in rows where !row[index].isUnknown { counts[row[index].text, default: 0] += 1 }
    guard counts.count > 1, counts.count <= 20, counts.count < rows.count else { return nil }
    let heading = table.headings[index]
    let links = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { word, count in
      let fragment = "#\(id).\(heading.key)=\(HTMLText.percentEncoded(Array(word.utf8)))"
      return "<a href=\"\(fragment)\">\(HTMLText.escaped(word)) <b>\(count)</b></a>"
    }
    let place = rows.count < table.rows.count ? "rows of this page" : "rows"
    return "<p>\(HTMLText.escaped(heading.title ?? heading.key)) (\(place)): \(links.joined(separator: " "))</p>"
  }
}
