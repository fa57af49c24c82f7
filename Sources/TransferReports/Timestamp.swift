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
    let (year, month, day) = civil(days: seconds.floored(by: 86_400))
    let second = seconds - seconds.floored(by: 86_400) * 86_400
    let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    return "\(padded(year, 4))-\(two(month))-\(two(day))T\(time).\(padded(ms -| seconds *| 1000, 3))Z"
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

  /// The proleptic Gregorian date of a day counted from 1970-01-01.
  /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.floored(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
  private static func two(_ number: Int64) -> String { padded(number, 2) }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
