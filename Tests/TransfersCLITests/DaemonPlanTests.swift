import TransferModel
import Testing

@testable import TransfersCLI

/// Which jobs the daemon starts, with times that the tests choose.
@Suite struct DaemonPlanTests {
  private let minute: Int64 = 60_000
  private let hour: Int64 = 3_600_000

  private func plan(_ schedules: [String: JobSchedule], starts: [String: Int64] = [:], nowMs: Int64) -> DaemonPlan {
    var plan = DaemonPlan(in: TimeZoneOffsets { _ in 0 })
    plan.configure(schedules, starts: starts, nowMs: nowMs)
    return plan
  }

  private func hourly() throws -> JobSchedule { .cron(try CronExpression("@hourly")) }

  @Test func aJobIsDueByItsLastStartAndNeverTwiceAtOnce() {
    var plan = plan(["a": .every(5 * minute)], nowMs: 1000)
    let look1 = plan.due(nowMs: 1000, running: [])
    #expect(look1 == ["a"])
    plan.started("a", nowMs: 1000)
    let look2 = plan.due(nowMs: 1000 + 5 * minute - 1, running: [])
    #expect(look2.isEmpty)
    let look3 = plan.due(nowMs: 1000 + 5 * minute, running: ["a"])
    #expect(look3.isEmpty)
    let look4 = plan.due(nowMs: 1000 + 9 * minute, running: [])
    #expect(look4 == ["a"])
  }

  @Test func aRunningJobIsDueToRecordOnceForEachTime() {
    var plan = plan(["a": .every(5 * minute), "b": .every(hour)], nowMs: 0)
    for name in plan.due(nowMs: 0, running: []) { plan.started(name, nowMs: 0) }
    #expect(plan.dueToRecord(nowMs: 5 * minute - 1, running: ["a", "b"]).isEmpty)
    #expect(plan.dueToRecord(nowMs: 5 * minute, running: ["a", "b"]) == ["a"])
    #expect(plan.dueToRecord(nowMs: 5 * minute, running: ["b"]).isEmpty)
    plan.recorded("a", nowMs: 6 * minute)
    #expect(plan.dueToRecord(nowMs: 11 * minute - 1, running: ["a", "b"]).isEmpty)
    #expect(plan.dueToRecord(nowMs: 11 * minute, running: ["a", "b"]) == ["a"])
    // The run that comes due meanwhile follows nevertheless.
    let next = plan.due(nowMs: 7 * minute, running: [])
    #expect(next == ["a"])
    plan.started("a", nowMs: 7 * minute)
    #expect(plan.dueToRecord(nowMs: 12 * minute - 1, running: ["a"]).isEmpty)
  }

  @Test func aRecordingWaitsForTheScanOfTheRunAndRestsAsLongAsItTook() {
    var recordings = JobRecordings()
    func scan(_ completedMs: Int64) -> [ScanRow] {
      var scan = ScanRow(
        job: "a", place: "put:there", sources: ScannedSources(from: [], list: nil, rules: []), tookMs: 1,
        counts: SourceCounts())
      scan.completedMs = completedMs
      return [scan]
    }
    #expect(!recordings.hasRead("a", scan(2_000)))
    recordings.runStarted("a", wallMs: 1_000)
    #expect(!recordings.hasRead("a", []) && !recordings.hasRead("a", scan(999)))
    #expect(recordings.hasRead("a", scan(1_000)))
    #expect(recordings.hasRead("a", nil) && !recordings.hasRead("b", nil), "a download, which has no scan")
    #expect(recordings.isRested("a", nowMs: 10))
    recordings.began("a", nowMs: 10)
    #expect(!recordings.isRested("a", nowMs: 1_000))
    recordings.ended("a", nowMs: 60)
    #expect(!recordings.isRested("a", nowMs: 109) && recordings.isRested("a", nowMs: 110))
  }

  @Test func aRunThatStartsForAnotherReasonCoversTheEvents() {
    var hints = WatchHints()
    hints.note("a", nowMs: 0)
    hints.forget("a")
    #expect(hints.due(nowMs: minute, running: []).isEmpty)
  }

  @Test func whatWasMissedRunsOnce() throws {
    var plan = plan(["a": try hourly(), "b": try hourly()], starts: ["a": 10 * hour], nowMs: 14 * hour + minute)
    // "b" has never run: it has missed nothing.
    let look5 = plan.due(nowMs: 14 * hour + minute, running: [])
    #expect(look5 == ["a"])
    plan.started("a", nowMs: 14 * hour + minute)
    let look6 = plan.due(nowMs: 15 * hour - 1, running: [])
    #expect(look6.isEmpty)
    let look7 = plan.due(nowMs: 15 * hour, running: [])
    #expect(look7 == ["a", "b"])
  }

  @Test func aClockThatIsSetBackStopsNothing() throws {
    var plan = plan(
      ["a": try hourly(), "b": .every(hour)], starts: ["a": 100 * hour, "b": 100 * hour], nowMs: 100 * hour)
    let look8 = plan.due(nowMs: 100 * hour, running: [])
    #expect(look8.isEmpty)
    let look9 = plan.due(nowMs: 50 * hour + minute, running: [])
    #expect(look9 == ["b"])
    plan.started("b", nowMs: 50 * hour + minute)
    let look10 = plan.due(nowMs: 51 * hour, running: [])
    #expect(look10 == ["a"])
  }

  @Test func anotherConfigurationKeepsTheStarts() {
    var plan = plan(["a": .every(hour), "b": .every(hour)], nowMs: 0)
    for name in plan.due(nowMs: 0, running: []) { plan.started(name, nowMs: 0) }
    plan.configure(["a": .every(2 * hour)], starts: [:], nowMs: hour)
    #expect(plan.count == 1)
    let look11 = plan.due(nowMs: hour, running: [])
    #expect(look11.isEmpty)
    let look12 = plan.due(nowMs: 2 * hour, running: [])
    #expect(look12 == ["a"])
  }

