/// One value of a row that a person asked for in SQL.
public enum SQLFigure: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// A column of such rows.
public struct SQLColumn: Sendable, Hashable {
  public var name: String
  /// Declared as BLOB; an expression is not declared.
  public var isBytes: Bool

  package init(name: String, isBytes: Bool) { (self.name, self.isBytes) = (name, isBytes) }
}
