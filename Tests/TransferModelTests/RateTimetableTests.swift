import Testing
import TransferModel

@Suite struct RateTimetableTests {
  private typealias Entry = RateTimetable.Entry
  private static let day = RateTimetable.minutesOfDay

  @Test func anEntryHoldsUntilTheNextOneAlsoOverTheEndOfTheWeek() throws {
    let table = try #require(
      RateTimetable([
        Entry(minuteOfWeek: 5 * Self.day, bytesPerSecond: nil),
        Entry(minuteOfWeek: Self.day + 480, bytesPerSecond: 7),
      ]))
    let rates: [(Int, Int64?)] = [
      (0, nil), (Self.day + 479, nil), (Self.day + 480, 7), (5 * Self.day - 1, 7), (5 * Self.day, nil),
      (RateTimetable.minutesOfWeek - 1, nil),
    ]
    for (minute, rate) in rates { #expect(table.bytesPerSecond(atMinuteOfWeek: minute) == rate, "\(minute)") }
    #expect(!table.isConstant && RateTimetable(5).isConstant && RateTimetable(5).bytesPerSecond(civilMs: 1) == 5)
  }

  @Test func whatIsNoTable() {
    #expect(RateTimetable([]) == nil)
    #expect(
      RateTimetable([Entry(minuteOfWeek: 1, bytesPerSecond: 1), Entry(minuteOfWeek: 1, bytesPerSecond: 2)]) == nil)
    for minute in [-1, RateTimetable.minutesOfWeek] {
      #expect(RateTimetable([Entry(minuteOfWeek: minute, bytesPerSecond: 1)]) == nil)
    }
  }

  /// A week later it is the same minute of the week, in any time zone without a clock change in between.
  @Test func theMinuteOfTheWeekIsThatOfTheLocalTime() throws {
    let table = try #require(
      RateTimetable((0..<RateTimetable.minutesOfWeek).map { Entry(minuteOfWeek: $0, bytesPerSecond: Int64($0)) }))
    let ms: Int64 = 1_700_000_040_000
    let first = try #require(table.bytesPerSecond(civilMs: ms))
    #expect(table.bytesPerSecond(civilMs: ms + 59_999) == first)
    #expect(table.bytesPerSecond(civilMs: ms + 60_000) == (first + 1) % Int64(RateTimetable.minutesOfWeek))
    #expect(table.bytesPerSecond(civilMs: ms + 7 * 86_400_000) == first)
  }
}
