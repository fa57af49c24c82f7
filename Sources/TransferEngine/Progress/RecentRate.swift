import TransferModel

/// The rate of one body over the last seconds. A value: the engine passes in the times, in milliseconds by its boot
/// clock.
struct RecentRate: Sendable {
  static let windowMs: Int64 = 5_000

  /// The first is at least the window old, unless the body began later.
  private var counts: [(atMs: Int64, bytes: Int64)]

  init(startedMs: Int64) { counts = [(startedMs, 0)] }

  /// Takes the number of bytes so far. A body that is sent again from its beginning is measured anew.
  mutating func record(bytes: Int64, atMs: Int64) {
    if let last = counts.last, bytes < last.bytes { counts = [] }
    counts.append((atMs, bytes))
    while counts.count > 2, counts[1].atMs <= atMs -| Self.windowMs { counts.removeFirst() }
  }

  /// 0 before there are two counts.
  var bytesPerSecond: Int64 {
    guard let first = counts.first, let last = counts.last, last.atMs > first.atMs else { return 0 }
    let rate = Double(last.bytes - first.bytes) / Double(last.atMs - first.atMs) * 1_000
    return Int64(min(rate, 1e15))
  }
}