  @Test func anEngineIsStartedForWhatIsLeftAndWaitsLongerEachTime() {
    var demand = EngineDemand()
    let look13 = demand.isNeeded(.settled, jobsRun: false, nowMs: 0)
    #expect(!look13)
    let look14 = demand.isNeeded(.owned, jobsRun: false, nowMs: 0)
    #expect(!look14)
    let look15 = demand.isNeeded(.left, jobsRun: false, nowMs: 0)
    #expect(look15)
    demand.ended(nowMs: 100)
    let look16 = demand.isNeeded(.left, jobsRun: false, nowMs: 99 + EngineDemand.firstWaitMs)
    #expect(!look16)
    let look17 = demand.isNeeded(.left, jobsRun: false, nowMs: 100 + EngineDemand.firstWaitMs)
    #expect(look17)
    demand.ended(nowMs: 10_000)
    let look18 = demand.isNeeded(.left, jobsRun: false, nowMs: 9_999 + 2 * EngineDemand.firstWaitMs)
    #expect(!look18)
    demand.changed()
    let look19 = demand.isNeeded(.left, jobsRun: false, nowMs: 10_999)
    #expect(!look19)
    let look20 = demand.isNeeded(.left, jobsRun: false, nowMs: 11_000)
    #expect(look20)
  }

  @Test func aJobIsGivenTimeToSendWhatItRecords() {
    var demand = EngineDemand()
    let look21 = demand.isNeeded(.left, jobsRun: true, nowMs: 0)
    #expect(!look21)
    let look22 = demand.isNeeded(.left, jobsRun: true, nowMs: 500)
    #expect(look22)
  }

  @Test func aHintWaitsForAQuietMomentAndNotForLong() {
    var hints = WatchHints()
    hints.note("a", nowMs: 1_000)
    #expect(hints.due(nowMs: 999 + WatchHints.quietMs, running: []).isEmpty)
    #expect(hints.due(nowMs: 1_000 + WatchHints.quietMs, running: []) == ["a"])
    #expect(hints.due(nowMs: 1_000 + WatchHints.quietMs, running: ["a"]).isEmpty)
    // Events arrive continuously.
    var nowMs: Int64 = 1_000
    while nowMs < 1_000 + WatchHints.longestMs {
      #expect(hints.due(nowMs: nowMs, running: []).isEmpty)
      nowMs += WatchHints.quietMs / 2
      hints.note("a", nowMs: nowMs)
    }
    #expect(hints.due(nowMs: nowMs, running: []) == ["a"])
  }

  @Test func whatComesWhileAJobRunsIsAReasonForTheNextRunAfterARest() {
    var hints = WatchHints()
    hints.note("a", nowMs: 0)
    hints.started("a", nowMs: 600)
    #expect(hints.due(nowMs: 5_000, running: []).isEmpty)
    hints.note("a", nowMs: 700)
    hints.ended("a", foundNew: true, longestRestMs: 300_000, nowMs: 4_600)
    #expect(hints.due(nowMs: 8_599, running: []).isEmpty)
    #expect(hints.due(nowMs: 8_600, running: []) == ["a"])
    hints.keep([])
    #expect(hints.due(nowMs: 8_600, running: []).isEmpty)
  }

  /// How many runs are started if an event arrives every `intervalMs` for `hours` hours. Each run takes 100 ms.
  private func runs(ofNoiseEveryMs intervalMs: Int64, foundNew: Bool, hours: Int64 = 24) -> Int {
    var (hints, count, nowMs): (WatchHints, Int, Int64) = (WatchHints(), 0, 0)
    while nowMs < hours * hour {
      hints.note("a", nowMs: nowMs)
      nowMs += WatchHints.quietMs
      if !hints.due(nowMs: nowMs, running: []).isEmpty {
        count += 1
        hints.started("a", nowMs: nowMs)
        hints.ended("a", foundNew: foundNew, longestRestMs: 5 * minute, nowMs: nowMs + 100)
      }
      nowMs += intervalMs - WatchHints.quietMs
    }
    return count
  }

  @Test func eventsWithoutNewsAreFollowedLessAndLessAndNewsAtOnce() {
    // One run every five minutes, and nine before that interval is reached.
    #expect(runs(ofNoiseEveryMs: 1_000, foundNew: false) <= 24 * 12 + 10)
    #expect(runs(ofNoiseEveryMs: 1_000, foundNew: true) >= 24 * 3_600 - 1)
    // Rare events are not delayed.
    #expect(runs(ofNoiseEveryMs: 60_000, foundNew: false) == 24 * 60)
  }

  @Test func newsEndTheRestOfEventsThatWereNone() {
    var hints = WatchHints()
    func run(_ foundNew: Bool, _ nowMs: Int64) {
      hints.started("a", nowMs: nowMs)
      hints.ended("a", foundNew: foundNew, longestRestMs: minute, nowMs: nowMs + 100)
      hints.note("a", nowMs: nowMs + 200)
    }
    run(false, 0)
    #expect(hints.due(nowMs: 1_099, running: []).isEmpty)
    #expect(hints.due(nowMs: 1_100, running: []) == ["a"])
    run(false, 1_100)
    #expect(hints.due(nowMs: 3_199, running: []).isEmpty)
    #expect(hints.due(nowMs: 3_200, running: []) == ["a"])
    // A run that finds something new resets the rest.
    run(true, 3_200)
    #expect(hints.due(nowMs: 3_900, running: []) == ["a"])
  }
}
