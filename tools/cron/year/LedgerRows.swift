import CSQLite

/// Reads a ledger through a separate connection.
enum LedgerRows {
  /// The number of rows in each table.
  static func counts(of path: String) throws -> [String: Int] {
    try reading(path) { handle in
      var counts: [String: Int] = [:]
      let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      for name in try texts(tables, handle) {
        counts[name] = Int(try texts("SELECT count(*) FROM \"\(name)\"", handle).first ?? "") ?? 0
      }
      return counts
    }
  }

  /// The ids of the callbacks for starts of runs that were withdrawn: they had failed when the run ended.
  static func withdrawnStarts(of job: String, in path: String) throws -> Set<String> {
    try reading(path) { handle in
      Set(
        try texts(
          "SELECT o.id FROM outbox o JOIN callback c ON c.id = o.callback_id WHERE c.job = '\(job)'"
            + " AND c.event = 'started' AND o.state = 'cancelled'", handle))
    }
  }

  private static func reading<Found>(_ path: String, _ body: (OpaquePointer) throws -> Found) throws -> Found {
    var handle: OpaquePointer?
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil) == SQLITE_OK, let handle else {
      throw YearFailure("open \(path)")
    }
    defer { sqlite3_close(handle) }
    return try body(handle)
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
