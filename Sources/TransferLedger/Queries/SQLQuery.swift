import CSQLite
import CSys
import TransferModel

extension LedgerReader {
  /// Runs one read-only statement that a person wrote. `columns` receives names and declared types once, `row` receives
  /// each row until it returns false. Only the current row is kept in memory: sorting uses temporary files, and a value
  /// may have at most ``SQLBudget/longestValue`` bytes.
  ///
  /// Throws `.usage`, with SQLite's message if there is one, unless `sql` is a single read-only statement. Throws
  /// ``SQLBudget/Exceeded`` once the statement and `row` have worked for longer than `budget`. Time in which `row` only
  /// waits does not count, because a person may read the output page by page.
  package func query(
    _ sql: String, within budget: SQLBudget, columns: ([SQLColumn]) throws -> Void,
    row: ([SQLFigure]) throws -> Bool
  ) throws {
    let usual = sqlite3_limit(db.db, SQLITE_LIMIT_LENGTH, SQLBudget.longestValue)
    defer { sqlite3_limit(db.db, SQLITE_LIMIT_LENGTH, usual) }
    // Cannot be changed after a read has created temporary objects; none does before a person's statement.
    _ = try? db.execute("PRAGMA temp_store=FILE")
    let statement = try prepareReading(sql)
    defer { sqlite3_finalize(statement) }
    let count = sqlite3_column_count(statement)
    guard count > 0 else { throw refusal("it returns no columns") }
    try columns((0..<count).map { SQLColumn(statement, $0) })
    let watch = SQLWatch(budget)
    try db.whileAsking({ watch.isOver }) {
      while try step(statement, watch) {
        let figures = (0..<count).map { SQLRow(statement: statement).figure($0) }
        guard try watch.withoutWaiting({ try row(figures) }) else { return }
        if watch.isOver { throw SQLBudget.Exceeded() }
      }
    }
  }

  /// Returns false after the last row.
  private func step(_ statement: OpaquePointer, _ watch: SQLWatch) throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case SQLITE_INTERRUPT where watch.isOver: throw SQLBudget.Exceeded()
    case let code: throw failure(code)
    }
  }

  private func prepareReading(_ sql: String) throws -> OpaquePointer {
    sqlite3_set_authorizer(db.db, { _, action, first, second, _, _ in ReadingRules.check(action, first, second) }, nil)
    defer { sqlite3_set_authorizer(db.db, nil, nil) }
    var prepared: OpaquePointer?
    var rest = ""
    let code = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v2(db.db, text, -1, &prepared, &tail)
      rest = tail.map { String(cString: $0) } ?? ""
      return code
    }
    guard code == SQLITE_OK else { throw failure(code) }
    guard let prepared else { throw refusal("there is no statement") }
    do {
      guard sqlite3_stmt_readonly(prepared) != 0 else { throw refusal(Self.readsOnly) }
      guard sqlite3_bind_parameter_count(prepared) == 0 else { throw refusal("parameters are not supported") }
      var second: OpaquePointer?
      defer { sqlite3_finalize(second) }
      guard sqlite3_prepare_v2(db.db, rest, -1, &second, nil) == SQLITE_OK, second == nil else {
        throw refusal("it contains more than one statement")
      }
    } catch {
      sqlite3_finalize(prepared)
      throw error
    }
    return prepared
  }

  private static let readsOnly = "only SELECT is allowed: commands change rows, and databases cannot be attached"

  private func failure(_ code: Int32) -> any Error {
    let error = SQLiteError(code, on: db.db)
    switch error.primary {
    case SQLITE_AUTH: return refusal(Self.readsOnly)
    case SQLITE_ERROR where error.message == "not authorized": return refusal(Self.readsOnly)
    case SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_MISMATCH: return refusal(error.message)
    default: return error
    }
  }

  private func refusal(_ cause: String) -> TransferError {
    TransferError(.usage, "run SQL", cause: cause, remedy: "\"transfers store schema\" describes the views")
  }
}

/// Rules for a person's statement. Source: https://sqlite.org/c3ref/c_alter_table.html
enum ReadingRules {
  private static let pragmas: Set<String> = [
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
    "database_list", "compile_options", "function_list", "integrity_check", "quick_check", "foreign_key_check",
  ]
  /// Pragmas that read if no value is given, and would set if one is.
  private static let settings: Set<String> = [
    "application_id", "user_version", "schema_version", "page_size", "page_count", "freelist_count", "encoding",
  ]

  private static func isCapability(_ table: UnsafePointer<CChar>?, _ column: UnsafePointer<CChar>?) -> Bool {
    guard let table, let column else { return false }
    return CapabilityColumns.contains(String(cString: table).lowercased(), String(cString: column).lowercased())
  }

  static func check(_ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?) -> Int32 {
    switch action {
    // Reads as NULL.
    case SQLITE_READ where isCapability(first, second): return SQLITE_IGNORE
    case SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE: return SQLITE_OK
    // A table-valued function (json_each, pragma_table_info) declares its columns like this when it is first used. A
    // CREATE TABLE typed by a person is refused later, because its statement is not read-only.
    case SQLITE_CREATE_TABLE: return SQLITE_OK
    case SQLITE_INSERT, SQLITE_UPDATE:
      return first.map { String(cString: $0) } == "sqlite_master" ? SQLITE_OK : SQLITE_DENY
    case SQLITE_PRAGMA:
      guard let name = first.map({ String(cString: $0).lowercased() }) else { return SQLITE_DENY }
      return pragmas.contains(name) || (settings.contains(name) && second == nil) ? SQLITE_OK : SQLITE_DENY
    default: return SQLITE_DENY
    }
  }
}

/// Measures how long a statement has run, including the CPU time of `row`, but not the time in which `row` waits.
private final class SQLWatch {
  private let budget: SQLBudget
  private let clock = ContinuousClock()
  private var began: ContinuousClock.Instant

  init(_ budget: SQLBudget) {
    self.budget = budget
    began = clock.now
  }

  var isOver: Bool { budget.timeMs.map { began.duration(to: clock.now) > .milliseconds($0) } ?? false }

  func withoutWaiting<T>(_ body: () throws -> T) rethrows -> T {
    let (from, workedNs) = (clock.now, csys_thread_ns())
    defer {
      let worked = Duration.nanoseconds(csys_thread_ns() - workedNs)
      began += max(.zero, from.duration(to: clock.now) - worked)
    }
    return try body()
  }
}

extension SQLRow {
  fileprivate func figure(_ i: Int32) -> SQLFigure {
    switch sqlite3_column_type(statement, i) {
    case SQLITE_INTEGER: .integer(int64(i))
    case SQLITE_FLOAT: .real(sqlite3_column_double(statement, i))
    case SQLITE_TEXT: .text(text(i))
    case SQLITE_BLOB: .blob(bytes(i))
    default: .null
    }
  }
}

extension SQLColumn {
  fileprivate init(_ statement: OpaquePointer, _ i: Int32) {
    self.init(
      name: sqlite3_column_name(statement, i).map { String(cString: $0) } ?? "",
      isBytes: sqlite3_column_decltype(statement, i).map { String(cString: $0) == "BLOB" } ?? false)
  }
}
