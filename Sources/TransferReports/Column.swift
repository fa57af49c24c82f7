/// One column of a list or report: its name for programs, its heading for people, and where the figure comes from.
public struct Column<Row>: Sendable {
  /// The key in JSON: snake case, with the unit (`_ms`, `_bps`) where the name does not say it; sizes are bytes.
  /// Never renamed within a schema number.
  public let key: String
  /// The heading in a table; nil for figures that only programs get, so that tables fit a screen.
  public let title: String?
  public let cell: @Sendable (Row) -> Cell

  public init(_ key: String, _ title: String? = nil, _ cell: @escaping @Sendable (Row) -> Cell) {
    self.key = key
    self.title = title
    self.cell = cell
  }
}

/// Rows of figures under headings: what a list or report is before it is rendered.
public struct FigureTable: Sendable {
  public struct Heading: Sendable, Hashable {
    public let key: String
    public let title: String?
  }

  public let headings: [Heading]
  public let rows: [[Cell]]

  public init<Row>(_ columns: [Column<Row>], _ rows: [Row]) {
    headings = columns.map { Heading(key: $0.key, title: $0.title) }
    self.rows = rows.map { row in columns.map { $0.cell(row) } }
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
