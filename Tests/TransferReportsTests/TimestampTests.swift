import Testing
import TransferModel

@testable import TransferReports

@Suite struct TimestampTests {
  // Checked with `date -u -d @SECONDS +%FT%TZ`.
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_827_696_789, "2000-02-29T12:34:56.789Z"),
    (1_763_632_800_123, "2025-11-20T10:00:00.123Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
  ])
  func rfc3339(_ ms: Int64, _ text: String) { #expect(Timestamp.rfc3339(ms) == text) }

  @Test func everyDayOfFourCenturiesFollowsTheOneBefore() {
    var previous = CivilTime.date(-1)
    for day in 0..<146_097 {
      let date = CivilTime.date(day)
      let isNextDay = date.year == previous.year && date.month == previous.month && date.day == previous.day + 1
      let isNextMonth = date.day == 1 && (date.month == previous.month + 1 || date.month == 1 && previous.month == 12)
      #expect(isNextDay || isNextMonth)
      previous = date
    }
    #expect(CivilTime.date(146_096) == (2369, 12, 31))
  }
}
