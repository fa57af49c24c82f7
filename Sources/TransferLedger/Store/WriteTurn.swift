import CSys
import Glibc

/// The turn to wait for SQLite's write lock, which one process has at a time.
///
/// Waiting for that lock is not fair. SQLite polls at intervals of up to 100 ms, and a process that writes one
/// transaction after another takes the lock again microseconds after releasing it: during a verb over many rows other
/// processes waited for 0.4 to 1.0 s (SQLite 3.40.1). Therefore every process takes the turn before it begins a
/// transaction, and a waiter keeps it; so the busy process has to wait behind it, and nobody waits for more than one
/// transaction of each other process.
///
/// An open file description lock on one byte of the gate's file (fcntl(2), F_OFD_SETLK), which is independent of the
/// `flock` on it. It only orders waiters and protects nothing: if it is not acquired soon, the caller continues without
/// it. Used by one thread.
final class WriteTurn {
  /// Longer than the longest transaction that others have to wait for.
  private static let patienceNs: Int64 = 500_000_000
  /// A process that was stopped during its turn delays others once in this time.
  private static let withoutNs: Int64 = 60_000_000_000
  private static let longestPauseUs: UInt32 = 4_000
  private let lock: SidecarLock
  private var isTaken = false
  private var withoutUntilNs: Int64 = 0

  init(_ lock: SidecarLock) { self.lock = lock }

  /// Waits for the turn for a limited time.
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
