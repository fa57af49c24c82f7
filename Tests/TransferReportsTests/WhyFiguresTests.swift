import Testing
import TransferModel

@testable import TransferReports

@Suite struct WhyFiguresTests {
  /// The figures of one file over 100 seconds.
  private func figures(
    _ attempts: [AttemptTrace], to: Int64 = 100_000, rate: Int64? = nil, runs: [RunLife] = [],
    host: HostActivity? = nil, hostWaits: [TimeSpan] = [], running: [TimeSpan] = [TimeSpan(0, 1_000_000)],
    asleep: [TimeSpan] = [], change: (inout WhyRow) -> Void = { _ in }
  ) -> WhyFigures {
    var row = WhyRow(subject: .file(FileID(rawValue: 1)), fromMs: 0)
    (row.state, row.toMs, row.batch, row.rate) = ("done", to, BatchID(rawValue: 1), rate)
    change(&row)
    var frame = WallFrame(TimeSpan(0, max(0, to)))
    (frame.running, frame.asleep, frame.hostWaits) = (running, asleep, hostWaits)
    var (sweep, tally) = (WallSweep(frame), WhyTally())
    for attempt in attempts {
      sweep.add(attempt)
      tally.add(attempt, lastMs: to)
    }
    return WhyFigures(row, toMs: to, sweep.finish(), tally, runs: runs, host: host)
  }

  private func part(_ start: Int64, _ end: Int64, sent: Int64, bytes: Int64 = 1 << 20, dial: Int64? = nil)
    -> AttemptTrace
  {
    var attempt = WallSweepTests.part(from: start, to: end, .ok)
    (attempt.totalMs, attempt.sentMs, attempt.bytesTransferred, attempt.dialMs) = (end - start, sent, bytes, dial)
    return attempt
  }

  private func says(_ figures: WhyFigures, _ part: String) -> Bool { figures.sentences.contains { $0.contains(part) } }

