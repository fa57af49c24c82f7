import TransferModel
import Testing

@testable import TransfersCLI

/// When jobs of the daemon are due, in time zones that the tests define.
@Suite struct CronExpressionTests {
  private static let utc = TimeZoneOffsets { _ in 0 }
  /// Berlin in 2026: +2 from 29 March to 25 October, both at 01:00 UTC; otherwise +1.
  private static let berlin = TimeZoneOffsets { second in
    let (spring, autumn) = (time("2026-03-29T01:00:00Z") / 1000, time("2026-10-25T01:00:00Z") / 1000)
    return second >= spring && second < autumn ? 7_200 : 3_600
  }

  private static func time(_ text: String) -> Int64 { CivilTime(rfc3339: text)?.wallMs ?? 0 }

  private func next(_ text: String, _ after: String, _ zone: TimeZoneOffsets = utc, count: Int = 1) throws -> [String] {
    let expression = try CronExpression(text)
    var (ms, found) = (Self.time(after), [String]())
    for _ in 0..<count {
      ms = try #require(expression.next(after: ms, in: zone))
      found.append(CivilTime(wallMs: ms).rfc3339)
    }
    return found
  }

  @Test(arguments: [
    ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
    ("* * * * *", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z"),
    ("*/5 * * * *", "2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"),
    ("7-59/20 * * * *", "2026-01-01T00:08:00Z", "2026-01-01T00:27:00Z"),
    ("30 2 * * *", "2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z"),
    ("0 22-23,4 * * *", "2026-01-01T05:00:00Z", "2026-01-01T22:00:00Z"),
    ("0 0 * * mon-FRI", "2026-01-02T12:00:00Z", "2026-01-05T00:00:00Z"),
    ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
    ("0 0 * * 0", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
    ("0 0 29 feb *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
    ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
    // 29 February is a Sunday every 28 years, and after 2088 only in 2128.
    ("0 0 29 2 */7", "2026-01-01T00:00:00Z", "2032-02-29T00:00:00Z"),
    ("0 0 29 2 */7", "2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z"),
    ("0 0 29 2 */7", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"),
    ("* * 29 2 */7", "2032-03-01T00:17:00Z", "2060-02-29T00:00:00Z"),
    ("*/7 5 29 2 */7", "2088-02-29T05:56:30Z", "2128-02-29T05:00:00Z"),
    // A match of either day field is enough, unless one of them begins with a star.
    ("0 0 13 * fri", "2026-01-01T12:00:00Z", "2026-01-02T00:00:00Z"),
    ("0 0 */13 * fri", "2026-01-01T12:00:00Z", "2026-02-27T00:00:00Z"),
    ("0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"),
    ("@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"),
    ("@daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ("@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
    ("@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
    ("@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
  ]) func comes(text: String, after: String, then: String) throws {
    #expect(try next(text, after) == [then])
  }

  @Test(arguments: [
    ("", "has 0 fields"), ("* * * *", "has 4 fields"), ("* * * * * *", "has 6 fields"), ("@reboot", "is not one of"),
    ("60 * * * *", "valid minute"), ("* 24 * * *", "valid hour"), ("* * 0 * *", "valid day of the month"),
    ("* * * 13 *", "valid month"), ("* * * * 8", "valid day of the week"), ("5-1 * * * *", "with its smaller"),
    ("*/0 * * * *", "a step"), ("5/2 * * * *", "a step"), ("1,,2 * * * *", "valid minute"),
    ("-1 * * * *", "valid minute"),
    ("0 0 30 feb *", "never occurs"), ("0 0 31 2,4,6 *", "never occurs"), ("x * * * *", "valid minute"),
  ]) func isRefused(text: String, why: String) {
    do {
      _ = try CronExpression(text)
      Issue.record("\"\(text)\" was accepted")
    } catch {
      #expect(error.message.contains(why), "\(error.message)")
    }
  }

  @Test func aSkippedTimeComesOnceWhenTheClockGoesOn() throws {
    // The clock goes from 02:00 to 03:00: a job for 02:30 is due at that moment, and the next day at its usual time.
    #expect(
      try next("30 2 * * *", "2026-03-28T12:00:00Z", Self.berlin, count: 2) == [
        "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z",
      ])
  }

  @Test func aDoubledTimeComesOnce() throws {
    #expect(
      try next("30 2 * * *", "2026-10-24T12:00:00Z", Self.berlin, count: 2) == [
        "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z",
      ])
  }

  @Test func aStarGoesOnWithTheTimeThatPasses() throws {
    #expect(
      try next("30 * * * *", "2026-10-25T00:00:00Z", Self.berlin, count: 3) == [
        "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z",
      ])
    #expect(
      try next("30 * * * *", "2026-03-29T00:00:00Z", Self.berlin, count: 2) == [
        "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z",
      ])
  }

  private func faults(_ job: String) -> [String] {
    let text = "jobs:\n  nightly: {from: /a, to: 'http://h/', \(job)}"
    return ConfigReader.read(Array(text.utf8), file: "c.yaml", home: nil).faults.map { "\($0.place): \($0.message)" }
  }

  @Test func aWrongTimeIsAFaultOfTheConfigurationWithItsPlace() {
    #expect(faults("cron: '0 0 * * *'").isEmpty)
    #expect(faults("every: 1h30m").isEmpty)
    #expect(
      faults("cron: '0 25 * * *'") == [
        "c.yaml:2:46: \"25\" is not a valid hour of a cron expression: it takes 0 to 23"
      ])
    #expect(faults("every: soon") == ["c.yaml:2:47: \"every\" takes a time like 5m or 1h30m"])
    #expect(faults("every: 0s").count == 1)
    #expect(faults("every: 5m, cron: '@daily'").first?.contains("contradict") == true)
  }
}
