import CSQLite

/// A cached statement for processing row by row: values are bound individually, without intermediate arrays. Used
/// inside one transaction; ``reset()`` ends each execution.
struct Statement {
  private let handle: OpaquePointer
  private let db: OpaquePointer

  init(handle: OpaquePointer, db: OpaquePointer) {
    self.handle = handle
    self.db = db
  }

  /// Parameters are numbered from 1.
  func bind(_ i: Int32, _ value: Int64) { sqlite3_bind_int64(handle, i, value) }
  func bindNull(_ i: Int32) { sqlite3_bind_null(handle, i) }

  /// Copies the text; nil is NULL.
  func bind(_ i: Int32, _ text: String?) {
    guard var text else { return bindNull(i) }
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { chars in
        _ = chars.baseAddress.map { csqlite_bind_text(handle, i, $0, UInt64(chars.count)) }
      }
    }
  }

  /// The bytes must remain valid until ``reset()``.
  func bind(_ i: Int32, borrowing bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else {
      sqlite3_bind_zeroblob(handle, i, 0)
      return
    }
    sqlite3_bind_blob64(handle, i, start, sqlite3_uint64(bytes.count), nil)
  }

  /// Advances to the next row; false at the end.
  func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = SQLiteError(code, on: db)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// The row that ``step()`` found.
  var row: SQLRow { SQLRow(statement: handle) }

  func reset() { sqlite3_reset(handle) }

  /// Runs a statement that yields no row to its end.
  func run() throws(SQLiteError) {
    _ = try step()
    reset()
  }
}
