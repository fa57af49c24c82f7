/// Looks up rows by number, efficiently if many numbers are consecutive: the next row is then one step of the query for
/// the row before. A running query sees the rows as of its start, and keeps the snapshot of its connection open until
/// this object is deallocated.
final class RowSeries {
  private let db: Connection
  private let sql: StaticString
  private var statement: Statement?
  /// The number of the row that the query last returned.
  private var number: Int64?

  /// - Parameter sql: selects the rows from number `?1` on, in order, with the number in the first column.
  init(_ db: Connection, _ sql: StaticString) { (self.db, self.sql) = (db, sql) }

  deinit { statement?.reset() }

  /// The row with this number, valid until the next call; nil if there is none.
  func row(_ wanted: Int64) throws(SQLiteError) -> SQLRow? {
    let statement = if let known = statement { known } else { try db.statement(sql) }
    self.statement = statement
    if isNext(wanted), try step(statement) == wanted { return statement.row }
    statement.reset()
    statement.bind(1, wanted)
    return try step(statement) == wanted ? statement.row : nil
  }

  private func isNext(_ wanted: Int64) -> Bool { number.map { $0 < wanted && wanted - $0 == 1 } ?? false }

  private func step(_ statement: Statement) throws(SQLiteError) -> Int64? {
    number = nil
    guard try statement.step() else { return nil }
    number = statement.row.int64(0)
    return number
  }
}
