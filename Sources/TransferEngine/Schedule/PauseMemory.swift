/// How long a host lets a body stand still before it goes on, or its answer comes: what is usual there tells sooner
/// than a fixed limit that nothing will come. A value, of one host.
struct PauseMemory: Sendable, Hashable {
  /// Nothing is concluded from fewer attempts.
  static let leastSamples = 20
  /// A server may write to its disk for that long.
  static let leastMs: Int64 = 15_000
  private static let mostSamples = 64
  private static let factor: Int64 = 3

  private var pauses: [Int64] = []
  private var next = 0
  /// That of the slowest twentieth.
  private var slowMs: Int64 = 0

  /// A body was answered; `ms` is the longest time in which next to nothing moved.
  mutating func note(_ ms: Int64) {
    if pauses.count < Self.mostSamples {
      pauses.append(ms)
    } else {
      pauses[next] = ms
      next = (next + 1) % Self.mostSamples
    }
    slowMs = pauses.sorted()[(pauses.count * 19 + 19) / 20 - 1]
  }

  /// When a body is given up that stands still: three times what is slow for this host, twice as much after each
  /// failure, and never more than `mostMs`. 0 stands for no limit.
  func limitMs(_ mostMs: Int64, failures: Int) -> Int64 {
    guard pauses.count >= Self.leastSamples, mostMs > 0 else { return mostMs }
    return min(mostMs, max(Self.leastMs, Self.factor * slowMs) << Int64(min(failures, 16)))
  }
}