  @Test func theVerdictNamesTheLargestPart() {
    var refused = WallSweepTests.part(from: 0, to: 1_000, .retry)
    (refused.errorCode, refused.remoteIP, refused.httpStatus) = ("http.503", "10.0.0.7", 503)
    (refused.retryAfterMs, refused.backoffMs, refused.totalMs) = (60_000, 61_000, 1_000)
    var host = HostActivity(host: "up3.example")
    (host.others, host.failed, host.unavailable) = (41, 38, 37)
    let found = figures([refused, part(62_000, 100_000, sent: 37_000)], host: host)
    #expect(found.cause == "backoff")
    #expect(found.verdict == "1m 01s of 1m 40s it waited after failures before retrying.")
    #expect(
      says(
        found,
        "1 × http.503 from 10.0.0.7, with 1m 01s of backoff in all; the server asked for a wait once, of up to 1m 00s.")
    )
    #expect(
      says(
        found,
        "Others at up3.example in that time: 41 attempts, 38 failed (37 × 503): it is the server or the network path to it"
      ))
  }

  @Test func withoutAMajorityItIsMixed() {
    let found = figures([part(0, 40_000, sent: 39_000), part(60_000, 100_000, sent: 10_000)])
    #expect(found.cause == "mixed")
    #expect(found.verdict == "No part took more than half of the time; the longest is send with 49.0 s of 1m 40s.")
  }

  /// 64 KiB on one connection, 10 ms to send and 50 ms until the answer: 1.25 MiB/s, however fast the network is.
  @Test func shortRequestsLimit() {
    let attempts = (0..<100).map { part($0 * 60, $0 * 60 + 60, sent: 10, bytes: 65_536, dial: 25) }
    let limits = figures(attempts, to: 6_000).limits
    #expect(limits.limit == .roundTrip && limits.chunkBytes == 65_536 && limits.turnaroundMs == 50)
    #expect(limits.boundBps == 65_536 * 1_000 / 50 && limits.connections == 1 && limits.roundTripMs == 25)
    #expect(says(figures(attempts, to: 6_000), "64.0 KiB × 1 connection / 50 ms, at most 1.2 MiB/s"))
  }

  /// Two parallel connections move twice as much before their answers limit them.
  @Test func theBoundCountsConnections() {
    let attempts = (0..<100).map { part($0 / 2 * 60, $0 / 2 * 60 + 60, sent: 10, bytes: 65_536, dial: 25) }
    let limits = figures(attempts, to: 3_000).limits
    #expect(limits.limit == .roundTrip && limits.connections == 2 && limits.turnaroundMs == 50)
    #expect(limits.boundBps == Int64(2 * 65_536 * 1_000 / 50))
  }

  @Test func aServerThatAnswersLateLimits() {
    let found = figures([part(0, 90_000, sent: 10_000, dial: 20)])
    #expect(
      found.limits.limit == .server && found.cause == "server"
        && says(found, "The server is the bottleneck: on average no body moved for 1m 20s"))
  }

  @Test func aLineLimits() {
    let found = figures([part(0, 90_000, sent: 89_000, bytes: 89 << 20)])
    #expect(
      found.limits.limit == .network && says(found, "accepts bytes: 1.0 MiB/s while bodies were being transferred"))
  }

  @Test func aRateLimits() {
    var held = part(0, 90_000, sent: 89_000)
    held.heldMs = 30_000
    let found = figures([held], rate: 1 << 20)
    #expect(found.limits.limit == .rate && says(found, "(now 1.0 MiB/s): it delayed bodies for 30.0 s"))
    #expect(found.result.parts[.throttled] == 30_000)
    held.heldMs = 10_000
    #expect(figures([held], rate: 1 << 20).limits.limit == .network)
  }

  /// What limited its requests says nothing about a file that waited for most of its time.
  @Test func noLimitContradictsTheVerdict() {
    let queued = figures([part(70_000, 100_000, sent: 1_000, dial: 20)])
    #expect(queued.cause == "queued" && queued.limits.limit == nil && queued.limitOfMost == nil)
    #expect(!says(queued, "bottleneck"))
    var held = part(0, 90_000, sent: 70_000, dial: 20)
    held.heldMs = 60_000
    let throttled = figures([held], rate: 1 << 20)
    #expect(throttled.cause == "throttled" && throttled.limits.limit == .rate)
    #expect(throttled.verdict == "1m 00s of 1m 40s a rate limit delayed it.")
  }

  /// A rate limit that delayed a body for a moment did not cause the wait that the server requested.
  @Test func theLongerOfTwoDelaysIsTheCause() {
    var held = part(0, 10_000, sent: 9_000)
    held.heldMs = 500
    let asked = figures([held], rate: 1 << 20, hostWaits: [TimeSpan(10_000, 90_000)])
    #expect(asked.cause == "throttled" && asked.limits.limit == nil && !says(asked, "bottleneck"))
    #expect(asked.verdict.hasSuffix(" the server had requested a wait."), "\(asked.verdict)")
    var slow = part(0, 60_000, sent: 59_000)
    slow.heldMs = 50_000
    let limited = figures([slow], rate: 1 << 20, hostWaits: [TimeSpan(60_000, 90_000)])
    #expect(
      limited.cause == "throttled" && limited.limits.limit == .rate && says(limited, "it delayed bodies for 50.0 s"))
    #expect(limited.verdict.hasSuffix(" a rate limit delayed it."), "\(limited.verdict)")
  }

  /// The attempt was stopped while its host refused connections: it sent nothing, so no time counts as sending.
  @Test func whatWaitedForItsHostDidNotSend() {
    let waiting = WallSweepTests.part(from: 20_000, to: 80_000, .interrupted)
    let found = figures([waiting])
    #expect(found.result.parts[.send] == 0 && found.result.parts[.queued] == 100_000 && found.cause == "queued")
    var begun = waiting
    begun.connectMs = 5
    #expect(figures([begun]).result.parts[.send] == 60_000 - 5)
  }

  /// The bytes of a request are not known if it has not ended or its engine crashed.
  @Test(arguments: [AttemptOutcome.open, .crashed]) func aRateNeedsTheBytesOfAll(_ outcome: AttemptOutcome) {
    let sent = part(0, 10_000, sent: 9_000)
    #expect(figures([sent]).limits.sendBps != nil)
    #expect(figures([sent, WallSweepTests.part(from: 20_000, to: 30_000, outcome)]).limits.sendBps == nil)
  }

  @Test func aProcessorLimits() {
    let run = RunLife(
      id: RunID(rawValue: 1), startedMs: 0, lastMs: 100_000, isOpen: false, isCrashed: false, processorMs: 97_000)
    let found = figures([part(0, 90_000, sent: 89_000)], runs: [run])
    #expect(found.limits.limit == .processor && says(found, "the engine used 97 % of a processor"))
  }

  @Test func aClockThatWasSetBackIsSaid() {
    let backwards = figures([], to: -5_000)
    #expect(
      backwards.wallMs == nil && backwards.cause == nil && WhyFigures.form.report(backwards).table?.rows.isEmpty == true
    )
    #expect(says(backwards, "The clock was set back by at least 5.0 s"))
    let runs = [(1, 0, 50_000), (2, 20_000, 100_000)].map { id, from, to in
      RunLife(
        id: RunID(rawValue: Int64(id)), startedMs: Int64(from), lastMs: Int64(to), isOpen: false, isCrashed: false)
    }
    let between = figures([], runs: runs)
    #expect(between.clockSetBackMs == 30_000 && says(between, "set back by at least 30.0 s in that time"))
    #expect(between.result.parts.totalMs == between.wallMs)
  }

  /// Both count as down, but only one of them ends when the engine runs more often.
  @Test func aSleepingMachineIsNotAMissingEngine() {
    let sent = part(0, 10_000, sent: 9_000)
    #expect(
      figures([sent], asleep: [TimeSpan(10_000, 100_000)]).verdict == "1m 30s of 1m 40s the machine was asleep.")
    #expect(
      figures([sent], running: [TimeSpan(0, 80_000)], asleep: [TimeSpan(10_000, 80_000)]).verdict
        == "1m 30s of 1m 40s the machine was asleep or no engine ran.")
    #expect(
      figures([sent], running: [TimeSpan(0, 20_000)], asleep: [TimeSpan(10_000, 20_000)]).verdict
        == "1m 30s of 1m 40s no engine ran.")
  }

  @Test func whatIsNotPlainFromThePartsIsSaid() {
    #expect(says(figures([]), "No request was made for it."))
    #expect(says(figures([], change: { $0.toMs = nil }), "It has not ended"))
    #expect(says(figures([], change: { $0.state = "unknown" }), "Its outcome is unknown"))
    #expect(says(figures([], change: { $0.state = "crashed" }), "It crashed"))
    #expect(!says(figures([]), "It crashed"))
    #expect(
      figures([], to: 0, change: { $0.cause = "source.denied" }).verdict
        == "It ended when it was recorded: source.denied, without a request.")
    #expect(
      figures([], change: { ($0.subject, $0.files) = (.batch(BatchID(rawValue: 3)), 0) }).verdict
        == "The batch has no files.")
  }
}
