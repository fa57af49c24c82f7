import CSQLite
import TransferModel

/// The reading connection of a process. Each read sees one consistent state; reads run one after the other.
final class SnapshotReader: @unchecked Sendable {
  private let store: Store
  private let file: StoreFile
  /// True when the file had to be opened without locks: see ``open()``.
  private struct Source {
    var connection: Connection
    var isImmutable: Bool
  }
  private let source = Lock<Source?>(nil)
  private let trustsLocks: Bool

  /// - Parameter trustsLocks: false where the file system has none that are safe: then the file is read as one that
  ///   nobody writes, see ``open()``.
  init(store: Store, file: StoreFile, trustsLocks: Bool = true) {
    (self.store, self.file, self.trustsLocks) = (store, file, trustsLocks)
  }

  func read<T>(_ body: (LedgerReader) throws -> T) throws(TransferError) -> T {
    do {
      return try source.withLock { source in
        for _ in 0..<8 {
          let current = try source ?? open()
          source = current
          let stamp = file.stamp
          let result = try Self.snapshot(current.connection, body)
          if !current.isImmutable || (file.walSize == 0 && file.stamp == stamp) { return result }
          source = nil
        }
        throw busy
      }
    } catch {
      throw TransferError(any: error, "read store", path: store.path)
    }
  }

  /// The last read was without locks, see ``open()``.
  var isImmutable: Bool { source.withLock { $0?.isImmutable ?? false } }

  /// Of the file: changes at a checkpoint.
  var stamp: [Int] { file.stamp }

  func close() { source.withLock { $0 = nil } }

  private static func snapshot<T>(_ connection: Connection, _ body: (LedgerReader) throws -> T) throws -> T {
    try connection.run("BEGIN")
    defer { _ = try? connection.run("COMMIT") }
    return try body(LedgerReader(db: connection))
  }

  /// Opens normally. A user who may not write beside the ledger cannot take SQLite's locks: then, when the WAL is
  /// empty, the file is opened without locks, and ``read(_:)`` starts over if somebody wrote meanwhile.
  private func open() throws -> Source {
    guard trustsLocks else { return try openWithoutLocks(unsafe) }
    let connection: Connection
    let nature: Store.Nature
    do {
      connection = try store.openReader(.readOnly)
      nature = try store.nature(connection)
    } catch let error as TransferError where error.kind == .storeReadOnly || error.kind == .storeIO {
      return try openWithoutLocks(error)
    } catch let error as SQLiteError where error.primary == SQLITE_READONLY || error.primary == SQLITE_CANTOPEN {
      return try openWithoutLocks(TransferError(error, "read store", path: store.path))
    }
    try verify(nature)
    return Source(connection: connection, isImmutable: false)
  }

  private func openWithoutLocks(_ error: TransferError) throws -> Source {
    guard file.walSize == 0 else {
      var error = error
      error.remedy = "its owner can make a copy to read with \"transfers store snapshot\""
      throw error
    }
    let connection = try store.openReader(.immutable)
    try verify(try store.nature(connection))
    return Source(connection: connection, isImmutable: true)
  }

  private func verify(_ nature: Store.Nature) throws {
    switch nature {
    case .blank:
      throw TransferError(
        .storeCorrupt, "open store", NameBytes(store.path), cause: "it is empty", remedy: "\"transfers push\" fills it")
    case .ledger(let version):
      guard version == store.migrations.count else {
        throw TransferError(
          .storeReadOnly, "open store", NameBytes(store.path),
          cause: "it has the older schema \(version) and must be upgraded", remedy: "run \"transfers run\" once")
      }
    }
  }

  private var unsafe: TransferError {
    TransferError(
      .storeUnsuitable, "read store", NameBytes(store.path),
      cause: "it has a write-ahead log on a file system whose locks are not safe for it")
  }

  private var busy: TransferError {
    TransferError(
      .storeBusy, "read store", NameBytes(store.path), cause: "it is written all the time and cannot be locked",
      remedy: "try again")
  }
}
