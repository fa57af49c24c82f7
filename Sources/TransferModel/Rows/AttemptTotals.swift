/// Figures over attempts.
public struct AttemptTotals: Sendable, Hashable {
  public var attempts: Int64 = 0
  /// Attempts by outcome.
  public var byOutcome: [String: Int64] = [:]
  /// Start of the first and end of the last attempt.
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// Length of the union of the attempts' intervals: idle gaps removed.
  public var activeMs: Int64 = 0
  public var latency = LatencyFigures()

  package init() {}

  /// Those that ended with retry, fatal, unknown or crashed.
  public var errors: Int64 { ["retry", "fatal", "unknown", "crashed"].reduce(0) { $0 +| (byOutcome[$1] ?? 0) } }
}

/// Nearest-rank percentiles of the time of successful part attempts, in milliseconds.
public struct LatencyFigures: Sendable, Hashable {
  /// The number of values; below 20 a 95th percentile says little.
  public var n: Int64 = 0
  public var p50: Int64?
  public var p90: Int64?
  public var p95: Int64?
  public var p99: Int64?
  public var max: Int64?

  package init() {}

  /// Nearest rank: the least value that as many percent do not exceed. `histogram` has how often each was measured.
  package init(_ histogram: [Int64: Int64]) {
    n = histogram.values.reduce(0, +|)
    var below: Int64 = 0
    for (ms, count) in histogram.sorted(by: { $0.key < $1.key }) {
      below += count
      if p50 == nil, below *| 100 >= 50 *| n { p50 = ms }
      if p90 == nil, below *| 100 >= 90 *| n { p90 = ms }
      if p95 == nil, below *| 100 >= 95 *| n { p95 = ms }
      if p99 == nil, below *| 100 >= 99 *| n { p99 = ms }
      max = ms
    }
  }
}

/// When an attempt ran and what it moved.
package struct AttemptInterval: Sendable, Hashable {
  /// Milliseconds since 1970 UTC.
  package var startedMs: Int64
  /// nil while it is open.
  package var endedMs: Int64?
  package var bytesTransferred: Int64
  package var bytesAcked: Int64
  /// It ended with retry, fatal, unknown or crashed.
  package var isError: Bool

  package init(startedMs: Int64, endedMs: Int64?, bytesTransferred: Int64, bytesAcked: Int64, isError: Bool) {
    (self.startedMs, self.endedMs) = (startedMs, endedMs)
    (self.bytesTransferred, self.bytesAcked, self.isError) = (bytesTransferred, bytesAcked, isError)
  }
}
