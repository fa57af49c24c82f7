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

  public init() {}
}

/// Nearest-rank percentiles of the time of successful part attempts, in milliseconds.
public struct LatencyFigures: Sendable, Hashable {
  /// How many were measured; below 20 a 95th percentile says little.
  public var n: Int64 = 0
  public var p50: Int64?
  public var p95: Int64?
  public var p99: Int64?
  public var max: Int64?

  public init() {}
}

extension LedgerReader {
  /// Figures over the attempts for the files that the filter selects.
  public func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals { try attemptSums(filter).totals }
}
