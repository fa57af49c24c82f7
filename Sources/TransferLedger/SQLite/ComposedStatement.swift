/// A statement with constant parts put in where its text says `{name}`, so that a condition that many statements share
/// is written once. Values are bound as always: nothing of what a person typed becomes SQL.
struct ComposedStatement {
  /// What is kept prepared: the text that was written, and which set of parts went in.
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
  /// Values of the parameters of the parts, which count from ``firstShared``. Those that the text does not use are left
  /// out.
  let shared: [SQLValue]

  static let firstShared: Int32 = 101

  var key: Key { Key(text: sql.utf8Start, variant: variant) }

  /// The SQL that SQLite gets. A part may name parts that come after it.
  var text: String {
    parts.reduce("\(sql)") { text, part in text.replacing("{\(part.name)}", with: part.text) }
  }
}
