import TransferModel

/// A table of figures as HTML, with the attributes that a script needs to sort and filter it. Optional end tags are
/// omitted: a page of 10,000 files is to stay below 1 MB (HTML Living Standard, section 13.1.2.4).
struct HTMLTable {
  private let table: FigureTable
  private let look: TableLook
  private let id: String
  private let shown: [Int]
  private let note: Int?

  init(_ table: FigureTable, _ look: TableLook, id: String) {
    (self.table, self.look, self.id) = (table, look, id)
    note = look.note.flatMap(table.index)
    shown = table.headings.indices.filter { [note] in table.headings[$0].title != nil && $0 != note }
  }

  /// Rows that do not fit into `budget` bytes are packed for the script, if the page allows that; rows that do not fit
  /// even then are omitted, and the page states their number.
  func html(budget: Int, packs: Bool) -> String {
    var (rows, count) = written(table.rows[...], budget: budget)
    var packed = HTMLPackedRows()
    if packs, count < table.rows.count {
      (rows, count) = written(table.rows[...], budget: budget / 5)
      for row in table.rows[count...] {
        guard packed.append(packedCells(row), budget: budget - rows.utf8.count) else { break }
      }
    }
    let left = table.rows.count - count - packed.count
    let rest = left > 0 ? remark(left, left == 1 ? "is omitted, so that" : "are omitted, so that") : ""
    return facets
      + "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rows\"><table id=\"\(id)\"><thead><tr>\(headings)</thead><tbody>\(rows)</tbody></table></div>"
      + (packed.count > 0 ? "<noscript>\(remark(packed.count, "need scripts; without them"))</noscript>" : "")
      + (packed.count > 0 ? packed.element(of: id) : "") + rest
  }

  private func remark(_ count: Int, _ why: String) -> String {
    "<p class=\"rest\">\(Quantity.count(count, "more row")) \(why) this page stays small: "
      + "\(HTMLText.escaped(look.whole ?? "the same report with --json or --format csv")) has all.</p>"
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
        return .init(text: text, value: Cell.plain(number))
      }
      return .init(text: text, style: isNumber(index) ? "n" : style(index, cell))
    }
    let remark = note.flatMap { row[$0].isUnknown ? nil : row[$0].text }
    return cells + (remark.map { [.init(text: HTMLText.harmless($0))] } ?? [])
  }

  private var headings: String {
    shown.map { index in
      let heading = table.headings[index]
      let number = isNumber(index) ? " class=\"n\"" : ""
      return
        "<th scope=\"col\"\(number) data-key=\"\(HTMLText.escaped(heading.key))\">\(HTMLText.escaped(heading.title ?? ""))"
    }.joined()
  }

  private func row(_ row: [Cell]) -> String {
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

  /// For columns with few values: the number of rows of each, as links that filter.
  private var facets: String {
    let groups = shown.filter { table.headings[$0].isLabel }.compactMap(facet)
    guard !groups.isEmpty, table.rows.count > 2 else { return "" }
    return "<div class=\"facets\">" + groups.joined() + "</div>"
  }

  private func facet(_ index: Int) -> String? {
    var counts: [String: Int] = [:]
    for row in table.rows where !row[index].isUnknown { counts[row[index].text, default: 0] += 1 }
    guard counts.count > 1, counts.count <= 20, counts.count < table.rows.count else { return nil }
    let heading = table.headings[index]
    let links = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { word, count in
      let fragment = "#\(id).\(heading.key)=\(Self.percentEncoded(word))"
      return "<a href=\"\(fragment)\">\(HTMLText.escaped(word)) <b>\(count)</b></a>"
    }
    return "<p>\(HTMLText.escaped(heading.title ?? heading.key)) (rows): \(links.joined(separator: " "))</p>"
  }

  /// Everything but unreserved characters (RFC 3986 section 2.3).
  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        Character(Unicode.Scalar(byte)).isASCII
        && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      return isPlain || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        ? String(Unicode.Scalar(byte)) : "%" + hexText([byte]).uppercased()
    }.joined()
  }
}
