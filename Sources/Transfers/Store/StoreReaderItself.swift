import TransferLedger
package import TransferModel

/// Facts about the store itself.
extension StoreReader {
  /// The current or last run of an engine; nil if there never was one.
  package func newestRun() throws -> RunRow? { try reader.newestRun() }

  package func storeNumbers() throws -> StoreNumbers { try reader.storeNumbers() }

  /// The newest time in the store, from the newest row of each table with times: ids follow time.
  package func newestMs() throws -> Int64? { try reader.newestMs() }

  /// Problems that SQLite finds in the file without comparing indexes with tables; empty when it is well formed. At
  /// most `limit` lines. Reads everything once.
  package func quickProblems(limit: Int) throws -> [String] { try reader.quickProblems(limit: limit) }

  package func storeFacts() throws -> StoreFacts { try reader.storeFacts() }

  /// Every column of every public view, in the order of the views' own columns.
  package func viewColumns() throws -> [ViewColumnRow] { try reader.viewColumns() }

  /// The tables behind the views.
  package func tableNames() throws -> [String] { try reader.tableNames() }

  /// Problems that SQLite finds in the file and its foreign keys, at most a hundred lines; empty when it is intact.
  package func integrityProblems() throws -> [String] { try reader.integrityProblems() }

  /// Rows that violate a rule; empty for a sound ledger. Reads everything, so it is slow for a large one. At most 100
  /// findings for each rule.
  package func check() throws -> [Finding] { try reader.check() }

  /// Runs one read-only statement written by a person. `columns` receives names and declared types once, `row` each row
  /// until it returns false. Only the current row is kept in memory.
  ///
  /// Throws `.usage`, with SQLite's message, for anything but one read-only statement, and ``SQLBudget/Exceeded``.
  package func query(
    _ sql: String, within budget: SQLBudget, columns: ([SQLColumn]) throws -> Void, row: ([SQLFigure]) throws -> Bool
  ) throws {
    try reader.query(sql, within: budget, columns: columns, row: row)
  }
}
