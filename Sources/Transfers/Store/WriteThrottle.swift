package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Throttles large changes of the store, so that other processes get a quarter of the time. SQLite has no queue: a
/// waiting process gets the lock only if it happens to ask while the lock is free.
package final class WriteThrottle {
  private let clock: any TransferClock
  private var sinceMs: Int64

  package init(_ clock: any TransferClock) {
    self.clock = clock
    sinceMs = clock.bootMs
  }

  package func rest() {
    usleep(UInt32(1_000 * max(1, min(500, (clock.bootMs - sinceMs) / 3))))
    sinceMs = clock.bootMs
  }
}
