import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A time as people type it for `--since`, `--until` and `--deadline`.
enum Moment: Hashable, Sendable {
  /// Milliseconds before now.
  case ago(Int64)
  /// By the calendar and clock of the process's zone (`TZ`).
  case local(CivilTime)
  /// Milliseconds since 1970 UTC.
  case instant(Int64)
  /// Midnight of so many days before today.
  case midnight(daysAgo: Int32)
  case boot
  case lastRun

  init?(text: String) {
    switch text {
    case "today": self = .midnight(daysAgo: 0)
    case "yesterday": self = .midnight(daysAgo: 1)
    case "boot": self = .boot
    case "last-run": self = .lastRun
    default:
      if let span = TimeSpan(text: text) {
        self = .ago(span.ms)
      } else if let calendar = CalendarText(text) {
        self =
          calendar.offsetMs.map { .instant(calendar.time.wallMs + calendar.fractionMs - $0) } ?? .local(calendar.time)
      } else {
        return nil
      }
    }
  }

  /// Milliseconds since 1970 UTC; nil when no engine has run yet. A span counts back from now, or forward.
  func wallMs(_ clock: any TransferClock, lastRunMs: Int64?, spansGoForward: Bool = false) -> Int64? {
    let now = clock.wallMs
    switch self {
    case .ago(let ms): return spansGoForward ? now + ms : now - ms
    case .local(let time): return Self.local(time)
    case .instant(let ms): return ms
    case .midnight(let days): return Self.midnight(before: now, days)
    case .boot: return now - clock.bootMs
    case .lastRun: return lastRunMs
    }
  }

  private static func local(_ time: CivilTime) -> Int64 {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(time.year - 1900), Int32(time.month - 1), Int32(time.day))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(time.hour), Int32(time.minute), Int32(time.second))
    parts.tm_isdst = -1
    return Int64(mktime(&parts)) * 1000
  }

  /// The start of the day, week (from Monday) or month that is `offset` periods after that of `now`, by the calendar of
  /// the process's time zone.
  static func begin(of period: CalendarPeriod, _ now: Int64, offset: Int32) -> Int64 {
    var seconds = time_t(now / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
    switch period {
    case .day: parts.tm_mday += offset
    case .week: parts.tm_mday += 7 * offset - (parts.tm_wday + 6) % 7
    case .month: (parts.tm_mday, parts.tm_mon) = (1, parts.tm_mon + offset)
    }
    return Int64(mktime(&parts)) * 1000
  }

  /// By the calendar, because a day need not have 24 hours.
  private static func midnight(before now: Int64, _ days: Int32) -> Int64 {
    var seconds = time_t(now / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
    parts.tm_mday -= days
    return Int64(mktime(&parts)) * 1000
  }
}

/// A length of time as people type it: `90s`, `24h`, `7d`, `1d12h`, `500ms`. Units must get smaller.
struct TimeSpan: Hashable, Sendable {
  let ms: Int64

  private static let units: [(name: String, ms: Int64)] = [
    ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  /// `90s`, `1h30m`; `0` needs no unit.
  init?(text: String) {
    guard text != "0" else {
      ms = 0
      return
    }
    var rest = text[...]
    var unitsLeft = Self.units[...]
    var sum: Int64 = 0
    repeat {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      let name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
      guard let count = Int64(digits), let index = unitsLeft.firstIndex(where: { $0.name == name }) else { return nil }
      let (part, overflows) = count.multipliedReportingOverflow(by: unitsLeft[index].ms)
      let (total, overflowsAgain) = sum.addingReportingOverflow(part)
      guard !overflows, !overflowsAgain, total <= 1_000_000_000_000_000 else { return nil }
      sum = total
      unitsLeft = unitsLeft[(index + 1)...]
      rest = rest.dropFirst(digits.count + name.count)
    } while !rest.isEmpty
    ms = sum
  }
}

/// `2026-11-01`, `2026-11-01 18:30[:05]`, and RFC 3339 with `Z` or an offset (section 5.6), with a fraction or without.
private struct CalendarText {
  let time: CivilTime
  var fractionMs: Int64 = 0
  /// East of UTC; nil for the zone of the process.
  var offsetMs: Int64?

  init?(_ text: String) {
    let pattern =
      /(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)?)?/.asciiOnlyDigits()
    guard let match = text.wholeMatch(of: pattern)?.output else { return nil }
    func number(_ part: Substring?) -> Int { part.flatMap { Int($0) } ?? 0 }
    guard
      let time = CivilTime(
        year: number(match.1), month: number(match.2), day: number(match.3), hour: number(match.4),
        minute: number(match.5), second: number(match.6))
    else { return nil }
    self.time = time
    if let fraction = match.7 { fractionMs = Int64(number((fraction.dropFirst() + "000").prefix(3))) }
    guard let zone = match.8 else { return }
    let digits = zone.dropFirst().split(separator: ":")
    guard digits.count == 2 else {
      offsetMs = 0
      return
    }
    guard number(digits[0]) < 24, number(digits[1]) < 60 else { return nil }
    offsetMs = Int64(number(digits[0]) * 3600 + number(digits[1]) * 60) * (zone.first == "-" ? -1000 : 1000)
  }
}
