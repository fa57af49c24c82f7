import TransferModel

/// The hosts with ready files in the ledger, found by examining a few batches at a time in a repeated cycle. A value.
struct HostShares: Sendable {
  /// Batches examined at a time.
  static let lookLimit = 64
  private static let betweenRoundsMs: Int64 = 250
  private static let betweenLooksMs: Int64 = 10

  /// The last examined batch, and when to continue.
  private(set) var lookedThrough = BatchID(rawValue: 0)
  private(set) var nextLookMs: Int64 = .min
  /// Hosts with ready files, in the last complete cycle or since.
  private(set) var awaited: Set<String> = []
  private var seen: Set<String> = []

  /// Ready files of these hosts were found, in batches up to `last`; nil if there were no further batches.
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

  /// The share of one of `count` hosts in `total`: everything for a single host; otherwise, all shares together are
  /// less than twice the total, with room left for another host.
  static func share(of total: Int, among count: Int) -> Int {
    count <= 1 ? total : max(min(8, total), total * 2 / (count + 1))
  }
}
