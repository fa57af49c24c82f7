import ArgumentParser
import TransferModel

/// The rate of a run: a ``ByteRate``, or entries with blanks between them, `08:00,5M 18:00,off` for each day and
/// `Mon-08:00,5M Fri-18:00,off` for days of the week. Each holds until the next one. The form is that of rclone's
/// `--bwlimit`.
struct RunRateSetting: Hashable, Sendable, ExpressibleByArgument {
  /// The text as it was typed.
  let text: String
  let timetable: RateTimetable

  init?(argument: String) {
    text = argument
    if let rate = ByteRate(argument: argument) {
      timetable = RateTimetable(rate.bytesPerSecond)
      return
    }
    let words = argument.split(separator: " ")
    var entries: [RateTimetable.Entry] = []
    for word in words {
      guard let some = Self.entries(word) else { return nil }
      entries += some
    }
    guard let timetable = RateTimetable(entries) else { return nil }
    self.timetable = timetable
  }

  /// One entry for each day if no day is named; nil for an invalid word.
  private static func entries(_ word: Substring) -> [RateTimetable.Entry]? {
    let halves = word.split(separator: ",", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let rate = halves[1] == "off" ? nil : ByteRate(argument: String(halves[1]))
    guard rate != nil || halves[1] == "off" else { return nil }
    let parts = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard let time = parts.last, parts.count <= 2, let minute = minute(time) else { return nil }
    var chosen = Array(0..<7)
    if parts.count == 2 {
      guard let day = days.firstIndex(of: parts[0].lowercased()) else { return nil }
      chosen = [day]
    }
    return chosen.map { day in
      RateTimetable.Entry(
        minuteOfWeek: day * RateTimetable.minutesOfDay + minute, bytesPerSecond: rate?.bytesPerSecond)
    }
  }

  private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

  /// Minute of the day, from `HH:MM`.
  private static func minute(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}
