import CMigrations
import CSQLite
import TransferModel

/// The numbered SQL files that make and upgrade a ledger, embedded in the program.
enum Migrations {
  static let all: [(name: String, sql: String)] = {
    var out: [(name: String, sql: String)] = []
    while let migration = cmigration_at(out.count)?.pointee {
      let bytes = UnsafeBufferPointer(start: migration.sql, count: migration.length)
      out.append((String(cString: migration.name), String(decoding: bytes, as: UTF8.self)))
    }
    return out
  }()

  /// The newest schema version.
  static var count: Int { all.count }

  /// Brings a ledger up to date, in one transaction: after a crash it is old or new, never between. The caller holds the
  /// gate alone. Another process may do the same: who is second finds nothing to do.
  static func run(on connection: Connection, store: Store, wallMs: Int64) throws {
    try connection.execute("BEGIN IMMEDIATE")
    do {
      let done = if case .ledger(let version) = try store.nature(connection) { version } else { 0 }
      if done < count { try upgrade(connection, from: done) }
      if done == 0 { try begin(connection, wallMs: wallMs) }
      if done < count { try mark(connection) }
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      try? connection.configure(SQLITE_DBCONFIG_DEFENSIVE, 1)
      throw error
    }
  }

  /// A migration may change what the schema says where the stored rows stay as they are, by an edit of its text. SQLite
  /// forbids that for files of unknown origin, so only such a migration runs without its defences.
  /// Source: https://sqlite.org/lang_altertable.html section 7
  private static func upgrade(_ connection: Connection, from done: Int) throws {
    for migration in all.dropFirst(done) {
      let editsSchema = migration.sql.contains("PRAGMA writable_schema")
      if editsSchema { try connection.configure(SQLITE_DBCONFIG_DEFENSIVE, 0) }
      try connection.execute(migration.sql)
      if editsSchema { try connection.configure(SQLITE_DBCONFIG_DEFENSIVE, 1) }
    }
  }

  private static func begin(_ connection: Connection, wallMs: Int64) throws {
    try connection.run(
      """
      INSERT INTO store_meta (id, uid, schema_version, view_version, created_by, created_at)
      VALUES (1, ?, 0, 1, 'transfers', ?)
      """, .uid(.make(wallMs: wallMs)), .int(wallMs))
  }

  private static func mark(_ connection: Connection) throws {
    try connection.run("UPDATE store_meta SET schema_version = ?", .int(count))
    try connection.execute("PRAGMA application_id=\(Store.applicationID); PRAGMA user_version=\(count)")
  }
}
