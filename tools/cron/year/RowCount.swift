import CSQLite

/// The number of rows in each table of a ledger, read through a separate connection.
enum RowCount {
  static func all(of path: String) throws -> [String: Int] {
    var handle: OpaquePointer?
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil) == SQLITE_OK, let handle else {
      throw YearFailure("open \(path)")
    }
    defer { sqlite3_close(handle) }
    var counts: [String: Int] = [:]
    for name in try texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", handle) {
      counts[name] = Int(try texts("SELECT count(*) FROM \"\(name)\"", handle).first ?? "") ?? 0
    }
    return counts
  }

  private static func texts(_ sql: String, _ handle: OpaquePointer) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw YearFailure(sql) }
    defer { sqlite3_finalize(statement) }
    var found: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let text = sqlite3_column_text(statement, 0) { found.append(String(cString: text)) }
    }
    return found
  }
}
