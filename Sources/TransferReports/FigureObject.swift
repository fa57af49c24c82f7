import TransferModel

/// Named figures, encoded as one JSON object.
public struct FigureObject: Sendable, Encodable {
  public let fields: [(key: String, cell: Cell)]

  public init(_ fields: [(String, Cell)]) { self.fields = fields.map { (key: $0.0, cell: $0.1) } }

  /// One row by its columns, whether or not tables show them.
  public init<Row>(_ columns: [Column<Row>], _ row: Row) {
    fields = columns.map { (key: $0.key, cell: $0.cell(row)) }
  }

  /// The same with one more.
  public func adding(_ key: String, _ cell: Cell) -> FigureObject {
    FigureObject(fields.map { ($0.key, $0.cell) } + [(key, cell)])
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FigureKey.self)
    for (key, cell) in fields {
      try container.encode(cell, forKey: FigureKey(key))
      if let (extra, bytes) = FigureKey.exactBytes(of: key, cell) { try container.encode(bytes, forKey: extra) }
    }
  }
}

/// A key that is only known at run time.
public struct FigureKey: CodingKey {
  public let stringValue: String
  public var intValue: Int? { nil }

  public init(_ key: String) { stringValue = key }
  public init?(stringValue: String) { self.stringValue = stringValue }
  public init?(intValue: Int) { nil }

  /// `<key>_b64` and the base64 of the exact bytes, for a name that is not valid UTF-8.
  static func exactBytes(of key: String, _ cell: Cell) -> (FigureKey, String)? {
    guard case .name(let name) = cell, name.utf8 == nil else { return nil }
    return (FigureKey(key + "_b64"), base64(name.bytes))
  }
}
