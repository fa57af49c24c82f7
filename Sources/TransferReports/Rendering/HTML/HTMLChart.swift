/// Charts as inline SVG, drawn from the rows of the table below them.
enum HTMLChart {
  static func svg(_ table: FigureTable, _ chart: Chart?) -> String {
    switch chart {
    case .series(let x, let y): series(table, x, y)
    case .heat(let column, let row, let value): heat(table, column, row, value)
    case .histogram(let name, let value): bars(table, name, value)
    case .parts(let name, let value): parts(table, name, value)
    case .strip(let state, let length): HTMLStrip.svg(table, state: state, length: length)
    case .stacks(let name, let parts): stacks(table, name, parts)
    case .maps(let name, let map): HTMLStrip.svg(table, name: name, map: map)
    case nil: ""
    }
  }

  static let (width, height) = (720.0, 160.0)

  static func open(_ label: String, _ width: Double, _ height: Double, stretches: Bool = false) -> String {
    "<div class=\"chart\">" + drawing(label, width, height, stretches ? "stretch" : nil)
  }

  /// `stretch` is the class of a chart without words: its whole width is visible on a narrow screen.
  private static func drawing(_ label: String, _ width: Double, _ height: Double, _ stretch: String?) -> String {
    let size = "\(HTMLText.number(width)) \(HTMLText.number(height))"
    let look = stretch.map { " class=\"\($0)\" preserveAspectRatio=\"none\"" } ?? ""
    return "<svg role=\"img\"\(look) viewBox=\"0 0 \(size)\" aria-label=\"\(HTMLText.escaped(label))\">"
  }

  /// Words above or below a chart that is stretched, which would be distorted within it.
  private static func ends(_ words: String...) -> String {
    "<p class=\"ends\">" + words.map { "<span>\(HTMLText.escaped($0))</span>" }.joined() + "</p>"
  }

  private static func title(_ heading: FigureHeading) -> String { heading.title ?? heading.key }

  // MARK: - Over time

  /// A bar for each row, or an area where bars would be too thin.
  private static func series(_ table: FigureTable, _ x: String, _ y: String) -> String {
    guard let xIndex = table.index(x), let yIndex = table.index(y), let first = table.rows.first,
      let last = table.rows.last, table.rows.count > 1
    else { return "" }
    let values = table.numbers(y)
    guard let highest = values.max(), highest > 0, let top = values.firstIndex(of: highest) else { return "" }
    let label = "\(title(table.headings[yIndex])) from \(first[xIndex].text) to \(last[xIndex].text)"
    let step = width / Double(values.count)
    var out = "<div class=\"chart\">" + ends("at most " + table.rows[top][yIndex].text)
    out += drawing(label, width, height + 1, "stretch tall")
    for (index, value) in values.enumerated() where value > 0 {
      let tall = max(1, value / highest * height)
      let text = "\(table.rows[index][xIndex].text): \(table.rows[index][yIndex].text)"
      out += rectangle(
        Double(index) * step, height - tall, min(48, max(0.5, step - (step > 4 ? 1 : 0))), tall, "bar", text)
    }
    out += "<path class=\"axis\" d=\"M0 \(HTMLText.number(height + 0.5))H\(HTMLText.number(width))\"/>"
    return out + "</svg>" + ends(first[xIndex].text, last[xIndex].text) + "</div>"
  }

  // MARK: - Classes

  private static func bars(_ table: FigureTable, _ name: String, _ value: String) -> String {
    guard let names = table.index(name), let figures = table.index(value) else { return "" }
    let values = table.numbers(value)
    guard let highest = values.max(), highest > 0 else { return "" }
    let line = 20.0
    var out = open(title(table.headings[figures]), width, line * Double(values.count))
    for (index, value) in values.enumerated() {
      let y = Double(index) * line
      let words = "\(table.rows[index][names].text): \(table.rows[index][figures].text)"
      out += text(150, y + 14, "end", DisplayWidth.cutMiddle(table.rows[index][names].text, to: 22))
      if value > 0 { out += rectangle(158, y + 3, max(1, value / highest * 460), line - 6, "bar", words) }
      out += text(164 + value / highest * 460, y + 14, "start", table.rows[index][figures].text)
    }
    return out + "</svg></div>"
  }

  /// One bar of all parts, with a description of each.
  private static func parts(_ table: FigureTable, _ name: String, _ value: String) -> String {
    guard let names = table.index(name), let figures = table.index(value) else { return "" }
    let pairs = zip(table.rows, table.numbers(value)).filter { $0.1 > 0 }
    let words = distinguished(pairs.map(\.0), names, table.headings)
    let parts = zip(pairs, words).map { pair, name in (name: name, text: pair.0[figures].text, value: pair.1) }
    return stack(title(table.headings[figures]), parts)
  }

  /// The names of rows. If several have the same, each also has its other labels.
  private static func distinguished(_ rows: [[Cell]], _ name: Int, _ headings: [FigureHeading]) -> [String] {
    let names = rows.map { $0[name].text }
    guard Set(names).count < names.count else { return names }
    let columns = [name] + headings.indices.filter { $0 != name && headings[$0].isLabel }
    return rows.map { row in columns.map { row[$0] }.filter { $0 != Cell.none }.map(\.text).joined(separator: " ") }
  }

