import CSQLite

/// The prepared statements of one connection: each is prepared once, kept, and bound to the values of each execution.
/// Used by one thread at a time.
final class PreparedStatements {
  private let db: OpaquePointer
  private var statements: [UnsafePointer<UInt8>: OpaquePointer] = [:]
  private var composed: [ComposedStatement.Key: OpaquePointer] = [:]
  private var moves: [MoveKey: OpaquePointer] = [:]

  init(_ db: OpaquePointer) { self.db = db }

  /// Ends all statements, before the connection is closed.
  func finalize() {
    for statement in statements.values { sqlite3_finalize(statement) }
    for statement in composed.values { sqlite3_finalize(statement) }
    for statement in moves.values { sqlite3_finalize(statement) }
    (statements, composed, moves) = ([:], [:], [:])
  }

  /// A statement to which values are bound later.
  func prepared(_ sql: StaticString) throws(SQLiteError) -> OpaquePointer {
    if let kept = statements[sql.utf8Start] { return kept }
    var statement: OpaquePointer?
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let keep = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(sqlite3_prepare_v3(db, text, Int32(sql.utf8CodeUnitCount), keep, &statement, nil))
    guard let statement else { preconditionFailure("empty statement") }
    statements[sql.utf8Start] = statement
    return statement
  }

  /// A statement with its values.
  func ready(_ sql: StaticString, _ values: [SQLValue]) throws(SQLiteError) -> OpaquePointer {
    let statement = try prepared(sql)
    precondition(Int(sqlite3_bind_parameter_count(statement)) == values.count, "parameters of \(sql)")
    try bind(values, to: statement)
    return statement
  }

  func ready(_ wanted: ComposedStatement) throws(SQLiteError) -> OpaquePointer {
    let statement = if let kept = composed[wanted.key] { kept } else { try prepare(wanted) }
    requireParameters(wanted.values.count, of: statement, wanted.sql)
    try bind(wanted.values, to: statement)
    let last = sqlite3_bind_parameter_count(statement)
    for (i, value) in zip(ComposedStatement.firstShared..., wanted.shared).prefix(while: { $0.0 <= last }) {
      try check(bind(value, to: i, of: statement))
    }
    return statement
  }

  /// The guarded change of one row, see ``RowGuard``.
  func ready(
    _ sql: StaticString, _ guarding: RowGuard, _ values: [SQLValue], row: Int64, owner: Int64?
  ) throws(SQLiteError) -> OpaquePointer {
    let key = MoveKey(text: sql.utf8Start, guarding: guarding)
    let statement = if let kept = moves[key] { kept } else { try prepare(sql, guarding, key, values.count) }
    try bind(values, to: statement)
    try check(sqlite3_bind_int64(statement, ComposedStatement.firstShared, row))
    if let owner { try check(sqlite3_bind_int64(statement, ComposedStatement.firstShared + 1, owner)) }
    return statement
  }

  private func prepare(
    _ sql: StaticString, _ guarding: RowGuard, _ key: MoveKey, _ count: Int
  ) throws(SQLiteError) -> OpaquePointer {
    let text = ComposedStatement(sql: sql, variant: "", parts: guarding.parts, values: [], shared: []).text
    let statement = try prepare(text)
    requireParameters(count, of: statement, sql)
    moves[key] = statement
    return statement
  }

  private func prepare(_ wanted: ComposedStatement) throws(SQLiteError) -> OpaquePointer {
    let statement = try prepare(wanted.text)
    composed[wanted.key] = statement
    return statement
  }

  private func prepare(_ text: String) throws(SQLiteError) -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(db, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { preconditionFailure("empty statement") }
    return statement
  }

  /// A composed statement has exactly this many parameters of its own.
  private func requireParameters(_ count: Int, of statement: OpaquePointer, _ sql: StaticString) {
    precondition(
      sqlite3_bind_parameter_name(statement, Int32(count) + 1) == nil
        && (count == 0 || sqlite3_bind_parameter_name(statement, Int32(count)) != nil), "parameters of \(sql)")
  }

  private func bind(_ values: [SQLValue], to statement: OpaquePointer) throws(SQLiteError) {
    for (i, value) in values.enumerated() { try check(bind(value, to: Int32(i + 1), of: statement)) }
  }

  private func bind(_ value: SQLValue, to i: Int32, of statement: OpaquePointer) -> Int32 {
    switch value {
    case .integer(let number): return sqlite3_bind_int64(statement, i, number)
    case .null: return sqlite3_bind_null(statement, i)
    case .text(var text):
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { chars in
          guard let start = chars.baseAddress else { return csqlite_bind_text(statement, i, "", 0) }
          return csqlite_bind_text(statement, i, start, sqlite3_uint64(chars.count))
        }
      }
    case .blob(let bytes):
      return bytes.withUnsafeBytes { raw in
        guard let start = raw.baseAddress else { return sqlite3_bind_zeroblob(statement, i, 0) }
        return csqlite_bind_blob(statement, i, start, sqlite3_uint64(raw.count))
      }
    }
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(code, on: db) }
  }
}
