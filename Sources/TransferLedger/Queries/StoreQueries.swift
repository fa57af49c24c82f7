import CSQLite
import TransferModel

extension LedgerReader {
  package func storeFacts() throws -> StoreFacts {
    let facts = try db.first("SELECT store_uid, schema_version, view_version FROM v_meta") { row in
      StoreFacts(uid: row.text(0), schemaVersion: row.int64(1), viewVersion: row.int64(2))
    }
    guard let facts else { throw SQLiteError(code: SQLITE_CORRUPT, message: "store_meta is empty") }
    return facts
  }

  /// Every column of every public view, in the order of the views' own columns.
  package func viewColumns() throws -> [ViewColumnRow] {
    try db.rows(
      """
      SELECT d.view, d."column", d.type, d.unit, d.text
      FROM view_doc d JOIN pragma_table_info(d.view) i ON i.name = d."column"
      ORDER BY d.view, i.cid
      """
    ) { row in
      ViewColumnRow(view: row.text(0), column: row.text(1), type: row.text(2), unit: row.text(3), text: row.text(4))
    }
  }

  /// The tables behind the views.
  public func tableNames() throws -> [String] {
    try db.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
  }

  /// Problems that SQLite finds in the file and in its foreign keys, at most a hundred lines of each; empty if the file
  /// is intact.
  public func integrityProblems() throws -> [String] {
    let damage = try db.rows("PRAGMA integrity_check(100)") { $0.text(0) }.filter { $0 != "ok" }
    let broken = try db.rows("PRAGMA foreign_key_check") { row in
      "\(row.text(0)) row \(row.int64(1)) refers to a missing row of \(row.text(2))"
    }
    return damage + broken.prefix(100)
  }
}
