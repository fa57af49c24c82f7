/// A statement with constant parts inserted for `{name}` in its text, so that a condition that many statements share is
/// written once. Values are bound as usual: no user input becomes SQL.
struct ComposedStatement {
  /// Identifies a prepared statement: its source text, and the set of inserted parts.
  struct Key: Hashable {
    let text: UnsafePointer<UInt8>
    let variant: String
  }

  let sql: StaticString
  /// Name of the set of parts.
  let variant: String
  let parts: [(name: String, text: String)]
  /// Values of the statement's own parameters `?1`, `?2`, …
  let values: [SQLValue]
  /// Values of the parameters of the parts, which are numbered from ``firstShared``. Those after the last one that the
  /// text uses are omitted.
  let shared: [SQLValue]

  static let firstShared: Int32 = 101

  var key: Key { Key(text: sql.utf8Start, variant: variant) }

  /// The SQL text for SQLite. A part may contain parts that come after it.
  var text: String {
    parts.reduce("\(sql)") { text, part in text.replacing("{\(part.name)}", with: part.text) }
  }
}
