/// Named figures: one JSON object.
package struct FigureObject: Sendable {
  package let fields: [(key: String, cell: Cell)]

  package init(_ fields: [(String, Cell)]) { self.fields = fields.map { (key: $0.0, cell: $0.1) } }
}
