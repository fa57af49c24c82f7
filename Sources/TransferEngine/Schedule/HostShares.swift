import TransferModel

/// Which hosts have ready files in the ledger, as far as it was looked through: a few batches at a time, round and
/// round. A value.
struct HostShares: Sendable {
  /// Batches in a look.
  static let lookLimit = 64
  private static let betweenRoundsMs: Int64 = 250
  private static let betweenLooksMs: Int64 = 10

  /// Where the next look begins, and when.
  private(set) var lookedThrough = BatchID(rawValue: 0)
  private(set) var nextLookMs: Int64 = .min
  /// With ready files, in the last whole round or since.
  private(set) var awaited: Set<String> = []
  private var seen: Set<String> = []

  /// A look found ready files of these hosts, in batches up to `last`; nil when there were no further batches.
  mutating func looked(_ hosts: Set<String>, through last: BatchID?, nowMs: Int64) {
    seen.formUnion(hosts)
    awaited.formUnion(hosts)
    guard let last else {
      awaited = seen
      seen = []
      lookedThrough = BatchID(rawValue: 0)
      nextLookMs = nowMs + Self.betweenRoundsMs
      return
    }
    lookedThrough = last
    nextLookMs = nowMs + Self.betweenLooksMs
  }

  /// What one of `count` hosts may have of `total`: all of it when it is alone, and else so much that all together have
  /// less than twice the total, with room left for another.
  static func share(of total: Int, among count: Int) -> Int {
    count <= 1 ? total : max(min(8, total), total * 2 / (count + 1))
  }
}
