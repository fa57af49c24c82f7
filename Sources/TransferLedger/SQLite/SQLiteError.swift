import CSQLite

/// A failure of SQLite.
struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code. Source: https://sqlite.org/rescode.html
  let code: Int32
  let message: String

  init(code: Int32, message: String) {
    self.code = code
    self.message = message
  }

  init(_ code: Int32, on db: OpaquePointer?) {
    self.code = code
    message = db.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
  }

  /// The code without its extension.
  var primary: Int32 { code & 0xFF }

  var description: String { "\(message) (SQLite \(code))" }
}
