/// The result of a command before layout: every rendering is made from this one value.
package struct Report: Sendable {
  /// Name and number of the form for programs: `transfers.status/3`. Fields may be added within a number, never
  /// renamed.
  package let schema: String
  package let sections: [ReportSection]
  /// The key of the table that formats with fixed columns print; nil if they print a line for each figure.
  package let rows: String?

  package init(_ schema: String, _ sections: [ReportSection], rows: String? = nil) {
    (self.schema, self.sections, self.rows) = (schema, sections, rows)
  }

  /// The path of a figure in the document: a column of the main table is named without the table. It takes precedence
  /// over a member with that name, so that the formats with fixed columns print the same.
  package func path(of name: String) -> String {
    guard let rows, let table, table.headings.contains(where: { $0.key == name }) else { return name }
    let isTable = sections.contains { section in
      if section.key == rows, case .table = section.content { true } else { false }
    }
    return isTable ? "\(rows).\(name)" : name
  }

  /// The table that formats with fixed columns print.
  package var table: FigureTable? {
    guard let rows else { return nil }
    for section in sections {
      switch section.content {
      case .table(let table, _) where section.key == rows: return table
      case .facts(let facts, _) where section.key == nil:
        if let list = facts.first(where: { $0.heading.key == rows }) { return list.table }
      default: continue
      }
    }
    return nil
  }
}

/// A part of a report.
package struct ReportSection: Sendable {
  /// The member of the document that holds it; nil for figures that are members themselves.
  package let key: String?
  /// For people; nil for a section without a heading.
  package let title: String?
  package let content: Content

  package enum Content: Sendable {
    case facts([Fact], FactLayout)
    case table(FigureTable, TableLook)
    case object([ReportSection])
    /// Lines only for people, already escaped.
    case words(String)
    /// Only for programs.
    case document(FigureTree)
    /// Absent: `null`.
    case absent
  }

  package init(_ key: String?, _ title: String?, _ content: Content) {
    (self.key, self.title, self.content) = (key, title, content)
  }

  /// The figures of a section of figures, or of an object that contains only figures.
  var facts: [Fact]? {
    switch content {
    case .facts(let facts, _): facts
    case .object(let inner) where inner.count == 1: inner[0].facts
    default: nil
    }
  }
}

/// One figure under its name.
package struct Fact: Sendable, Hashable {
  package let heading: FigureHeading
  package let cell: Cell
  /// The text shown instead of the cell, already escaped. Empty to show nothing.
  package let phrase: String?
  package let tone: Tone?

  package init<Value>(_ column: Column<Value>, _ value: Value) {
    heading = column.heading
    cell = column.cell(value)
    phrase = column.phrase.map { $0(value) ?? "" }
    tone = column.tone?(value) ?? TextStyle.tone(of: column.heading.key, cell)
  }

  /// For a list, one row for each of its texts.
  var table: FigureTable? {
    guard case .list(let texts) = cell else { return nil }
    let key = SchemaName.singular(heading.key)
    return FigureTable([Column<String>.text(key, key.prefix(1).uppercased() + key.dropFirst()) { $0 }], texts)
  }

  /// nil if it is not displayed: it has no title, or it is unknown.
  var words: String? {
    guard heading.title != nil else { return nil }
    if let phrase { return phrase.isEmpty ? nil : phrase }
    return cell.isUnknown ? nil : cell.text
  }
}

/// How figures are laid out for people.
package enum FactLayout: Sendable, Hashable {
  /// One line for each figure, after its title.
  case lines
  /// All in one line, without titles: the figures of the head, a colon, and the others.
  case headline(Int)
}

/// How a table is shown to people.
package struct TableLook: Sendable, Hashable {
  /// The chart drawn beside it.
  package var chart: Chart?
  /// The text shown instead of an empty table; nil for none.
  package var empty: String?
  /// The number of displayed rows; programs get all.
  package var limit: Int?
  /// Not displayed, because people get the same in another form.
  package var isForPrograms = false
  /// The key of a column without a title, displayed on a line of its own below each row that has it.
  package var note: String?
  /// The command that lists all rows if there are too many.
  package var whole: String?

  package init(
    chart: Chart? = nil, empty: String? = nil, limit: Int? = nil, note: String? = nil, whole: String? = nil,
    isForPrograms: Bool = false
  ) {
    (self.chart, self.empty, self.limit, self.note, self.whole) = (chart, empty, limit, note, whole)
    self.isForPrograms = isForPrograms
  }
}

/// A chart of columns of a table: it shows only figures of the table.
package enum Chart: Sendable, Hashable {
  /// A figure over time or over rows, by their keys.
  case series(x: String, y: String)
  /// The share of each row in the whole.
  case parts(name: String, value: String)
  /// The number of values in each class.
  case histogram(name: String, value: String)
  /// A grid: one square for each pair of column and row.
  case heat(column: String, row: String, value: String)
  /// One strip of all rows, each as long as its value, in the colour of its state.
  case strip(state: String, length: String)
  /// A bar for each row, made of several of its figures.
  case stacks(name: String, parts: [String])
  /// A strip for each row, from characters that stand for its chunks.
  case maps(name: String, map: String)
}

extension Cell {
  /// Nothing to display.
  var isUnknown: Bool {
    switch self {
    case .none, .text(""): true
    case .texts(let texts): texts.isEmpty
    case .counts(let counts): counts.isEmpty
    case .list(let texts): texts.isEmpty
    default: false
    }
  }
}
