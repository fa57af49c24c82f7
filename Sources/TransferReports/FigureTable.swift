/// Rows of figures with headings: a list or report before rendering.
package struct FigureTable: Sendable {
  package let headings: [FigureHeading]
  package let rows: [[Cell]]

  package init<Row>(_ columns: [Column<Row>], _ rows: [Row]) {
    headings = columns.map(\.heading)
    self.rows = rows.map { row in columns.map { $0.cell(row) } }
  }

  /// Every row has a cell for each heading.
  package init(_ headings: [FigureHeading], _ rows: [[Cell]]) {
    (self.headings, self.rows) = (headings, rows)
  }

  /// Only these columns, in this order, all displayed; nil if one does not exist.
  package func choosing(_ keys: [String]) -> FigureTable? {
    let indices = keys.compactMap { key in headings.firstIndex { $0.key == key } }
    guard indices.count == keys.count else { return nil }
    let chosen = indices.map { index in
      let heading = headings[index]
      let title = heading.title.flatMap { $0.isEmpty ? nil : $0 } ?? heading.key
      return FigureHeading(heading.key, title, heading.kind, isLabel: heading.isLabel)
    }
    return FigureTable(chosen, rows.map { row in indices.map { row[$0] } })
  }

  /// The row at `index` as an object for JSON.
  package func object(_ index: Int) -> FigureObject {
    FigureObject(Array(zip(headings.map(\.key), rows[index])))
  }
}
