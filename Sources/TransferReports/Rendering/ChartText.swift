import TransferModel

/// Text charts.
enum ChartText {
  /// Lines below a table; none for charts that are drawn beside its rows.
  static func lines(_ table: FigureTable, _ chart: Chart?, _ style: TextStyle) -> [String] {
    switch chart {
    case .series(_, let y): table.rows.count > 1 ? series(table, y, style) : []
    case .heat(let column, let row, let value): heat(table, column, row, value, style)
    case .parts, .histogram, .strip, .stacks, .maps, nil: []
    }
  }

  /// A bar for each row, at most 20 columns; nil if the chart is not drawn beside rows. Bars of parts are relative to
  /// the sum of all rows, those of a histogram to the highest row.
  static func bars(_ table: FigureTable, _ chart: Chart?, _ style: TextStyle) -> [String]? {
    let key: String
    let sumsUp: Bool
    switch chart {
    case .parts(_, let value): (key, sumsUp) = (value, true)
    case .histogram(_, let value): (key, sumsUp) = (value, false)
    case .series, .heat, .strip, .stacks, .maps, nil: return nil
    }
    let values = table.numbers(key)
    let whole = sumsUp ? values.reduce(0, +) : values.max() ?? 0
    return values.map { value in
      guard value > 0, whole > 0 else { return "" }
      let eighths = max(1, Int(nearest: (value / whole * 160).rounded(.down)))
      if style.isASCII { return String(repeating: "#", count: max(1, eighths / 8)) }
      let rest = eighths % 8 == 0 ? "" : String(Array("▏▎▍▌▋▊▉")[eighths % 8 - 1])
      return String(repeating: "█", count: eighths / 8) + rest
    }
  }

  /// `goodput |▁▂▅█▇|  at most 34.9 MiB/s`
  private static func series(_ table: FigureTable, _ key: String, _ style: TextStyle) -> [String] {
    guard let index = table.index(key) else { return [] }
    let values = table.numbers(key)
    guard let highest = values.max(), highest > 0, let row = values.firstIndex(of: highest) else { return [] }
    let bars = Sparkline.text(
      values.map { Int64(nearest: $0) }, columns: min(60, (style.columns ?? 100) - 40), isASCII: style.isASCII)
    let title = (table.headings[index].title ?? key).lowercased()
    return ["\(title) |\(bars)|  at most \(table.rows[row][index].text)"]
  }

  /// One line for each row of the grid, one character for each column; darker means more.
  private static func heat(
    _ table: FigureTable, _ column: String, _ row: String, _ value: String, _ style: TextStyle
  ) -> [String] {
    guard let grid = HeatGrid(table, column: column, row: row, value: value), grid.highest > 0 else { return [] }
    let shades = Array(style.isASCII ? ".:=+#" : "·░▒▓█")
    let width = grid.rows.map { DisplayWidth.of($0.text) }.max() ?? 0
    let lines = grid.rows.indices.map { index in
      let marks = grid.values[index].map { value -> Character in
        guard value > 0 else { return " " }
        return shades[min(shades.count - 1, Int(value / grid.highest * Double(shades.count)))]
      }
      return DisplayWidth.pad(grid.rows[index].text, to: width, alignsRight: false) + " |\(String(marks))|"
    }
    guard let first = grid.columns.first, let last = grid.columns.last else { return [] }
    return lines + ["\(String(repeating: " ", count: width))  \(first.text) to \(last.text)"]
  }
}

/// The cells of a table by two of its columns.
struct HeatGrid {
  let columns: [Cell]
  let rows: [Cell]
  /// By row, then column; 0 where the table has no value.
  let values: [[Double]]

  var highest: Double { values.joined().max() ?? 0 }

  init?(_ table: FigureTable, column: String, row: String, value: String) {
    guard let x = table.index(column), let y = table.index(row) else { return nil }
    let numbers = table.numbers(value)
    var (columns, rows): ([Cell], [Cell]) = ([], [])
    var (columnOf, rowOf): ([Cell: Int], [Cell: Int]) = ([:], [:])
    for cells in table.rows {
      if columnOf[cells[x]] == nil { (columnOf[cells[x]], columns) = (columns.count, columns + [cells[x]]) }
      if rowOf[cells[y]] == nil { (rowOf[cells[y]], rows) = (rows.count, rows + [cells[y]]) }
    }
    if let whole = Self.wholeNumbers(columns) {
      columns = whole
      columnOf = Dictionary(uniqueKeysWithValues: whole.enumerated().map { ($1, $0) })
    }
    var values = rows.map { _ in columns.map { _ in 0.0 } }
    for (cells, number) in zip(table.rows, numbers) {
      if let row = rowOf[cells[y]], let column = columnOf[cells[x]] { values[row][column] += number }
    }
    (self.columns, self.rows, self.values) = (columns, rows, values)
  }

  /// All numbers from the lowest to the highest, so that missing ones keep their place; nil for other columns.
  private static func wholeNumbers(_ columns: [Cell]) -> [Cell]? {
    let numbers = columns.compactMap { cell -> Int64? in if case .integer(let number) = cell { number } else { nil } }
    guard numbers.count == columns.count, let low = numbers.min(), let high = numbers.max(), low >= 0, high < 1000
    else {
      return nil
    }
    return (low...high).map(Cell.integer)
  }
}

extension FigureTable {
  func index(_ key: String) -> Int? { headings.firstIndex { $0.key == key } }

  /// The figures under a key as numbers; 0 for unknown figures.
  func numbers(_ key: String) -> [Double] {
    guard let index = index(key) else { return rows.map { _ in 0 } }
    return rows.map { $0[index].number ?? 0 }
  }
}

extension Cell {
  /// nil if it is not a number.
  var number: Double? {
    switch self {
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number),
      .time(let number):
      Double(number)
    case .real(let number), .share(let number), .points(let number), .percent(let number):
      number.isFinite ? number : nil
    case .flag(let flag): flag ? 1 : 0
    case .none, .text, .name, .texts, .counts, .list: nil
    }
  }
}
