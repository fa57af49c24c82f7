import Glibc
import TransferModel

/// The checkpoint gate. SQLite up to 3.51.2 can corrupt a WAL when one process checkpoints while another one writes
/// (https://sqlite.org/wal.html section 11), so no connection checkpoints on its own: writers hold a shared lock around
/// each transaction, and only the holder of the exclusive lock empties the WAL. Used by one thread.
final class Gate {
  /// The WAL is emptied when it is longer than this, in bytes.
  static let walLimit: Int64 = 16 << 20
  /// The lock is never held for longer than a checkpoint or an upgrade takes, unless its holder is stopped. In
  /// milliseconds.
  static let patienceMs: Int64 = 30_000
  private let lock: SidecarLock
  private let file: StoreFile
  private let patienceMs: Int64
  private var threshold = Gate.walLimit
  private let turn: WriteTurn

  init(_ file: StoreFile, patienceMs: Int64 = Gate.patienceMs) throws(TransferError) {
    self.file = file
    self.patienceMs = patienceMs
    lock = try SidecarLock(path: file.path + ".gate")
    turn = WriteTurn(lock)
  }

  /// Runs a write transaction while no process checkpoints. Throws `.storeBusy` if the lock is not acquired within this
  /// time or the patience of the gate, whichever is longer.
  func writing<T>(withinMs: Int64 = 0, _ body: () throws -> T) throws -> T {
    try lock.lockShared(withinMs: max(patienceMs, withinMs))
    defer { lock.unlock() }
    return try body()
  }

  /// Runs `begin`, which waits for SQLite's write lock, while no other process waits for that lock. See ``WriteTurn``.
  func inTurn(_ begin: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    turn.take()
    defer { turn.giveUp() }
    try begin()
  }

  /// Runs `body` while no other process writes or checkpoints.
  func alone<T>(_ body: () throws -> T) throws -> T {
    try lock.lockExclusive(withinMs: patienceMs)
    defer { lock.unlock() }
    return try body()
  }

  /// Empties the WAL when it has grown too long. Does not wait: if a writer or a reader is in the way, it tries again
  /// when the WAL has grown by a quarter of the limit. Two processes that write all the time always block each other;
  /// so above twice the limit it retries for a moment, in which the other one ends its transaction.
  func checkpointIfLong(_ connection: Connection) throws {
    let size = file.walSize
    guard size > threshold else { return }
    let isEmptied = try size > 2 * Self.walLimit ? checkpointPatiently(connection) : checkpoint(connection)
    threshold = isEmptied ? Self.walLimit : size + Self.walLimit / 4
  }

  /// Empties the WAL, and waits for a moment if another process is in the way; returns whether it did.
  func checkpointPatiently(_ connection: Connection) throws -> Bool {
    for _ in 0..<Self.patientTries {
      if try checkpoint(connection) { return true }
      usleep(1_000)
    }
    return try checkpoint(connection)
  }

  /// One millisecond apart.
  private static let patientTries = 50

  /// Empties the WAL unless another process is in the way; returns whether it did.
  @discardableResult
  func checkpoint(_ connection: Connection) throws -> Bool {
    guard try lock.tryLockExclusive() else { return false }
    defer { lock.unlock() }
    try connection.setBusyTimeout(ms: 0)
    defer { try? connection.setBusyTimeout(ms: Store.busyTimeoutMs) }
    return try connection.checkpointTruncating()
  }
}
