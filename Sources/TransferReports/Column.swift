public import TransferModel

/// One column of a list or report: its name for programs, its heading for people, and where the figure comes from.
public struct Column<Row>: Sendable {
  /// The key in JSON and the heading in CSV: snake case, with the unit (`_ms`, `_bps`) where the name does not say it;
  /// sizes are bytes. Never renamed within a schema number.
  public let key: String
  /// The heading in a table; nil for figures that only programs get, so that tables fit a screen.
  public let title: String?
  /// Whether it holds names, which are bytes: forms with fixed columns give those a second one for the exact bytes.
  public let isName: Bool
  public let cell: @Sendable (Row) -> Cell

  public init(_ key: String, _ title: String? = nil, _ cell: @escaping @Sendable (Row) -> Cell) {
    (self.key, self.title, self.cell) = (key, title, cell)
    isName = false
  }

  /// A column of paths or keys.
  public init(name key: String, _ title: String? = nil, _ name: @escaping @Sendable (Row) -> NameBytes?) {
    (self.key, self.title) = (key, title)
    cell = { row in name(row).map(Cell.name) ?? .none }
    isName = true
  }
}

/// Rows of figures under headings: what a list or report is before it is rendered.
public struct FigureTable: Sendable {
  public struct Heading: Sendable, Hashable {
    public let key: String
    public let title: String?
    public let isName: Bool

    public init(key: String, title: String?, isName: Bool = false) {
      (self.key, self.title, self.isName) = (key, title, isName)
    }
  }

  public let headings: [Heading]
  public let rows: [[Cell]]

  public init<Row>(_ columns: [Column<Row>], _ rows: [Row]) {
    headings = columns.map { Heading(key: $0.key, title: $0.title, isName: $0.isName) }
    self.rows = rows.map { row in columns.map { $0.cell(row) } }
  }

  /// Every row has a cell for each heading.
  public init(_ headings: [Heading], _ rows: [[Cell]]) {
    (self.headings, self.rows) = (headings, rows)
  }

  /// Only these columns, in this order, all of them shown to people too; nil when one is not there.
  public func choosing(_ keys: [String]) -> FigureTable? {
    let indices = keys.compactMap { key in headings.firstIndex { $0.key == key } }
    guard indices.count == keys.count else { return nil }
    let chosen = indices.map { index in
      let heading = headings[index]
      let title = heading.title.flatMap { $0.isEmpty ? nil : $0 } ?? heading.key
      return Heading(key: heading.key, title: title, isName: heading.isName)
    }
    return FigureTable(chosen, rows.map { row in indices.map { row[$0] } })
  }

  /// The row at `index` as an object for JSON.
  public func object(_ index: Int) -> FigureObject {
    FigureObject(Array(zip(headings.map(\.key), rows[index])))
  }
}

extension FigureTable: Encodable {
  /// An array with one object a row.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for index in rows.indices { try container.encode(object(index)) }
  }
}
