#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Double exponential smoothing of a byte count into bytes per second, for display only.
/// Weight of the past 0.1^(Δt / 15 s), normalised for the start; time without progress counts as zero progress, so a stall
/// lowers the figure slowly instead of freezing it. Source: the estimator of console-rs/indicatif.
struct RateEstimator: Sendable {
  private let constantMs: Double
  private var startedMs: Int64?
  private var lastMs: Int64 = 0
  private var lastBytes: Int64 = 0
  private var once = 0.0
  private var twice = 0.0

  init(constantMs: Double = 15_000) { self.constantMs = constantMs }

  /// Takes the count at `ms` (any monotonic origin). A count that went back, because an attempt failed, is taken as no progress.
  mutating func record(bytes: Int64, atMs ms: Int64) {
    guard let startedMs else {
      (self.startedMs, lastMs, lastBytes) = (ms, ms, bytes)
      return
    }
    guard ms > lastMs else { return }
    let rate = Double(max(0, bytes - lastBytes)) / Double(ms - lastMs) * 1000
    let weight = Self.decay(Double(ms - lastMs) / constantMs)
    once = once * weight + rate * (1 - weight)
    let elapsed = Self.decay(Double(ms - startedMs) / constantMs)
    twice = twice * weight + once / (1 - elapsed) * (1 - weight)
    (lastMs, lastBytes) = (ms, max(bytes, lastBytes))
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
