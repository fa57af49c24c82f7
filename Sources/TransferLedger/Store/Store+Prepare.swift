import TransferModel

extension Store {
  /// The writing connection of a ledger whose schema is up to date.
  func prepared(_ gate: Gate, mayBegin: Bool, wallMs: Int64) throws(TransferError) -> Connection {
    let connection = try openWriter()
    do {
      let nature = try nature(connection)
      if nature == .blank && !mayBegin {
        throw TransferError(
          .storeCorrupt, "open store", NameBytes(path), cause: "it is empty", remedy: "\"transfers push\" fills it")
      }
      let isOld = if case .ledger(let version) = nature { version < migrations.count } else { false }
      let engineLock = isOld ? try lockOutEngines() : nil
      if try nature != .ledger(version: migrations.count) || journalMode(connection) != "wal" {
        try gate.alone { try upgrade(connection, wallMs: wallMs) }
      }
      engineLock?.unlock()
      return connection
    } catch {
      throw TransferError(any: error, "open store", path: path)
    }
  }

  /// The schema does not change beneath an engine that knows another one.
  private func lockOutEngines() throws(TransferError) -> SidecarLock {
    let lock = try SidecarLock(path: path + ".lock")
    guard try lock.tryLockExclusive() else {
      let holder = lock.read()
      throw TransferError(
        .locked, "upgrade store", NameBytes(path),
        cause: "an engine of an older version runs" + (holder.isEmpty ? "" : ": \(holder)"),
        remedy: "let it end, or stop it; then run this again")
    }
    return lock
  }

  private func upgrade(_ connection: Connection, wallMs: Int64) throws {
    let mode = try connection.first("PRAGMA journal_mode=WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw TransferError(
        .storeUnsuitable, "open store", NameBytes(path), cause: "SQLite cannot keep a write-ahead log there",
        remedy: "put it on a local disk with --store")
    }
    try migrations.run(on: connection, store: self, wallMs: wallMs)
  }

  private func journalMode(_ connection: Connection) throws -> String {
    try connection.first("PRAGMA journal_mode") { $0.text(0) } ?? ""
  }
}
