import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Times as text. The ledger holds milliseconds since 1970 UTC.
package enum Timestamp {
  /// `2026-11-20T10:00:00.123Z` (RFC 3339 section 5.6), for programs.
  package static func rfc3339(_ ms: Int64) -> String {
    let seconds = ms.floored(by: 1000)
    let (year, month, day) = CivilTime.date(Int(seconds.floored(by: 86_400)))
    let second = seconds - seconds.floored(by: 86_400) * 86_400
    let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    let date = "\(padded(Int64(year), 4))-\(two(Int64(month)))-\(two(Int64(day)))"
    return "\(date)T\(time).\(padded(ms -| seconds *| 1000, 3))Z"
  }

  /// `2026-11-20 11:00:00` in the zone of the process (`TZ`), for people.
  package static func local(_ ms: Int64) -> String {
    var seconds = time_t(ms.floored(by: 1000))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return rfc3339(ms) }
    let date = "\(padded(Int64(parts.tm_year) + 1900, 4))-\(two(Int64(parts.tm_mon) + 1))-\(two(Int64(parts.tm_mday)))"
    return "\(date) \(two(Int64(parts.tm_hour))):\(two(Int64(parts.tm_min))):\(two(Int64(parts.tm_sec)))"
  }

  /// `2026-11-20 11:00:00+01:00`, or with `Z` in UTC: a report may be read in another zone.
  package static func zoned(_ ms: Int64) -> String {
    var seconds = time_t(ms.floored(by: 1000))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return rfc3339(ms) }
    let minutes = Int64(parts.tm_gmtoff) / 60
    guard minutes != 0 else { return local(ms) + "Z" }
    let offset = Int64(minutes.magnitude)
    return local(ms) + (minutes < 0 ? "-" : "+") + "\(two(offset / 60)):\(two(offset % 60))"
  }

  private static func two(_ number: Int64) -> String { padded(number, 2) }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
