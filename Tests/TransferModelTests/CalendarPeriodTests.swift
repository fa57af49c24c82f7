import Testing
import TransferModel

@Suite struct CalendarPeriodTests {
  private static let day: Int64 = 86_400_000

  /// Days count from 1970-01-01, a Thursday.
  @Test(arguments: [
    (0, CalendarPeriod.day, 0), (1, .day, 1), (-1, .day, -1),
    // 1970-01-05 is a Monday.
    (4, .week, 4), (10, .week, 4), (11, .week, 11), (3, .week, -3), (-4, .week, -10),
    // 2024-02-29, 2024-03-01, 1969-12-31 and 2100-03-01, in a year without a February 29.
    (19_782, .month, 19_754), (19_783, .month, 19_783), (-1, .month, -31), (47_541, .month, 47_541),
  ])
  func beginsAtMidnight(_ of: Int64, _ period: CalendarPeriod, _ first: Int64) {
    #expect(period.start(of: of * Self.day) == first * Self.day)
    #expect(period.start(of: of * Self.day + Self.day - 1) == first * Self.day)
  }

  @Test func aShareOfNothingIsUnknown() {
    #expect(Share.of(0, in: 0) == nil)
    #expect(Share.of(1, in: 3) == 0.333333)
  }
}
