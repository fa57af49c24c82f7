package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Others wait for the store while much is changed, and SQLite serves who asks at the right moment: they get a quarter
/// of the time.
package final class TurnTaking {
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
