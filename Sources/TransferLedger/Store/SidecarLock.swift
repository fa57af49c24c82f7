import Glibc
import TransferModel

/// An `flock` on a file beside the ledger. Each value has its own open file, so that two in one process exclude each
/// other too; the kernel drops it with the process. Used by one thread at a time.
final class SidecarLock {
  let path: String
  let descriptor: Int32

  /// Opens the file, made with mode 0600 when missing.
  init(path: String) throws(TransferError) {
    self.path = path
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TransferError(errno: errno, "open lock of store", path: path) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() {
      _ = fchmod(descriptor, 0o600)
    }
  }

  /// Closing alone is not enough: a child that this process is just starting shares the open file, and with it the lock, until
  /// it runs its program.
  deinit {
    unlock()
    Glibc.close(descriptor)
  }

  /// Waits for the shared lock: many hold it together.
  func lockShared() throws(TransferError) { try wait(LOCK_SH) }

  /// Waits until nobody else holds the lock.
  func lockExclusive() throws(TransferError) { try wait(LOCK_EX) }

  private func wait(_ operation: Int32) throws(TransferError) {
    while flock(descriptor, operation) != 0 {
      guard errno == EINTR else { throw TransferError(errno: errno, "lock store", path: path) }
    }
  }

  /// Takes the lock alone; false when anybody else holds it.
  func tryLockExclusive() throws(TransferError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw TransferError(errno: errno, "lock store", path: path) }
    }
    return true
  }

  func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Replaces the content by one line for people.
  func write(_ line: String) throws(TransferError) {
    let bytes = Array((line + "\n").utf8)
    let written = ftruncate(descriptor, 0) == 0 ? pwrite(descriptor, bytes, bytes.count, 0) : -1
    guard written == bytes.count else { throw TransferError(errno: errno, "write lock of store", path: path) }
  }

  /// The line that the holder wrote; empty when it wrote none.
  func read() -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = max(0, pread(descriptor, &buffer, buffer.count, 0))
    return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