  /// Shares of a whole: a bar, and below it a legend.
  static func stack(_ label: String, _ parts: [(name: String, text: String, value: Double)]) -> String {
    let whole = parts.map(\.value).reduce(0, +)
    guard whole > 0 else { return "" }
    var (out, x) = (open(label, width, 28, stretches: true), 0.0)
    for (index, part) in parts.enumerated() {
      let length = part.value / whole * width
      out += rectangle(x, 2, max(0.5, length), 24, tint(part.name, index), "\(part.name): \(part.text)")
      x += length
    }
    let legend = parts.enumerated().map { index, part in
      "<li class=\"\(tint(part.name, index))\">\(HTMLText.escaped(part.name)) <b>\(HTMLText.escaped(part.text))</b></li>"
    }
    return out + "</svg></div><ul class=\"legend\">" + legend.joined() + "</ul>"
  }

  /// A bar for each row, the longest of which has the full width, and one legend for all.
  private static func stacks(_ table: FigureTable, _ name: String, _ parts: [String]) -> String {
    guard let names = table.index(name) else { return "" }
    let kept = parts.filter { part in table.numbers(part).contains { $0 > 0 } }
    let columns = kept.map { (key: $0, index: table.index($0) ?? 0, values: table.numbers($0)) }
    let longest = table.rows.indices.map { row in columns.reduce(0) { $0 + max(0, $1.values[row]) } }.max() ?? 0
    guard longest > 0 else { return "" }
    func words(_ key: String) -> String { key.hasSuffix("_ms") ? String(key.dropLast(3)) : key }
    func tone(_ key: String) -> String { tint(words(key), parts.firstIndex(of: key) ?? 0) }
    let (left, line) = (70.0, 22.0)
    var out = open("parts of each row", width, line * Double(table.rows.count))
    for (row, cells) in table.rows.enumerated() {
      var x = left
      out += text(left - 8, Double(row) * line + 15, "end", DisplayWidth.cutMiddle(cells[names].text, to: 10))
      for column in columns where column.values[row] > 0 {
        let length = column.values[row] / longest * (width - left)
        let title = "\(cells[names].text): \(words(column.key)) \(cells[column.index].text)"
        out += rectangle(x, Double(row) * line + 2, max(0.5, length), line - 4, tone(column.key), title)
        x += length
      }
    }
    let legend = kept.map { "<li class=\"\(tone($0))\">\(HTMLText.escaped(words($0)))</li>" }
    return out + "</svg></div><ul class=\"legend\">" + legend.joined() + "</ul>"
  }

  /// States have their own colours; other values get one by position.
  static func tint(_ name: String, _ index: Int) -> String {
    switch TextStyle.tone(of: "state", .text(name)) {
    case .good: "good"
    case .bad: "bad"
    case .caution: "caution"
    case nil: stateTint(name) ?? "p\(index % tints)"
    }
  }

  /// Colours without a meaning; as many as the parts of a file's time.
  static let tints = 9

  /// Colours of running and not yet begun states.
  private static func stateTint(_ name: String) -> String? {
    switch name {
    case "active", "finishing", "in_flight": "moving"
    case "pending", "settling": "rest"
    default: nil
    }
  }

  // MARK: - Grids

  private static func heat(_ table: FigureTable, _ column: String, _ row: String, _ value: String) -> String {
    guard let grid = HeatGrid(table, column: column, row: row, value: value), grid.highest > 0 else { return "" }
    let (left, side) = (150.0, min(24.0, (width - 150) / Double(max(1, grid.columns.count))))
    var out = open("\(value) by \(column) and \(row)", width, Double(grid.rows.count) * 24 + 20)
    for (y, name) in grid.rows.enumerated() {
      out += text(left - 8, Double(y) * 24 + 16, "end", DisplayWidth.cutMiddle(name.text, to: 22))
      for (x, value) in grid.values[y].enumerated() {
        let words = "\(grid.columns[x].text), \(name.text): \(Cell.plain(value))"
        let shade = value > 0 ? 0.15 + 0.85 * value / grid.highest : 0
        out += rectangle(left + Double(x) * side, Double(y) * 24 + 1, side - 1, 22, "heat", words, opacity: shade)
      }
    }
    let y = Double(grid.rows.count) * 24 + 14
    out += text(left, y, "start", grid.columns.first?.text ?? "")
    out += text(left + side * Double(grid.columns.count), y, "end", grid.columns.last?.text ?? "")
    return out + "</svg></div>"
  }

  // MARK: - Shapes

  static func rectangle(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String, _ words: String,
    opacity: Double? = nil
  ) -> String {
    let shade = opacity.map { " fill-opacity=\"\(HTMLText.number($0))\"" } ?? ""
    let place = "x=\"\(HTMLText.number(x))\" y=\"\(HTMLText.number(y))\""
    let size = "width=\"\(HTMLText.number(width))\" height=\"\(HTMLText.number(height))\""
    return "<rect class=\"\(style)\" \(place) \(size)\(shade)><title>\(HTMLText.escaped(words))</title></rect>"
  }

  static func text(_ x: Double, _ y: Double, _ anchor: String, _ words: String) -> String {
    let place = "x=\"\(HTMLText.number(x))\" y=\"\(HTMLText.number(y))\""
    return "<text \(place) text-anchor=\"\(anchor)\">\(HTMLText.escaped(words))</text>"
  }
}
