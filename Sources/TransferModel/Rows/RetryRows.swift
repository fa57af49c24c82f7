/// Hosts and hours of attempts that ended with `retry`, and the number of attempts of parts.
package struct RetryFigures: Sendable, Hashable {
  /// By host, then hour; hours without retries are omitted.
  package var grid: [RetryHour]
  /// By the number of attempts.
  package var parts: [PartTries]
  package var retries: Int64
  /// Total wait before repeated attempts, in milliseconds.
  package var backoffMs: Int64

  package init(grid: [RetryHour], parts: [PartTries], backoffMs: Int64) {
    (self.grid, self.parts, self.backoffMs) = (grid, parts, backoffMs)
    retries = grid.reduce(0) { $0 + $1.retries }
  }

  /// Of all retries, 0 to 1.
  package func share(of hour: RetryHour) -> Double? { Share.of(hour.retries, in: retries) }
}

/// Retries at one host in one hour of the day.
package struct RetryHour: Sendable, Hashable {
  package var host: String
  /// 0 to 23, in UTC.
  package var hour: Int64
  package var retries: Int64

  package init(host: String, hour: Int64, retries: Int64) {
    (self.host, self.hour, self.retries) = (host, hour, retries)
  }
}

/// The number of chunks that took this number of attempts.
package struct PartTries: Sendable, Hashable {
  package var attempts: Int64
  package var chunks: Int64

  package init(attempts: Int64, chunks: Int64) { (self.attempts, self.chunks) = (attempts, chunks) }
}
