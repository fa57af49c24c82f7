import Glibc
import Testing

@testable import TransferModel

/// Days, weeks and months by a local calendar.
@Suite struct LocalPeriodTests {
  /// Start times computed by `date -d 'TZ="ZONE" …' +%s`.
  @Test func aDayBeginsAtLocalMidnight() async {
    await #expect(processExitsWith: .success) {
      setenv("TZ", "Europe/Berlin", 1)
      tzset()
      // Sunday, 2026-03-29, has 23 hours; 2026-10-25 has 25.
      let (spring, autumn): (Int64, Int64) = (1_774_738_800_000, 1_792_879_200_000)
      precondition(CalendarPeriod.day.localStart(of: spring) == spring)
      precondition(CalendarPeriod.day.localStart(of: spring - 1) == spring - 86_400_000)
      precondition(CalendarPeriod.day.nextLocalStart(after: spring + 7_200_000) == spring + 23 * 3_600_000)
      precondition(CalendarPeriod.day.localStart(of: autumn + 24 * 3_600_000) == autumn)
      precondition(CalendarPeriod.day.nextLocalStart(after: autumn) == autumn + 25 * 3_600_000)
      // Monday, 2026-03-23, and 2026-03-01, both in winter time.
      precondition(CalendarPeriod.week.localStart(of: spring + 7_200_000) == 1_774_220_400_000)
      precondition(CalendarPeriod.week.nextLocalStart(after: spring) == spring + 23 * 3_600_000)
      precondition(CalendarPeriod.month.localStart(of: spring) == 1_772_319_600_000)
      precondition(CalendarPeriod.month.nextLocalStart(after: spring) == 1_774_994_400_000)
    }
  }

  /// In Beirut the clock went from 2023-03-29 23:59 to 01:00.
  @Test func aSkippedMidnightIsTheFirstMomentAfterIt() async {
    await #expect(processExitsWith: .success) {
      setenv("TZ", "AAA-2BBB-3,J89/0,J300/0", 1)
      tzset()
      // J89 is March 30th: midnight at +2 is 01:00 at +3.
      let start: Int64 = 1_680_127_200_000
      precondition(CalendarPeriod.day.localStart(of: start + 3_600_000) == start)
      precondition(CalendarPeriod.day.nextLocalStart(after: start - 1) == start)
      precondition(CalendarPeriod.day.localStart(of: start - 1) == start - 86_400_000)
    }
  }
}
