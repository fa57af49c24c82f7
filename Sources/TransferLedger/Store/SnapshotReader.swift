import CSQLite
import TransferModel

/// The reading connection of a process. Each read sees one consistent state; reads run one at a time.
final class SnapshotReader: @unchecked Sendable {
  private let store: Store
  private let file: StoreFile
  private struct Source {
    var connection: Connection
    /// The state of the file when it was opened without locks; nil while SQLite's locks protect it. See ``open()``.
    var state: [Int]?
    /// No read has failed.
    var isSound = true
  }
  private let source = Lock<Source?>(nil)
  private let trustsLocks: Bool

  /// - Parameter trustsLocks: false if the locks of the file system are not safe: then the file is read without locks,
  ///   see ``open()``.
  init(store: Store, file: StoreFile, trustsLocks: Bool = true) {
    (self.store, self.file, self.trustsLocks) = (store, file, trustsLocks)
  }

  func read<T>(_ body: (LedgerReader) throws -> T) throws(TransferError) -> T {
    do {
      return try source.withLock { source in
        for _ in 0..<8 {
          let current = try source ?? open()
          source = current
          guard let state = current.state else {
            do { return try Self.snapshot(current.connection, body) } catch {
              source?.isSound = false
              throw error
            }
          }
          // The cache of the connection may be outdated if the file has changed.
          if state == file.unlockedState {
            do {
              let result = try Self.snapshot(current.connection, body)
              if state == file.unlockedState { return result }
            } catch {
              // If the file changed during the read, the error may come from a mixture of two states: read again.
              if state == file.unlockedState { throw error }
            }
          }
          source = nil
        }
        throw busy
      }
    } catch {
      throw TransferError(any: error, "read store", path: store.path)
    }
  }

  /// Whether the last read was without locks, see ``open()``.
  var isImmutable: Bool { source.withLock { $0?.state != nil } }

  /// The stamp of the file: changes at a checkpoint.
  var stamp: [Int] { file.stamp }

  func close() {
    source.withLock { source in
      if let source, source.isSound, source.state == nil { store.leave(source.connection, .readOnly) }
      source = nil
    }
  }

  private static func snapshot<T>(_ connection: Connection, _ body: (LedgerReader) throws -> T) throws -> T {
    try connection.run("BEGIN")
    defer { _ = try? connection.run("COMMIT") }
    return try body(LedgerReader(db: connection))
  }

  /// Opens normally if there is a WAL. A copy has none, and reading does not create one: a writer creates one first,
  /// and none of our programs removes it. A user who may not write beside the ledger cannot take SQLite's locks. In
  /// both cases, if the WAL is missing or empty, the file is opened without locks, and ``read(_:)`` starts over if
  /// another process wrote meanwhile.
  private func open() throws -> Source {
    guard trustsLocks else { return try openWithoutLocks(unsafe) }
    if let state = file.unlockedState, state.last == 0 { return try openUnlocked(state) }
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
    return Source(connection: connection, state: nil)
  }

  private func openWithoutLocks(_ error: TransferError) throws -> Source {
    guard let state = file.unlockedState else {
      var error = error
      error.remedy = "its owner can make a copy to read with \"transfers store snapshot\""
      throw error
    }
    return try openUnlocked(state)
  }

  private func openUnlocked(_ state: [Int]) throws -> Source {
    let connection = try store.openReader(.immutable)
    try verify(try store.nature(connection))
    return Source(connection: connection, state: state)
  }

  private func verify(_ nature: Store.Nature) throws {
    switch nature {
    case .blank: throw TransferError.blankStore(store.path)
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
      .storeBusy, "read store", NameBytes(store.path), cause: "it is constantly written and cannot be locked",
      remedy: "try again")
  }
}
