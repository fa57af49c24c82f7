import TransferModel

/// The times at which a job runs, in the format of crontab(5): minute, hour, day of the month, month and day of the
/// week, or one of the words `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly`.
///
/// As in Debian's cron(8), if neither the day of the month nor the day of the week begins with `*`, a match of either
/// suffices. Expressions with a fixed minute and hour follow the wall clock: a time that daylight saving skips occurs
/// at the end of the skipped interval, and a repeated time occurs only the first time. If minute or hour begins with
/// `*`, the expression matches elapsed time: each minute that passes is compared as the clock shows it.
struct CronExpression: Hashable, Sendable {
  private let minutes, hours, days, months, weekdays: CronField

  /// - Throws: the error in the expression, in one line.
  init(_ text: String) throws(CronFault) {
    let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
    let fields = words.count == 1 ? try Self.fields(ofWord: words[0]) : words
    guard fields.count == 5 else {
      throw CronFault(
        "\"\(text)\" has \(fields.count) fields, and a cron expression has five: minute, hour, day, month, weekday")
    }
    minutes = try CronField(fields[0], .minute)
    hours = try CronField(fields[1], .hour)
    days = try CronField(fields[2], .day)
    months = try CronField(fields[3], .month)
    weekdays = try CronField(fields[4], .weekday)
    guard comes else { throw CronFault("\"\(text)\" never occurs: no such month has such a day") }
  }

  private static func fields(ofWord word: String) throws(CronFault) -> [String] {
    switch word {
    case "@yearly", "@annually": ["0", "0", "1", "1", "*"]
    case "@monthly": ["0", "0", "1", "*", "*"]
    case "@weekly": ["0", "0", "*", "*", "0"]
    case "@daily", "@midnight": ["0", "0", "*", "*", "*"]
    case "@hourly": ["0", "*", "*", "*", "*"]
    case _ where word.hasPrefix("@"):
      throw CronFault("\"\(word)\" is not one of @yearly, @monthly, @weekly, @daily and @hourly")
    default: [word]
    }
  }

  private var comes: Bool {
    guard weekdays.isOpen else { return true }
    let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...12).contains { month in
      months.contains(month) && (1...longest[month - 1]).contains { days.contains($0) }
    }
  }

  /// The first match later than `ms`, in milliseconds since 1970 UTC.
  func next(after ms: Int64, in zone: TimeZoneOffsets) -> Int64? {
    let second = ms.floored(by: 1000)
    return (minutes.isOpen || hours.isOpen ? passing(second, zone) : fixed(second, zone)).map { $0 * 1000 }
  }

  /// The longest interval between two matching days is forty years: between two 29 February on one day of the week,
  /// around a year like 2100. So every expression that ``comes`` occurs in this time.
  private static let mostDays: Int64 = 366 * 41

  /// Advances minute by minute as the clock shows them; hours without a match, and days far from one, are skipped.
  private func passing(_ after: Int64, _ zone: TimeZoneOffsets) -> Int64? {
    var second = (after.floored(by: 60) + 1) * 60
    let end = after + Self.mostDays * 86_400
    while second < end {
      let local = CivilTime(wallMs: (second + zone.offset(second)) * 1000)
      let isDay = isDay(local)
      if isDay, hours.contains(local.hour), minutes.contains(local.minute) { return second }
      // A clock that is set, even across the date line, shows none but these dates in the next 24 hours.
      guard isDay || (-1...2).contains(where: { self.isDay(CivilTime(wallMs: local.wallMs + $0 * 86_400_000)) }) else {
        second += 86_400
        continue
      }
      let isHour = isDay && hours.contains(local.hour)
      second += isHour ? 60 : Int64(60 - local.minute) * 60
    }
    return nil
  }

  /// Advances day by day in the calendar, computing the times of each.
  private func fixed(_ after: Int64, _ zone: TimeZoneOffsets) -> Int64? {
    // Begins one day early: a time that the clock skipped occurs later than its nominal time.
    var day = (after + zone.offset(after)).floored(by: 86_400) - 1
    let end = day + Self.mostDays
    while day < end {
      if isDay(CivilTime(wallMs: day * 86_400_000)) {
        let moments = (0...23).filter(hours.contains).flatMap { hour in
          (0...59).filter(minutes.contains).map { zone.moment(day * 86_400 + Int64(hour * 60 + $0) * 60) }
        }
        if let found = moments.filter({ $0 > after }).min() { return found }
      }
      day += 1
    }
    return nil
  }

  private func isDay(_ local: CivilTime) -> Bool {
    guard months.contains(local.month) else { return false }
    // 1 January 1970 was a Thursday.
    let day = local.wallMs.floored(by: 86_400_000) + 4
    let weekday = Int(day - day.floored(by: 7) * 7)
    let (isDay, isWeekday) = (days.contains(local.day), weekdays.contains(weekday))
    return days.isOpen || weekdays.isOpen ? isDay && isWeekday : isDay || isWeekday
  }
}

/// An error in a cron expression, in one line; may quote it.
struct CronFault: Error, Hashable, Sendable {
  let message: String
  init(_ message: String) { self.message = message }
}
