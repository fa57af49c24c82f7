/// The dates of HTTP header fields (RFC 9110 section 5.6.7).
package enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Milliseconds since 1970 UTC of a date in any of the three forms that a recipient has to accept; nil for anything
  /// else. The name of the weekday is not compared with the date.
  ///
  /// `wallMs` determines the century of the two-digit years of RFC 850: a date more than 50 years ahead is in the past.
  package static func parse(_ text: String, wallMs: Int64 = 0) -> Int64? {
    let words = text.split { $0 == " " || $0 == "," }.map(String.init)
    switch words.count {
    case 6 where words[5] == "GMT": return moment(words[1], words[2], words[3], clock: words[4])
    case 4 where words[3] == "GMT": return rfc850(words, wallMs: wallMs)
    case 5: return moment(words[2], words[1], words[4], clock: words[3])
    default: return nil
    }
  }

  private static func rfc850(_ words: [String], wallMs: Int64) -> Int64? {
    let date = words[1].split(separator: "-").map(String.init)
    guard date.count == 3, date[2].utf8.count == 2, let short = decimal(date[2].utf8) else { return nil }
    let now = CivilTime(wallMs: wallMs).year
    var year = now - now % 100 + short
    if year > now + 50 { year -= 100 }
    return moment(date[0], date[1], String(year), clock: words[2])
  }

  private static func moment(_ day: String, _ month: String, _ year: String, clock: String) -> Int64? {
    let time = clock.split(separator: ":", omittingEmptySubsequences: false).map { decimal($0.utf8) }
    guard time.count == 3, year.utf8.count == 4, let hour = time[0], let minute = time[1], let second = time[2],
      let day = decimal(day.utf8), let year = decimal(year.utf8), let month = months.firstIndex(of: month)
    else { return nil }
    return CivilTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)?.wallMs
  }

  /// The preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`. `wallMs` (milliseconds since 1970 UTC) lies in the years 1 …
  /// 9999.
  package static func text(wallMs: Int64) -> String {
    let time = CivilTime(wallMs: wallMs)
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let day = Int((wallMs / 86_400_000 - (wallMs % 86_400_000 < 0 ? 1 : 0)) % 7)
    let clock = [time.hour, time.minute, time.second].map { pad($0) }.joined(separator: ":")
    return "\(days[(day + 7) % 7]), \(pad(time.day)) \(months[time.month - 1]) \(pad(time.year, 4)) \(clock) GMT"
  }
}
