import Testing
import TransferModel

@Suite struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func theThreeForms(_ text: String) {
    #expect(HTTPDate.parse(text, wallMs: 1_700_000_000_000) == 784_111_777_000)
  }

  @Test(arguments: [
    "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
  ])
  func everythingElseIsRefused(_ text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test func twoDigitYearsAreNeverFarAhead() {
    let in2026: Int64 = 1_795_000_000_000
    #expect(HTTPDate.parse("Monday, 01-Jan-70 00:00:00 GMT", wallMs: in2026) == 3_155_760_000_000)
    #expect(HTTPDate.parse("Monday, 01-Jan-80 00:00:00 GMT", wallMs: in2026) == 315_532_800_000)
  }

  @Test func civilTimeGoesBothWays() throws {
    for day in stride(from: Int64(-719_000), to: 2_900_000, by: 997) {
      let wallMs = day * 86_400_000 + 12_345_000
      #expect(CivilTime(wallMs: wallMs).wallMs == wallMs)
    }
    let leapDay = try #require(CivilTime(year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 59))
    #expect(leapDay.wallMs == 1_709_251_199_000)
    #expect(CivilTime(year: 2023, month: 2, day: 29) == nil)
    #expect(CivilTime(wallMs: 1_369_353_600_000).basicText == "20130524T000000Z")
    #expect(CivilTime(wallMs: -1).second == 59)
  }

  @Test func rfc3339() {
    #expect(CivilTime(rfc3339: "2026-11-21T09:18:35.000Z")?.wallMs == 1_795_252_715_000)
    #expect(CivilTime(rfc3339: "2026-11-21T09:18:35Z")?.wallMs == 1_795_252_715_000)
    for text in [
      "", "2026-11-21T09:18:35", "2026-13-21T09:18:35Z", "2026-11-21 09:18:35Z", "2026-11-21T09:18:35+01:00",
    ] {
      #expect(CivilTime(rfc3339: text) == nil, "\(text)")
    }
  }
}
