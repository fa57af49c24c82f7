/// Named figures: one JSON object.
public struct FigureObject: Sendable {
  public let fields: [(key: String, cell: Cell)]

  public init(_ fields: [(String, Cell)]) { self.fields = fields.map { (key: $0.0, cell: $0.1) } }
}
