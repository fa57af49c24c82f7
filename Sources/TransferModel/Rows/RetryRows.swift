/// Hosts and hours of attempts that ended with `retry`, and the number of attempts of parts.
public struct RetryFigures: Sendable, Hashable {
  /// By host, then hour; hours without retries are omitted.
  public var grid: [RetryHour]
  /// By the number of attempts.
  public var parts: [PartTries]
  public var retries: Int64
  /// Total wait before repeated attempts, in milliseconds.
  public var backoffMs: Int64

  package init(grid: [RetryHour], parts: [PartTries], backoffMs: Int64) {
    (self.grid, self.parts, self.backoffMs) = (grid, parts, backoffMs)
    retries = grid.reduce(0) { $0 + $1.retries }
  }

  /// Of all retries, 0 to 1.
  public func share(of hour: RetryHour) -> Double? { Share.of(hour.retries, in: retries) }
}

/// Retries at one host in one hour of the day.
public struct RetryHour: Sendable, Hashable {
  public var host: String
  /// 0 to 23, in UTC.
  public var hour: Int64
  public var retries: Int64

  package init(host: String, hour: Int64, retries: Int64) {
    (self.host, self.hour, self.retries) = (host, hour, retries)
  }
}

/// The number of chunks that took this number of attempts.
public struct PartTries: Sendable, Hashable {
  public var attempts: Int64
  public var chunks: Int64

  package init(attempts: Int64, chunks: Int64) { (self.attempts, self.chunks) = (attempts, chunks) }
}
