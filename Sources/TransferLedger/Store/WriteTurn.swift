import CSys
import Glibc

/// Whose turn it is to wait for SQLite's write lock: that of one process at a time.
///
/// Waiting for that lock is not fair. SQLite looks again after up to 100 ms, and a process that writes one transaction
/// after another takes the lock again microseconds after it gave it up: beside a verb over many rows others waited for
/// 0.4 to 1.0 s (SQLite 3.40.1). Who waits therefore holds a lock of its own, which everybody takes before beginning a
/// transaction; so the busy one comes to wait behind it, and nobody waits for more than one transaction of each other
/// process.
///
/// An open file description lock on one byte of the gate's file (fcntl(2), F_OFD_SETLK), which knows nothing of the
/// `flock` on it. It orders and protects nothing: one that does not come soon is done without. Used by one thread.
final class WriteTurn {
  /// Longer than the longest transaction that others wait behind.
  private static let patienceNs: Int64 = 500_000_000
  /// A process that was stopped in its turn costs one wait in this time.
  private static let withoutNs: Int64 = 60_000_000_000
  private static let longestPauseUs: UInt32 = 4_000
  private let lock: SidecarLock
  private var isTaken = false
  private var withoutUntilNs: Int64 = 0

  init(_ lock: SidecarLock) { self.lock = lock }

  /// Waits for the turn, but not for long.
  func take() {
    let startedNs = csys_boottime_ns()
    guard startedNs >= withoutUntilNs else { return }
    var pauseUs: UInt32 = 250
    while csys_lock_byte(lock.descriptor, 1) != 0 {
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else { return }
      guard csys_boottime_ns() - startedNs < Self.patienceNs else {
        withoutUntilNs = csys_boottime_ns() + Self.withoutNs
        return
      }
      usleep(pauseUs)
      pauseUs = min(pauseUs * 2, Self.longestPauseUs)
    }
    isTaken = true
  }

  func giveUp() {
    if isTaken { _ = csys_lock_byte(lock.descriptor, 0) }
    isTaken = false
  }
}
