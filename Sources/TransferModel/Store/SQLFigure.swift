/// One value of a row that a person asked for in SQL.
package enum SQLFigure: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// The limits of a user's SQL statement.
package struct SQLBudget: Sendable, Hashable {
  /// Milliseconds; nil for any time.
  package var timeMs: Int64?

  /// Maximum bytes of one value, and of intermediate results.
  package static let longestValue: Int32 = 64 << 20

  package init(timeMs: Int64?) { self.timeMs = timeMs }

  /// The time limit was exceeded.
  package struct Exceeded: Error { package init() {} }
}

/// A column of such rows.
package struct SQLColumn: Sendable, Hashable {
  package var name: String
  /// Whether the column is declared as BLOB; an expression has no declaration.
  package var isBytes: Bool

  package init(name: String, isBytes: Bool) { (self.name, self.isBytes) = (name, isBytes) }
}
