import TransferModel

/// The order of the rows of a table: by the raw values of one column. Unknown figures are last in both directions;
/// equal rows keep their order.
package struct RowOrder: Sendable, Hashable {
  package let key: String
  package let isDescending: Bool

  package init(key: String, isDescending: Bool) { (self.key, self.isDescending) = (key, isDescending) }

  /// Whether `a` comes before `b`.
  package func puts(_ a: Cell, before b: Cell) -> Bool {
    switch (a.isNone, b.isNone) {
    case (true, _): false
    case (false, true): true
    case (false, false): isDescending ? b.isLess(than: a) : a.isLess(than: b)
    }
  }
}

extension FigureKind {
  /// False for a column with several figures in each cell.
  package var isSortable: Bool {
    switch self {
    case .texts, .counts, .list: false
    case .text, .name, .integer, .real, .flag, .bytes, .duration, .time, .rate: true
    }
  }
}

extension FigureTable {
  /// The same rows in this order.
  /// - Throws: if the column does not exist, or cannot be sorted by.
  package func sorted(by order: RowOrder) throws(UnknownFigure) -> FigureTable {
    let index = try Self.column(order, of: headings)
    let sorted = rows.indices.sorted { a, b in
      let (left, right) = (rows[a][index], rows[b][index])
      return order.puts(left, before: right) || (a < b && !order.puts(right, before: left))
    }
    return FigureTable(headings, sorted.map { rows[$0] })
  }

  /// The index of the column that the order refers to.
  package static func column(_ order: RowOrder, of headings: [FigureHeading]) throws(UnknownFigure) -> Int {
    if let index = headings.firstIndex(where: { $0.key == order.key && $0.kind.isSortable }) { return index }
    throw UnknownFigure(name: order.key, known: headings.filter(\.kind.isSortable).map(\.key))
  }
}

extension Report {
  /// The same report with the rows of its table in this order, limited to `limit` rows.
  package func arranged(by order: RowOrder?, limit: Int? = nil) throws(UnknownFigure) -> Report {
    guard let rows, let index = sections.firstIndex(where: { $0.key == rows }),
      case .table(let table, let look) = sections[index].content
    else {
      if let order { throw UnknownFigure(name: order.key, known: []) }
      return self
    }
    var arranged = table
    if let order { arranged = try table.sorted(by: order) }
    if let limit { arranged = FigureTable(arranged.headings, Array(arranged.rows.prefix(limit))) }
    var sections = sections
    sections[index] = ReportSection(rows, sections[index].title, .table(arranged, look))
    return Report(schema, sections, rows: rows)
  }
}

extension Cell {
  var isNone: Bool { self == .none }

  /// By value, and texts and names by their bytes. Figures of different kinds have no order.
  func isLess(than other: Cell) -> Bool {
    switch (self, other) {
    case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.name(let a), .name(let b)): a.bytes.lexicographicallyPrecedes(b.bytes)
    case (.flag(let a), .flag(let b)): !a && b
    case (.time(let a), .time(let b)): a < b
    case (.real(let a), .real(let b)), (.share(let a), .share(let b)), (.points(let a), .points(let b)),
      (.percent(let a), .percent(let b)):
      a < b
    default: (wholeNumber ?? 0) < (other.wholeNumber ?? 0)
    }
  }

  private var wholeNumber: Int64? {
    switch self {
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number): number
    case .none, .text, .name, .real, .share, .points, .percent, .flag, .time, .texts, .counts, .list: nil
    }
  }
}
