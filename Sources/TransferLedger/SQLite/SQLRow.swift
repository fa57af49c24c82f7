import CSQLite
import TransferModel

/// The current row of a statement; columns are numbered from 0. Only valid inside the closure that it is passed to.
struct SQLRow {
  let statement: OpaquePointer

  func isNull(_ i: Int32) -> Bool { sqlite3_column_type(statement, i) == SQLITE_NULL }

  func int64(_ i: Int32) -> Int64 { sqlite3_column_int64(statement, i) }
  func int(_ i: Int32) -> Int { Int(int64(i)) }
  func bits(_ i: Int32) -> UInt64 { UInt64(bitPattern: int64(i)) }
  func flag(_ i: Int32) -> Bool { int64(i) != 0 }
  func int64OrNil(_ i: Int32) -> Int64? { isNull(i) ? nil : int64(i) }
  func intOrNil(_ i: Int32) -> Int? { isNull(i) ? nil : int(i) }

  func text(_ i: Int32) -> String { String(decoding: raw(i, sqlite3_column_text(statement, i)), as: UTF8.self) }
  func textOrNil(_ i: Int32) -> String? { isNull(i) ? nil : text(i) }
  func bytes(_ i: Int32) -> [UInt8] { Array(raw(i, sqlite3_column_blob(statement, i))) }
  func bytesOrNil(_ i: Int32) -> [UInt8]? { isNull(i) ? nil : bytes(i) }

  func id<I: RowID>(_ i: Int32, _ type: I.Type = I.self) -> I { I(rawValue: int64(i)) }
  func idOrNil<I: RowID>(_ i: Int32, _ type: I.Type = I.self) -> I? { isNull(i) ? nil : I(rawValue: int64(i)) }
  func name(_ i: Int32) -> NameBytes { NameBytes(bytes(i)) }
  func digest(_ i: Int32) -> Digest? { Digest(text: text(i)) }

  /// The result of `tally(x)`: the number of rows and the sum of x.
  func tally(_ i: Int32) -> (count: Int, sum: Int64) {
    let tally = wholeTally(i)
    return (Int(tally.count), tally.sum)
  }

  /// Of the rows of `tally(x)`, those without x.
  func tallyNulls(_ i: Int32) -> Int { Int(wholeTally(i).nulls) }

  private func wholeTally(_ i: Int32) -> csqlite_tally {
    guard let start = sqlite3_column_blob(statement, i),
      Int(sqlite3_column_bytes(statement, i)) == MemoryLayout<csqlite_tally>.size
    else { return csqlite_tally(count: 0, sum: 0, nulls: 0) }
    return start.loadUnaligned(as: csqlite_tally.self)
  }

  func uid(_ i: Int32) -> UID {
    var words: [UInt64] = [0, 0]
    for (n, byte) in bytes(i).prefix(16).enumerated() { words[n / 8] = words[n / 8] << 8 | UInt64(byte) }
    return UID(high: words[0], low: words[1])
  }

  /// A value of a closed list. Any other value can only come from a damaged file: CHECKs refuse it.
  func named<R: RawRepresentable>(_ i: Int32, _ type: R.Type = R.self) throws(SQLiteError) -> R
  where R.RawValue == String {
    guard let value = R(rawValue: text(i)) else {
      throw SQLiteError(code: SQLITE_CORRUPT, message: "\"\(text(i))\" is not a valid \(R.self)")
    }
    return value
  }

  func namedOrNil<R: RawRepresentable>(_ i: Int32, _ type: R.Type = R.self) throws(SQLiteError) -> R?
  where R.RawValue == String {
    isNull(i) ? nil : try named(i, type)
  }

  /// Must follow the call that returned `start`, which determines the encoding that the length refers to.
  private func raw(_ i: Int32, _ start: UnsafeRawPointer?) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, i)))
  }

  private func raw(_ i: Int32, _ start: UnsafePointer<UInt8>?) -> UnsafeRawBufferPointer {
    raw(i, start.map { UnsafeRawPointer($0) })
  }
}
