/// One value of a row that a person asked for in SQL.
public enum SQLFigure: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// The limits of a user's SQL statement.
public struct SQLBudget: Sendable, Hashable {
  /// Milliseconds; nil for any time.
  public var timeMs: Int64?

  /// Maximum bytes of one value, and of intermediate results.
  package static let longestValue: Int32 = 64 << 20

  public init(timeMs: Int64?) { self.timeMs = timeMs }

  /// The time limit was exceeded.
  public struct Exceeded: Error { package init() {} }
}

/// A column of such rows.
public struct SQLColumn: Sendable, Hashable {
  public var name: String
  /// Whether the column is declared as BLOB; an expression has no declaration.
  public var isBytes: Bool

  package init(name: String, isBytes: Bool) { (self.name, self.isBytes) = (name, isBytes) }
}
