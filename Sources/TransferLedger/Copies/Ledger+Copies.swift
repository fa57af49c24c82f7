import CSQLite
import TransferModel

extension Ledger {
  /// Copies the ledger at `path` into the new file `target`, durable on return; after a failure `target` is unchanged.
  /// Blocking. `isCancelled` is called periodically on this thread. Returns the size of the copy in bytes.
  ///
  /// Throws `.usage` for a target that must not be written, store errors for the ledger and for the disk of the target,
  /// `.interrupted`.
  package static func copy(
    _ path: String, as kind: LedgerCopy, to target: String, replacing: Bool, isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> Int64 {
    let file = try StoreFile(at: path, makesFolder: false)
    guard file.exists else { throw file.missingError }
    let copier = try LedgerCopier(store: Store(path: file.path), file: file, isCancelled: isCancelled)
    let place = try CopyTarget(target, replaces: replacing, ledger: file.path)
    do throws(TransferError) {
      try copier.copy(as: kind, to: place)
      try place.publish(mode: kind == .snapshot ? 0o400 : 0o600)
    } catch {
      place.abandon()
      throw error
    }
    return place.size
  }
}

/// Copies through a separate connection, which sees one state of the ledger from beginning to end.
private final class LedgerCopier {
  private let store: Store
  private let source: Connection
  private let file: StoreFile
  /// The initial stamp of a ledger that can only be read without locks; nil if SQLite's locks protect it.
  private let stamp: [Int]?
  private let isCancelled: () -> Bool
  /// Pages per step of a backup.
  private static let step: Int32 = 256

  init(store: Store, file: StoreFile, isCancelled: @escaping () -> Bool) throws(TransferError) {
    self.store = store
    self.file = file
    self.isCancelled = isCancelled
    // Reports why a ledger cannot be read with the same errors as every other command.
    let reader = SnapshotReader(store: store, file: file)
    try reader.read { _ in }
    let isImmutable = reader.isImmutable
    reader.close()
    stamp = isImmutable ? file.stamp : nil
    source = try store.openCopySource(isImmutable ? .immutable : .readOnly)
  }

  func copy(as kind: LedgerCopy, to place: CopyTarget) throws(TransferError) {
    do {
      switch kind {
      case .snapshot: try snapshot(place)
      case .backup: try backup(place)
      }
      if let stamp, file.walSize > 0 || file.stamp != stamp { throw written(place) }
    } catch let error as SQLiteError {
      throw describe(error, place)
    } catch {
      throw TransferError(any: error, "copy ledger to", path: place.path)
    }
  }

  private func snapshot(_ place: CopyTarget) throws {
    try source.whileAsking(isCancelled) {
      _ = try source.run("VACUUM INTO ?", .text(place.temporary))
    }
    let copy = try Connection(path: place.temporary, access: .readWrite)
    try copy.whileAsking(isCancelled) { try CapabilityColumns.clear(copy) }
    try CopyMark.set(copy)
  }

  private func backup(_ place: CopyTarget) throws {
    let copy = try Connection(path: place.temporary, access: .readWrite)
    // The transaction keeps one state for the whole copy; without it each foreign commit would restart the copy.
    try source.run("BEGIN")
    defer { _ = try? source.run("COMMIT") }
    _ = try source.first("SELECT 1 FROM store_meta") { _ in true }
    guard let backup = sqlite3_backup_init(copy.db, "main", source.db, "main") else {
      throw SQLiteError(sqlite3_errcode(copy.db), on: copy.db)
    }
    var code = SQLITE_OK
    while code == SQLITE_OK, !isCancelled() { code = sqlite3_backup_step(backup, Self.step) }
    let end = sqlite3_backup_finish(backup)
    if code == SQLITE_OK { throw SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted") }
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw SQLiteError(code == SQLITE_DONE ? end : code, on: copy.db)
    }
    try CopyMark.set(copy)
    // No other process has the file open: all of it is in one file once the connection is closed.
    guard try copy.checkpointTruncating() else { throw SQLiteError(code: SQLITE_BUSY, message: "the copy is in use") }
  }

  private func written(_ place: CopyTarget) -> TransferError {
    TransferError(
      .storeBusy, "copy ledger to", NameBytes(place.path),
      cause: "the ledger was written in the meantime, and cannot be locked from here",
      remedy: "try again, or let its owner make the copy")
  }

  private func describe(_ error: SQLiteError, _ place: CopyTarget) -> TransferError {
    if error.primary == SQLITE_INTERRUPT {
      return TransferError(
        .interrupted, "copy ledger to", NameBytes(place.path), cause: "stopped; no copy was created")
    }
    var described = TransferError(error, "copy ledger to", path: place.path)
    if described.kind == .storeFull { described.remedy = "free space on its disk" }
    return described
  }
}

extension Store {
  /// A connection for copies: `query_only` would also refuse to write the copy. The file itself is opened for reading.
  fileprivate func openCopySource(_ access: Connection.Access) throws(TransferError) -> Connection {
    let connection = try openReader(access)
    do { try connection.execute("PRAGMA query_only=OFF") } catch {
      throw TransferError(error, "open store", path: path)
    }
    return connection
  }
}

/// A closure that SQLite can call.
private final class Question {
  let answer: () -> Bool
  init(_ answer: @escaping () -> Bool) { self.answer = answer }
}

extension Connection {
  /// Runs `body`, whose statements fail with SQLITE_INTERRUPT once `isCancelled` returns true.
  func whileAsking<T>(_ isCancelled: @escaping () -> Bool, _ body: () throws -> T) rethrows -> T {
    let question = Question(isCancelled)
    let context = Unmanaged.passUnretained(question).toOpaque()
    sqlite3_progress_handler(
      db, 10_000, { Unmanaged<Question>.fromOpaque($0!).takeUnretainedValue().answer() ? 1 : 0 }, context)
    defer { sqlite3_progress_handler(db, 0, nil, nil) }
    return try withExtendedLifetime(question, body)
  }
}
