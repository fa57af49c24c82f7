import TransferModel

/// Makes a ledger, or upgrades its schema, before anything is written to it.
struct StorePreparation {
  let store: Store

  private var path: String { store.path }
  private var migrations: Migrations { store.migrations }

  /// The writing connection of a new ledger. A process that finds a file without a schema waits for the gate, which is
  /// held from before the file exists until its schema is committed.
  func created(_ file: StoreFile, _ gate: Gate, wallMs: Int64) throws(TransferError) -> Connection {
    do {
      return try gate.alone {
        if !file.exists { try file.create() }
        return try prepared(nil, mayBegin: true, wallMs: wallMs)
      }
    } catch {
      throw TransferError(any: error, "open store", path: path)
    }
  }

  /// The writing connection of a ledger whose schema is up to date.
  /// - Parameter gate: nil for a caller that holds it exclusively.
  func prepared(_ gate: Gate?, mayBegin: Bool, wallMs: Int64) throws(TransferError) -> Connection {
    let connection = try store.openWriter()
    do {
      let nature = try store.nature(connection)
      if nature == .blank && !mayBegin { throw TransferError.blankStore(path) }
      let isOld = if case .ledger(let version) = nature { version < migrations.count } else { false }
      let engineLock = isOld ? try lockOutEngines() : nil
      if try nature != .ledger(version: migrations.count) || journalMode(connection) != "wal" {
        if let gate {
          try gate.alone { try upgrade(connection, wallMs: wallMs) }
        } else {
          try upgrade(connection, wallMs: wallMs)
        }
      }
      engineLock?.unlock()
      return connection
    } catch {
      throw TransferError(any: error, "open store", path: path)
    }
  }

  /// Keeps the schema from changing while an engine that expects another one runs.
  private func lockOutEngines() throws(TransferError) -> SidecarLock {
    let lock = try SidecarLock(path: path + ".lock")
    guard try lock.tryLockExclusive() else {
      let holder = lock.read()
      throw TransferError(
        .locked, "upgrade store", NameBytes(path),
        cause: "an engine of an older version is running" + (holder.isEmpty ? "" : ": \(holder)"),
        remedy: "let it end, or stop it; then run this again")
    }
    return lock
  }

  private func upgrade(_ connection: Connection, wallMs: Int64) throws {
    // Has no effect on a file that has pages.
    if let pageSize = store.pageSize { try connection.execute("PRAGMA page_size=\(pageSize)") }
    let mode = try connection.first("PRAGMA journal_mode=WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw TransferError(
        .storeUnsuitable, "open store", NameBytes(path), cause: "SQLite cannot keep a write-ahead log there",
        remedy: "put it on a local disk with --store")
    }
    try migrations.run(on: connection, store: store, wallMs: wallMs)
  }

  private func journalMode(_ connection: Connection) throws -> String {
    try connection.first("PRAGMA journal_mode") { $0.text(0) } ?? ""
  }
}

extension TransferError {
  static func blankStore(_ path: String) -> TransferError {
    TransferError(
      .storeCorrupt, "open store", NameBytes(path), cause: blankCause, remedy: "\"transfers push\" initializes it")
  }

  /// The file is empty: it is not a ledger yet.
  var isBlankStore: Bool { kind == .storeCorrupt && cause == Self.blankCause }

  private static let blankCause = "it is empty"
}
