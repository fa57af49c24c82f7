#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A limit of the bytes that the files of a job may send in a period of the local calendar.
package struct JobQuota: Sendable, Hashable {
  package var bytes: Int64
  package var period: CalendarPeriod

  package init(bytes: Int64, per period: CalendarPeriod) { (self.bytes, self.period) = (bytes, period) }
}

extension CalendarPeriod {
  /// The beginning of the period that contains a moment, by the local time zone (`TZ`, else the system's): the first
  /// moment of its first day, even if that day has 23 or 25 hours. Both in milliseconds since 1970 UTC.
  package func localStart(of ms: Int64) -> Int64 {
    var seconds = time_t(ms.floored(by: 1_000))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return start(of: ms) }
    switch self {
    case .day: break
    case .week: parts.tm_mday -= (parts.tm_wday + 6) % 7
    case .month: parts.tm_mday = 1
    }
    return Self.midnight(parts)
  }

  /// The beginning of the next period.
  package func nextLocalStart(after ms: Int64) -> Int64 {
    let start = localStart(of: ms)
    var seconds = time_t(start / 1_000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return start }
    switch self {
    case .day: parts.tm_mday += 1
    case .week: parts.tm_mday += 7
    case .month: parts.tm_mon += 1
    }
    return Self.midnight(parts)
  }

  /// The beginning of a day. If the clock skips midnight, it is the first quarter of an hour that exists on that day.
  private static func midnight(_ day: tm) -> Int64 {
    var noon = day
    (noon.tm_hour, noon.tm_min, noon.tm_sec, noon.tm_isdst) = (12, 0, 0, -1)
    _ = mktime(&noon)
    var parts = noon
    (parts.tm_hour, parts.tm_isdst) = (0, -1)
    var seconds = mktime(&parts)
    var found = tm()
    while localtime_r(&seconds, &found) != nil, found.tm_mday != noon.tm_mday, seconds < mktime(&noon) {
      seconds += 900
    }
    return Int64(seconds) * 1_000
  }
}

/// The use of a quota in the current period. Times are milliseconds since 1970 UTC.
package struct QuotaUsage: Sendable, Hashable {
  package var quota: JobQuota
  /// Upper bound of the bytes sent in the period.
  package var sent: Int64
  package var startMs: Int64
  /// When the next period begins.
  package var endMs: Int64
  /// When an engine last held back a file because of it.
  package var reachedMs: Int64?

  package init(quota: JobQuota, sent: Int64, startMs: Int64, endMs: Int64, reachedMs: Int64?) {
    (self.quota, self.sent, self.startMs, self.endMs, self.reachedMs) = (quota, sent, startMs, endMs, reachedMs)
  }

  /// Files wait for the next period.
  package var isReached: Bool { reachedMs.map { (startMs..<endMs).contains($0) } ?? false }
}
