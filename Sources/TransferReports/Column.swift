import TransferModel

/// One figure of a row or of a report: its name for programs, its heading for people, its kind, and its source.
package struct Column<Row>: Sendable {
  package let heading: FigureHeading
  package let cell: @Sendable (Row) -> Cell
  /// The text for people if the cell alone is not clear; nil omits it.
  let phrase: (@Sendable (Row) -> String?)?
  let tone: (@Sendable (Row) -> Tone?)?

  package var key: String { heading.key }

  init(_ heading: FigureHeading, _ cell: @escaping @Sendable (Row) -> Cell) {
    (self.heading, self.cell, phrase, tone) = (heading, cell, nil, nil)
  }

  private init(
    _ column: Column, _ heading: FigureHeading? = nil, phrase: (@Sendable (Row) -> String?)?,
    tone: (@Sendable (Row) -> Tone?)?
  ) {
    self.heading = heading ?? column.heading
    (cell, self.phrase, self.tone) = (column.cell, phrase, tone)
  }

  /// A copy with this text for people, which is escaped already; nil omits the figure.
  package func saying(_ phrase: @escaping @Sendable (Row) -> String?) -> Column {
    Column(self, phrase: phrase, tone: tone)
  }

  /// The same figure, marked as good or bad.
  package func toned(_ tone: @escaping @Sendable (Row) -> Tone?) -> Column { Column(self, phrase: phrase, tone: tone) }

  /// The same figure with another title.
  package func titled(_ title: String?) -> Column {
    let heading = FigureHeading(heading.key, title, heading.kind, isLabel: heading.isLabel)
    return Column(self, heading, phrase: phrase, tone: tone)
  }

  /// The same figure for a row that contains such a row.
  package func of<Outer>(_ inner: @escaping @Sendable (Outer) -> Row) -> Column<Outer> {
    var outer = Column<Outer>(heading) { [cell] in cell(inner($0)) }
    if let phrase { outer = outer.saying { phrase(inner($0)) } }
    if let tone { outer = outer.toned { tone(inner($0)) } }
    return outer
  }

  /// A copy marked as a label: it has few values, which distinguish rows.
  package func label() -> Column {
    let heading = FigureHeading(heading.key, heading.title, heading.kind, isLabel: true)
    return Column(self, heading, phrase: phrase, tone: tone)
  }
}

extension Array {
  /// Columns of a table as figures of one row, each titled with its key, so that all are displayed.
  package func labelled<Row>() -> [Column<Row>] where Element == Column<Row> { map { $0.titled($0.key) } }
}

/// Colour repeats what the words say; it is never the only carrier of information.
package enum Tone: Sendable, Hashable { case good, bad, caution }

/// The heading of a column or of a single figure.
package struct FigureHeading: Sendable, Hashable {
  /// The key in JSON and the heading in CSV: snake case, with the unit (`_ms`, `_bps`) where the name does not say it;
  /// sizes are bytes. Never renamed within a schema number.
  package let key: String
  /// For people; nil for figures that are only for programs, so that tables fit on a screen. A figure with an empty
  /// title is shown as a sentence.
  package let title: String?
  package let kind: FigureKind
  /// It has few values, which distinguish the rows of a table: labels of metrics, and values to filter by.
  package let isLabel: Bool

  package init(_ key: String, _ title: String? = nil, _ kind: FigureKind, isLabel: Bool = false) {
    (self.key, self.title, self.kind, self.isLabel) = (key, title, kind, isLabel)
  }

  /// Whether it contains names, which are bytes: formats with fixed columns have a second column for the exact bytes.
  package var isName: Bool { kind == .name }
}

// MARK: - Kinds

extension Column {
  package static func text(
    _ key: String, _ title: String? = nil, _ text: @escaping @Sendable (Row) -> String?
  ) -> Column {
    Column(FigureHeading(key, title, .text)) { Cell(text($0)) }
  }

  /// A path or key.
  package static func name(
    _ key: String, _ title: String? = nil, _ name: @escaping @Sendable (Row) -> NameBytes?
  ) -> Column {
    Column(FigureHeading(key, title, .name)) { row in name(row).map(Cell.name) ?? .none }
  }

  package static func integer<Number: BinaryInteger & SendableMetatype>(
    _ key: String, _ title: String? = nil, _ number: @escaping @Sendable (Row) -> Number?
  ) -> Column {
    Column(FigureHeading(key, title, .integer)) { Cell(number($0).map { Int64($0) }) }
  }

  package static func real(
    _ key: String, _ title: String? = nil, _ number: @escaping @Sendable (Row) -> Double?
  ) -> Column {
    Column(FigureHeading(key, title, .real)) { row in number(row).map(Cell.real) ?? .none }
  }

  /// A part of a whole, 0 to 1.
  package static func share(
    _ key: String, _ title: String? = nil, _ share: @escaping @Sendable (Row) -> Double?
  ) -> Column {
    Column(FigureHeading(key, title, .real)) { row in share(row).map(Cell.share) ?? .none }
  }

  package static func flag(_ key: String, _ title: String? = nil, _ flag: @escaping @Sendable (Row) -> Bool?) -> Column
  {
    Column(FigureHeading(key, title, .flag)) { row in flag(row).map(Cell.flag) ?? .none }
  }

  /// A size in bytes.
  package static func bytes(
    _ key: String, _ title: String? = nil, _ count: @escaping @Sendable (Row) -> Int64?
  ) -> Column {
    Column(FigureHeading(key, title, .bytes)) { Cell(bytes: count($0)) }
  }

  /// Milliseconds.
  package static func duration(
    _ key: String, _ title: String? = nil, _ ms: @escaping @Sendable (Row) -> Int64?
  ) -> Column {
    Column(FigureHeading(key, title, .duration)) { Cell(ms: ms($0)) }
  }

  /// Milliseconds since 1970 UTC.
  package static func time(_ key: String, _ title: String? = nil, _ ms: @escaping @Sendable (Row) -> Int64?) -> Column {
    Column(FigureHeading(key, title, .time)) { Cell(time: ms($0)) }
  }

  /// Bytes a second.
  package static func rate(
    _ key: String, _ title: String? = nil, _ rate: @escaping @Sendable (Row) -> Int64?
  ) -> Column {
    Column(FigureHeading(key, title, .rate)) { Cell(bytesPerSecond: rate($0)) }
  }

  package static func texts(
    _ key: String, _ title: String? = nil, _ texts: @escaping @Sendable (Row) -> [String: String]
  ) -> Column {
    Column(FigureHeading(key, title, .texts)) { .texts(texts($0)) }
  }

  package static func counts(
    _ key: String, _ title: String? = nil, _ counts: @escaping @Sendable (Row) -> [String: Int]
  ) -> Column {
    Column(FigureHeading(key, title, .counts)) { .counts(counts($0)) }
  }

  package static func list(
    _ key: String, _ title: String? = nil, _ texts: @escaping @Sendable (Row) -> [String]
  ) -> Column {
    Column(FigureHeading(key, title, .list)) { .list(texts($0)) }
  }
}
