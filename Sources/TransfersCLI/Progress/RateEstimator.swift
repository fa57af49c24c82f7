#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Double exponential smoothing of a byte count into bytes per second, for display only.
/// Weight of the past 0.1^(Δt / constant), normalised for the start; time without progress counts as zero progress, so
/// a stall lowers the figure slowly instead of freezing it. Source: the estimator of console-rs/indicatif.
struct RateEstimator: Sendable {
  /// A count that decreased for this long, in milliseconds, is the new base. A shorter dip is a request that ended and
  /// whose answer is not counted yet.
  private static let dipMs: Int64 = 1_000

  private let constantMs: Double
  private var startedMs: Int64?
  private var lastMs: Int64 = 0
  private var highest: Int64 = 0
  private var lowerSinceMs: Int64?
  private var once = 0.0
  private var twice = 0.0

  init(constantMs: Double = 15_000) { self.constantMs = constantMs }

  /// Takes the count at `ms` (any monotonic origin).
  mutating func record(bytes: Int64, atMs ms: Int64) {
    guard let startedMs else {
      (self.startedMs, lastMs, highest) = (ms, ms, bytes)
      return
    }
    guard ms > lastMs else { return }
    let rate = Double(progress(bytes, ms)) / Double(ms - lastMs) * 1000
    let weight = Self.decay(Double(ms - lastMs) / constantMs)
    once = once * weight + rate * (1 - weight)
    let elapsed = Self.decay(Double(ms - startedMs) / constantMs)
    twice = twice * weight + once / (1 - elapsed) * (1 - weight)
    lastMs = ms
  }

  /// Bytes above the highest count so far.
  private mutating func progress(_ bytes: Int64, _ ms: Int64) -> Int64 {
    if bytes >= highest {
      defer { (highest, lowerSinceMs) = (bytes, nil) }
      return bytes - highest
    }
    let since = lowerSinceMs ?? ms
    lowerSinceMs = since
    if ms - since >= Self.dipMs { (highest, lowerSinceMs) = (bytes, nil) }
    return 0
  }

  /// nil before there are two counts.
  var bytesPerSecond: Int64? {
    guard let startedMs, lastMs > startedMs else { return nil }
    let normal = twice / (1 - Self.decay(Double(lastMs - startedMs) / constantMs))
    return normal.isFinite ? Int64(min(normal, 1e15)) : nil
  }

  /// 0.1 to the power of `x`, for x ≥ 0.
  private static func decay(_ x: Double) -> Double { exp(-min(x, 300) * 2.302_585_092_994_046) }
}
