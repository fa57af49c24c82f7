import CMigrations
import CSQLite
import CSys
import TransferModel

/// Opens connections to a ledger's file: the only place that decides whether a file is one of our ledgers, and how
/// SQLite treats it.
struct Store: Sendable {
  /// `TRFS`; `file(1)` shows it. Source: https://sqlite.org/pragma.html#pragma_application_id
  static let applicationID: Int64 = 0x5452_4653
  static let busyTimeoutMs: Int32 = 5_000
  let path: String
  /// They produce the schema that this program works with.
  var migrations = Migrations.embedded
  /// The page size of a ledger that it creates; nil for SQLite's default of 4096 bytes.
  var pageSize: Int?
  /// Where connections come from and are left; nil to open a new one each time.
  var kept: KeptConnections?

  /// A connection that writes. It checkpoints neither automatically nor on close: see ``Gate``.
  func openWriter() throws(TransferError) -> Connection {
    if let connection = kept?.take(.readWrite, of: path) { return connection }
    return try openNewWriter()
  }

  /// The same, certainly without anything that an earlier connection had read.
  func openNewWriter() throws(TransferError) -> Connection {
    do {
      let connection = try Connection(path: path, access: .readWrite)
      try harden(connection)
      guard connection.isWritable else {
        throw TransferError(
          .storeReadOnly, "open store", NameBytes(path), cause: "it is not writable", remedy: "check its permissions")
      }
      try connection.execute("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA foreign_keys=ON")
      return connection
    } catch {
      throw TransferError(any: error, "open store", path: path)
    }
  }

  /// A connection that cannot write.
  func openReader(_ access: Connection.Access) throws(TransferError) -> Connection {
    if access == .readOnly, let connection = kept?.take(access, of: path) { return connection }
    do {
      let connection = try Connection(path: path, access: access)
      try harden(connection)
      try connection.execute("PRAGMA query_only=ON")
      return connection
    } catch {
      throw TransferError(any: error, "open store", path: path)
    }
  }

  /// Takes back a connection that is sound: nothing has failed on it that could make it differ from the file.
  func leave(_ connection: Connection, _ access: Connection.Access) { kept?.keep(connection, access, of: path) }

  /// A ledger may come from an untrusted source: SQLite features that a hostile file could abuse are disabled.
  /// Source: https://sqlite.org/security.html
  private func harden(_ connection: Connection) throws(SQLiteError) {
    try connection.setBusyTimeout(ms: Self.busyTimeoutMs)
    try connection.configure(SQLITE_DBCONFIG_DEFENSIVE, 1)
    try connection.configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    try connection.configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    try connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try connection.execute(
      "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192")
  }

  /// The kind of a file, according to its header.
  enum Nature: Equatable {
    /// Empty: not initialized yet.
    case blank
    /// A ledger of this schema version.
    case ledger(version: Int)
  }

  /// Reads the header of the file, before anything else is trusted or written. Refuses foreign databases and newer
  /// schemas.
  func nature(_ connection: Connection) throws -> Nature {
    let application = try connection.first("PRAGMA application_id") { $0.int64(0) } ?? 0
    let version = try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0
    if application == 0 && version == 0 {
      let isEmpty = try connection.first("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in true } == nil
      if isEmpty { return .blank }
    }
    guard application == Self.applicationID else {
      throw TransferError(
        .storeCorrupt, "open store", NameBytes(path), cause: "it is a database, but not a ledger of transfers",
        remedy: "specify another file with --store")
    }
    guard version <= migrations.count else { throw newer(version, "open store") }
    return .ledger(version: version)
  }

  /// Called inside a write transaction: checks that no newer program has changed the schema since the ledger was
  /// opened. Only reads a number in the header of the file.
  func requireOwnSchema(_ connection: Connection) throws {
    let version = try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0
    guard version == migrations.count else { throw newer(version, "write to store") }
  }

  /// Called inside a write transaction: the next process that opens the path would find nothing of what is written now,
  /// and begin the same requests.
  func requirePath(of connection: Connection) throws {
    guard connection.hasLostItsPath else { return }
    throw TransferError(
      .storeIO, "write to store", NameBytes(path), cause: "its file was deleted, moved or replaced while it was in use",
      remedy: "put it back, then run \"transfers run\"; results that arrived since are not recorded")
  }

  private func newer(_ version: Int, _ operation: String) -> TransferError {
    TransferError(
      .storeNewer, operation, NameBytes(path),
      cause: "it has schema version \(version); this program supports \(migrations.count)",
      remedy: "install a newer transfers")
  }
}
