import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransfersCLI

/// Times and states as users type them.
@Suite struct MomentTests {
  @Test(arguments: [
    ("24h", 86_400_000), ("90m", 5_400_000), ("7d", 604_800_000), ("2w", 1_209_600_000), ("1d12h", 129_600_000),
    ("500ms", 500), ("1m500ms", 60_500), ("0s", 0),
  ])
  func spans(_ text: String, _ ms: Int64) {
    #expect(TimeSpan(text: text)?.ms == ms)
    #expect(Moment(text: text) == .ago(ms))
  }

  @Test(arguments: [
    "", "h", "24", "12h1d", "1h1h", "-1h", "1.5h", "1y", "1H", "99999999999999999999d", "9999999999w", "1h ", " 1h",
    "2026-13-01", "2026-02-30", "2026-1-1", "2026-11-01T24:00", "2026-11-01T10", "2026-11-01 10:00:00.1234567890Z",
    "2026-11-01T10:00+25:00", "2026-11-01T10:00Zulu", "tomorrow", "Today", "now", "٢٠٢٦-01-01", "0000-01-01",
  ])
  func nonsense(_ text: String) { #expect(Moment(text: text) == nil) }

  @Test(arguments: [
    ("2026-11-01T18:30:00Z", 1_793_557_800_000), ("2026-11-01t18:30:00.25z", 1_793_557_800_250),
    ("2026-11-01T18:30Z", 1_793_557_800_000), ("2026-11-01T19:30:00+01:00", 1_793_557_800_000),
    ("2026-11-01T13:00:00.000-05:30", 1_793_557_800_000), ("1970-01-01T00:00:00Z", 0),
  ])
  func instants(_ text: String, _ ms: Int64) { #expect(Moment(text: text) == .instant(ms)) }

  @Test func placesOnTheClock() {
    let clock = FixedClock(wallMs: 1_763_632_800_000, bootMs: 5000)
    func ms(_ text: String, forward: Bool = false) -> Int64? {
      Moment(text: text)?.wallMs(clock, lastRunMs: 77, spansGoForward: forward)
    }
    #expect(ms("1h") == 1_763_629_200_000)
    #expect(ms("1h", forward: true) == 1_763_636_400_000)
    #expect(ms("boot") == 1_763_632_795_000)
    #expect(ms("last-run") == 77)
    #expect(Moment.lastRun.wallMs(clock, lastRunMs: nil) == nil)
  }

  /// Uses the time zone of the process, whatever that is: the result is converted back with the C library.
  @Test func daysAreLocal() throws {
    let clock = FixedClock(wallMs: 1_763_632_800_000, bootMs: 0)
    let today = try #require(Moment(text: "today")?.wallMs(clock, lastRunMs: nil))
    let yesterday = try #require(Moment(text: "yesterday")?.wallMs(clock, lastRunMs: nil))
    #expect((0..<90_000_000).contains(clock.wallMs - today))
    #expect((82_800_000...90_000_000).contains(today - yesterday))
    for (ms, text) in [(today, "00:00:00"), (yesterday, "00:00:00")] {
      #expect(Self.local(ms).hasSuffix(text), "\(Self.local(ms))")
    }
    let typed = try #require(Moment(text: "2026-03-29 12:34:56")?.wallMs(clock, lastRunMs: nil))
    #expect(Self.local(typed) == "2026-03-29 12:34:56")
    #expect(Moment(text: "2026-03-29")?.wallMs(clock, lastRunMs: nil).map(Self.local) == "2026-03-29 00:00:00")
  }

  @Test func calendarUnitsBeginWhereTheyShould() throws {
    let now = try #require(
      Moment(text: "2026-11-24 15:30:00")?.wallMs(FixedClock(wallMs: 0, bootMs: 0), lastRunMs: nil))
    func begin(_ period: CalendarPeriod, _ offset: Int32) -> String {
      Self.local(Moment.begin(of: period, now, offset: offset))
    }
    #expect(begin(.day, 0) == "2026-11-24 00:00:00" && begin(.day, 1) == "2026-11-25 00:00:00")
    #expect(begin(.week, 0) == "2026-11-23 00:00:00" && begin(.week, -1) == "2026-11-16 00:00:00")
    #expect(begin(.month, 0) == "2026-11-01 00:00:00" && begin(.month, -11) == "2025-12-01 00:00:00")
    let sunday = try #require(Moment(text: "2026-11-22")?.wallMs(FixedClock(wallMs: 0, bootMs: 0), lastRunMs: nil))
    #expect(Self.local(Moment.begin(of: .week, sunday, offset: 0)) == "2026-11-16 00:00:00")
  }

  private static func local(_ ms: Int64) -> String {
    var seconds = time_t(ms / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 40)
    strftime(&buffer, 40, "%Y-%m-%d %H:%M:%S", &parts)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test func wordsForStates() {
    #expect(StateWord.states("paused")?.states == [.paused])
    #expect(StateWord.states("backoff")?.isBackingOff == true)
    #expect(StateWord.states("finished")?.states == [.done, .failed, .cancelled, .superseded])
    let unfinished = StateWord.states("unfinished")?.states ?? []
    let finished = StateWord.states("finished")?.states ?? []
    #expect(Set(unfinished).union(finished).union([.unknown]) == Set(FileState.allCases))
    #expect(StateWord.states("Done") == nil)
  }

  @Test(arguments: ["01234567", "0123456789ABCDEF", "019f3a5b-", "019f3a5b-00", "019f3a5b-0000-7000-8000-000000000000"])
  func beginningsOfUIDs(_ text: String) { #expect(UIDPrefix(text: text) != nil) }

  @Test(arguments: [
    "0123456", "0123456g", "0123-4567", "019f3a5b-00001-", "019f3a5b-0000-7000-8000-0000000000001",
  ])
  func noUIDs(_ text: String) { #expect(UIDPrefix(text: text) == nil) }
}

private struct FixedClock: TransferClock {
  let wallMs, bootMs: Int64
}
