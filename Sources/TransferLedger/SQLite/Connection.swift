import CSQLite

/// One connection to an SQLite file. Statements are prepared once and cached (``PreparedStatements``). Used by one
/// thread at a time.
final class Connection {
  let db: OpaquePointer
  private let statements: PreparedStatements
  /// Where the function `leaf` of SQL writes (``LeafEncoder``).
  let leafBuffer: UnsafeMutablePointer<csqlite_buffer>

  enum Access {
    case readWrite
    case readOnly
    /// Reads without locks and without the WAL: only for a file that no process changes meanwhile.
    case immutable
  }

  /// Opens the file at `path`, which must exist. The path is absolute and without symbolic links.
  init(path: String, access: Access) throws(SQLiteError) {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
    flags |= access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    var handle: OpaquePointer?
    _ = Self.libraryIsPrepared
    let code = sqlite3_open_v2(Self.uri(path, access), &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteError(code, on: handle)
      sqlite3_close_v2(handle)
      throw error
    }
    db = handle
    statements = PreparedStatements(handle)
    leafBuffer = .allocate(capacity: 1)
    leafBuffer.initialize(to: csqlite_buffer(bytes: .allocate(capacity: 8192), capacity: 8192, length: 0))
    try check(csqlite_add_sums(db))
    try check(csqlite_add_leaf(db, leafBuffer))
  }

  /// Evaluated once per process, before its first connection. If another user of SQLite in the process came first, the
  /// only effect is that SQLite is slightly slower.
  private static let libraryIsPrepared: Bool = csqlite_disable_memory_statistics() == SQLITE_OK

  deinit {
    statements.finalize()
    sqlite3_close_v2(db)
    leafBuffer.pointee.bytes.deallocate()
    leafBuffer.deallocate()
  }

  /// False if SQLite could only open the file for reading.
  var isWritable: Bool { sqlite3_db_readonly(db, "main") == 0 }
  /// Whether its path no longer leads to its file, which was deleted, moved or replaced. Source:
  /// https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlhasmoved
  var hasLostItsPath: Bool {
    var hasMoved: Int32 = 0
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
  }
  /// False outside of transactions, also after SQLite itself rolled one back because of a failure.
  var isInTransaction: Bool { sqlite3_get_autocommit(db) == 0 }

  /// Neither in a transaction nor in the middle of a statement.
  var isAtRest: Bool { sqlite3_txn_state(db, nil) == SQLITE_TXN_NONE }

  func configure(_ option: Int32, _ value: Int32) throws(SQLiteError) { try check(csqlite_config(db, option, value)) }

  /// How long a statement waits for a lock, in milliseconds.
  func setBusyTimeout(ms: Int32) throws(SQLiteError) { try check(sqlite3_busy_timeout(db, ms)) }

  /// Runs any number of SQL statements without parameters.
  func execute(_ sql: String) throws(SQLiteError) { try check(sqlite3_exec(db, sql, nil, nil, nil)) }

  /// Copies the whole WAL into the database file and empties it. False if another connection was in the way.
  func checkpointTruncating() throws(SQLiteError) -> Bool {
    let code = sqlite3_wal_checkpoint_v2(db, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED { return false }
    try check(code)
    return true
  }

  /// Runs a statement that yields no rows; returns how many rows it changed.
  @discardableResult
  func run(_ sql: StaticString, _ values: SQLValue...) throws(SQLiteError) -> Int {
    try changes(of: try statements.ready(sql, values))
  }

  @discardableResult
  func run(_ sql: StaticString, of values: [SQLValue]) throws(SQLiteError) -> Int {
    try changes(of: try statements.ready(sql, values))
  }

  @discardableResult
  func run(_ statement: ComposedStatement) throws(SQLiteError) -> Int {
    try changes(of: try statements.ready(statement))
  }

  /// Runs the guarded change of one row; returns how many rows it changed.
  func run(
    _ sql: StaticString, _ guarding: RowGuard, _ values: [SQLValue], row: Int64, owner: Int64?
  ) throws(SQLiteError) -> Int {
    try changes(of: try statements.ready(sql, guarding, values, row: row, owner: owner))
  }

  private func changes(of statement: OpaquePointer) throws(SQLiteError) -> Int {
    let code = sqlite3_step(statement)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code, statement) }
    let changes = Int(sqlite3_changes64(db))
    sqlite3_reset(statement)
    return changes
  }

  /// Runs an INSERT; returns the id of the row.
  func insert(_ sql: StaticString, _ values: SQLValue...) throws(SQLiteError) -> Int64 {
    let statement = try statements.ready(sql, values)
    let code = sqlite3_step(statement)
    guard code == SQLITE_DONE else { throw failure(code, statement) }
    sqlite3_reset(statement)
    return sqlite3_last_insert_rowid(db)
  }

  /// All rows of a statement.
  func rows<T>(
    _ sql: StaticString, _ values: SQLValue..., row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> [T] {
    try all(try statements.ready(sql, values), row)
  }

  func rows<T>(
    _ statement: ComposedStatement, row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> [T] {
    try all(try statements.ready(statement), row)
  }

  /// The first row of a statement; nil if there is none.
  func first<T>(
    _ sql: StaticString, _ values: SQLValue..., row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> T? {
    try one(try statements.ready(sql, values), row)
  }

  func first<T>(
    _ statement: ComposedStatement, row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> T? {
    try one(try statements.ready(statement), row)
  }

  private func one<T>(
    _ statement: OpaquePointer, _ row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> T? {
    defer { sqlite3_reset(statement) }
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return try row(SQLRow(statement: statement))
    case SQLITE_DONE: return nil
    case let code: throw failure(code, statement)
    }
  }

  /// All rows of a statement that is not cached: for the few whose text is not a literal.
  func rowsOnce<T>(_ sql: String, row: (SQLRow) throws(SQLiteError) -> T) throws(SQLiteError) -> [T] {
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(db, sql, -1, &prepared, nil))
    guard let statement = prepared else { return [] }
    defer { sqlite3_finalize(statement) }
    return try all(statement, row)
  }

  private func all<T>(
    _ statement: OpaquePointer, _ row: (SQLRow) throws(SQLiteError) -> T
  ) throws(SQLiteError) -> [T] {
    defer { sqlite3_reset(statement) }
    var out: [T] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: out.append(try row(SQLRow(statement: statement)))
      case SQLITE_DONE: return out
      case let code: throw failure(code, statement)
      }
    }
  }

  /// A statement for processing row by row; prepared once and cached, like all others.
  func statement(_ sql: StaticString) throws(SQLiteError) -> Statement {
    Statement(handle: try statements.prepared(sql), db: db)
  }

  var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(db) }

  /// Reads the message of the failure before the reset, which may replace it.
  private func failure(_ code: Int32, _ statement: OpaquePointer) -> SQLiteError {
    let error = SQLiteError(code, on: db)
    sqlite3_reset(statement)
    return error
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(code, on: db) }
  }

  /// Source: https://sqlite.org/uri.html
  static func uri(_ path: String, _ access: Access) -> String {
    let parameters = [Access.readWrite: "", .readOnly: "?mode=ro", .immutable: "?immutable=1"]
    return "file:" + percentEncoded(path) + (parameters[access] ?? "")
  }

  private static func percentEncoded(_ path: String) -> String {
    var out = ""
    for byte in path.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain = scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
      if isPlain || "/-._~".unicodeScalars.contains(scalar) {
        out.unicodeScalars.append(scalar)
      } else {
        out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return out
  }
}
