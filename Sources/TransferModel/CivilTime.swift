/// A calendar date and time: UTC, proleptic Gregorian. There are no leap seconds, as in Unix time.
package struct CivilTime: Hashable, Sendable {
  package var year: Int
  package var month: Int
  package var day: Int
  package var hour: Int
  package var minute: Int
  package var second: Int

  /// nil for an invalid date. Second 60 becomes the first second of the next minute.
  package init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, year),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// The second of `wallMs` (milliseconds since 1970 UTC), which must be in the years 1 … 9999.
  package init(wallMs: Int64) {
    let seconds = Int(wallMs.floored(by: 1000))
    let days = Int(Int64(seconds).floored(by: 86_400))
    let rest = seconds - days * 86_400
    (year, month, day) = Self.date(days)
    hour = rest / 3600
    minute = rest / 60 % 60
    second = rest % 60
  }

  /// `2026-11-20T10:00:00Z`. Source: RFC 3339 section 5.6.
  package var rfc3339: String {
    func padded(_ number: Int, _ width: Int = 2) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(hour)):\(padded(minute)):\(padded(second))Z"
  }

  /// Milliseconds since 1970 UTC.
  package var wallMs: Int64 {
    let days = Self.days(year, month, day)
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + second) * 1000
  }

  private static func days(in month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  // Days are counted in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
  // Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013.

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = Int(Int64(shifted).floored(by: 400))
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day counted from 1970-01-01.
  package static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = Int(Int64(shifted).floored(by: 146_097))
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension CivilTime {
  /// `20130524T000000Z`, as required by SigV4.
  package var basicText: String { "\(pad(year, 4))\(pad(month))\(pad(day))T\(pad(hour))\(pad(minute))\(pad(second))Z" }

  /// `2013-05-24T00:00:00Z` (RFC 3339).
  package var rfc3339Text: String {
    "\(pad(year, 4))-\(pad(month))-\(pad(day))T\(pad(hour)):\(pad(minute)):\(pad(second))Z"
  }

  /// Milliseconds since 1970 UTC of RFC 3339 with any offset from UTC; a fraction is dropped. nil for anything else.
  package static func wallMs(rfc3339 text: String) -> Int64? {
    let text = text.uppercased()
    guard text.utf8.count > 6, let sign = text.utf8.dropLast(5).last, sign == 0x2B || sign == 0x2D else {
      return CivilTime(rfc3339: text)?.wallMs
    }
    let offset = Array(text.utf8.suffix(5))
    guard let time = CivilTime(rfc3339: text.dropLast(6) + "Z"), offset[2] == 0x3A, let hours = decimal(offset[..<2]),
      let minutes = decimal(offset[3...]), hours < 24, minutes < 60
    else { return nil }
    return time.wallMs - Int64(sign == 0x2D ? -1 : 1) * Int64(hours * 60 + minutes) * 60_000
  }

  /// Reads RFC 3339 in UTC (`2026-11-21T09:18:35.000Z`); a fraction is dropped. nil for anything else.
  package init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == 0x5A, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
      bytes[13] == 0x3A, bytes[16] == 0x3A, bytes.count == 20 || bytes[19] == 0x2E
    else { return nil }
    func number(_ range: Range<Int>) -> Int? { decimal(bytes[range]) }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19)
    else { return nil }
    self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }
}

func pad(_ value: Int, _ width: Int = 2) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// The value of one to nine ASCII digits; nil for anything else.
func decimal(_ bytes: some Collection<UInt8>) -> Int? {
  guard (1...9).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
}
