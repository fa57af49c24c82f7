import CMigrations
import CSQLite
import TransferModel

/// The numbered SQL files that create and upgrade a ledger, in order: the position of a file, counted from 1, is the
/// schema version that it produces.
struct Migrations: Sendable {
  typealias Step = (name: String, sql: String)
  var steps: [Step]

  /// The files of `migrations/`, which are embedded in the program.
  static let embedded: Migrations = {
    var steps: [Step] = []
    while let migration = cmigration_at(steps.count)?.pointee {
      let bytes = UnsafeBufferPointer(start: migration.sql, count: migration.length)
      steps.append((String(cString: migration.name), String(decoding: bytes, as: UTF8.self)))
    }
    return Migrations(steps: steps)
  }()

  /// The newest schema version.
  var count: Int { steps.count }

  /// Upgrades a ledger in one transaction: after a crash it is old or new, never in between. The caller holds the gate
  /// exclusively. Another process may do the same: the second one finds nothing to do.
  func run(on connection: Connection, store: Store, wallMs: Int64) throws {
    try connection.execute("BEGIN IMMEDIATE")
    do {
      let done = if case .ledger(let version) = try store.nature(connection) { version } else { 0 }
      for step in steps.dropFirst(done) { try connection.execute(step.sql) }
      if done == 0 { try begin(connection, wallMs: wallMs) }
      if done < count { try mark(connection) }
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  private func begin(_ connection: Connection, wallMs: Int64) throws {
    try connection.run(
      """
      INSERT INTO store_meta (id, uid, schema_version, view_version, created_by, created_at)
      VALUES (1, ?, 0, 1, 'transfers', ?)
      """, .uid(.makeChecked(wallMs: wallMs)), .int(wallMs))
  }

  private func mark(_ connection: Connection) throws {
    try connection.run("UPDATE store_meta SET schema_version = ?", .int(count))
    try connection.execute("PRAGMA application_id=\(Store.applicationID); PRAGMA user_version=\(count)")
  }
}
