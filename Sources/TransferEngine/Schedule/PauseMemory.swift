/// The usual pauses of a host within a body or before its answer: an unusual pause shows earlier than a fixed limit
/// that nothing more will come. A value, for one host.
struct PauseMemory: Sendable, Hashable {
  /// Minimum number of attempts for a conclusion.
  static let leastSamples = 20
  /// Minimum limit: a server may need this long to write to its disk.
  static let leastMs: Int64 = 15_000
  private static let mostSamples = 64
  private static let factor: Int64 = 3

  private var pauses: [Int64] = []
  private var next = 0
  /// The 95th percentile of the pauses.
  private var slowMs: Int64 = 0

  /// A body was answered; `ms` is its longest time with almost no progress.
  mutating func note(_ ms: Int64) {
    if pauses.count < Self.mostSamples {
      pauses.append(ms)
    } else {
      pauses[next] = ms
      next = (next + 1) % Self.mostSamples
    }
    slowMs = pauses.sorted()[(pauses.count * 19 + 19) / 20 - 1]
  }

  /// How long a body may make no progress before it is given up: three times the 95th percentile of this host, doubled
  /// after each failure, and never more than `mostMs`. 0 stands for no limit.
  func limitMs(_ mostMs: Int64, failures: Int) -> Int64 {
    guard pauses.count >= Self.leastSamples, mostMs > 0 else { return mostMs }
    return min(mostMs, max(Self.leastMs, Self.factor * slowMs) << Int64(min(failures, 16)))
  }
}
