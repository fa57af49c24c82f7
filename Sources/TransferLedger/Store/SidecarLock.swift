import CSys
import Glibc
import TransferModel

/// An `flock` on a file beside the ledger. Each instance opens the file itself, so that two in one process exclude each
/// other too; the kernel releases the lock when the process ends. Used by one thread at a time, which ``EngineTurn``
/// and ``Ledger`` ensure.
final class SidecarLock: @unchecked Sendable {
  let path: String
  let descriptor: Int32

  /// Opens the file; creates it with mode 0600 if it is missing.
  init(path: String) throws(TransferError) {
    self.path = path
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TransferError(errno: errno, "open lock of store", path: path) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() {
      _ = fchmod(descriptor, 0o600)
    }
  }

  /// Closing alone is not enough: a child process that is just being started shares the open file, and with it the
  /// lock, until it executes its program.
  deinit {
    unlock()
    Glibc.close(descriptor)
  }

  /// Waits for the shared lock, which any number may hold together. Throws `.storeBusy` if it is not acquired within
  /// this time.
  func lockShared(withinMs: Int64) throws(TransferError) { try wait(LOCK_SH, withinMs) }

  /// Waits for the exclusive lock. Throws `.storeBusy` if it is not acquired within this time.
  func lockExclusive(withinMs: Int64) throws(TransferError) { try wait(LOCK_EX, withinMs) }

  /// Waits for the exclusive lock without a limit, in a dedicated thread; false if the file cannot be locked.
  func waitAlone() -> Bool {
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { return false }
    }
    return true
  }

  /// A blocking `flock` has no timeout. These locks are held for milliseconds, so polling with growing pauses costs
  /// nothing.
  private func wait(_ operation: Int32, _ withinMs: Int64) throws(TransferError) {
    let endNs = csys_boottime_ns() + withinMs * 1_000_000
    var pauseUs: Int64 = 250
    while true {
      if try take(operation) { return }
      let restUs = (endNs - csys_boottime_ns()) / 1_000
      guard restUs > 0 else { throw held(withinMs) }
      usleep(UInt32(min(pauseUs, restUs)))
      pauseUs = min(pauseUs * 2, Self.longestPauseUs)
    }
  }

  private static let longestPauseUs: Int64 = 100_000

  private func held(_ withinMs: Int64) -> TransferError {
    var status = stat()
    let holder = fstat(descriptor, &status) == 0 ? LockHolder.first(of: status) : nil
    return TransferError(
      .storeBusy, "lock store", NameBytes(path),
      cause: "\(holder?.words ?? "another process") has held the lock for more than \(withinMs / 1_000) s",
      remedy: "let that process continue, or end it; nothing was changed")
  }

  /// Takes the exclusive lock; false if anyone else holds the lock.
  func tryLockExclusive() throws(TransferError) -> Bool { try take(LOCK_EX) }

  private func take(_ operation: Int32) throws(TransferError) -> Bool {
    while flock(descriptor, operation | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw TransferError(errno: errno, "lock store", path: path) }
    }
    return true
  }

  func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Replaces the content of the file by one line for display.
  func write(_ line: String) throws(TransferError) {
    let bytes = Array((line + "\n").utf8)
    let written = ftruncate(descriptor, 0) == 0 ? pwrite(descriptor, bytes, bytes.count, 0) : -1
    guard written == bytes.count else { throw TransferError(errno: errno, "write lock of store", path: path) }
  }

  /// The line that the holder wrote; empty if it wrote none.
  func read() -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = max(0, pread(descriptor, &buffer, buffer.count, 0))
    return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
