import TransferLedger
package import TransferModel

/// What the store says of itself.
extension StoreReader {
  /// The engine that runs or ran last; nil when none ever has.
  package func newestRun() throws -> RunRow? { try reader.newestRun() }

  package func storeNumbers() throws -> StoreNumbers { try reader.storeNumbers() }

  /// Of the newest row of each table that has times: ids follow time.
  package func newestMs() throws -> Int64? { try reader.newestMs() }

  /// What SQLite finds wrong in the file without comparing indexes with tables; empty when it is well formed. At most
  /// `limit` lines. Reads everything once.
  package func quickProblems(limit: Int) throws -> [String] { try reader.quickProblems(limit: limit) }

  package func storeFacts() throws -> StoreFacts { try reader.storeFacts() }

  /// Every column of every public view, in the order of the views' own columns.
  package func viewColumns() throws -> [ViewColumnRow] { try reader.viewColumns() }

  /// The tables behind the views.
  package func tableNames() throws -> [String] { try reader.tableNames() }

  /// What SQLite finds wrong with the file and its foreign keys, at most a hundred lines; empty when it is intact.
  package func integrityProblems() throws -> [String] { try reader.integrityProblems() }

  /// Rows that break a rule; empty for a sound ledger. Reads everything: slow on a large one. At most 100 findings for
  /// each rule.
  package func check() throws -> [Finding] { try reader.check() }

  /// Runs one statement that a person wrote and that may only read. `columns` gets names and declared types once, `row`
  /// each row until it returns false. Nothing is kept in memory but the row.
  ///
  /// Throws `.usage` for what is not one reading statement, with the words of SQLite, and ``SQLBudget/Exceeded``.
  package func query(
    _ sql: String, within budget: SQLBudget, columns: ([SQLColumn]) throws -> Void, row: ([SQLFigure]) throws -> Bool
  ) throws {
    try reader.query(sql, within: budget, columns: columns, row: row)
  }
}
