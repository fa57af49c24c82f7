import TransferModel
import TransferProtocols

/// How often the requests of one file have failed without progress, as far as is known here. A value.
struct FileFailures: Sendable, Hashable {
  /// Repairs (region, clock, checksums, credentials) in a row before they count as a failure.
  static let repairLimit = 3
  /// Consecutive failures after which a dropped session fails the file.
  private static let dropLimit = 10

  /// Consecutive attempts without progress.
  private(set) var count: Int
  /// Consecutive repairs without a stored chunk.
  private var repairsInARow = 0

  init(_ count: Int) { self.count = count }

  /// Substantial progress.
  mutating func forgive() { count = 0 }

  /// Bytes that the server loses and receives again do not count as progress, neither here nor in the ledger: otherwise
  /// a file whose server loses them repeatedly would be retried forever.
  mutating func note(_ update: FactsUpdate, _ facts: TransferFacts) {
    guard update.isNew, update.gained > 0 else { return }
    let size = facts.layout.size
    if BodyProgress.forgives(update.gained, ofFile: size) || facts.acked == size { forgive() }
  }

  /// The server has stored something.
  mutating func endRepairs() { repairsInARow = 0 }

  /// Counts a repair. False if there have been too many in a row: this one is a failure.
  mutating func mayRepair() -> Bool {
    repairsInARow += 1
    return repairsInARow <= Self.repairLimit
  }

  /// How long the file waits after the protocol has given up its session; nil if that happens too often.
  var delayAfterDropMs: Int64? {
    guard count < Self.dropLimit else { return nil }
    return count == 0 ? 0 : 1_000 << Int64(min(count, 6))
  }
}
