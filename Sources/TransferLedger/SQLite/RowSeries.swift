/// Rows by their numbers, when many of these follow each other: the next one is a step of the search for the one
/// before. A search that has begun sees the rows as they are then, and holds the snapshot of its connection until this
/// is gone.
final class RowSeries {
  private let db: Connection
  private let sql: StaticString
  private var statement: Statement?
  /// Where the search stands.
  private var number: Int64?

  /// - Parameter sql: rows from the number `?1` on, in their order, with the number in the first column.
  init(_ db: Connection, _ sql: StaticString) { (self.db, self.sql) = (db, sql) }

  deinit { statement?.reset() }

  /// The row with this number, until the next call; nil when there is none.
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
