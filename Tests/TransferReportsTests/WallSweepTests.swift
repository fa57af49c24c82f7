import Testing
import TransferModel

@testable import TransferReports

@Suite struct WallSweepTests {
  @Test(arguments: 0..<10)
  func thePartsOfRandomHistoriesSumToTheWallTime(tenth: UInt64) {
    for seed in tenth * 1_000..<(tenth + 1) * 1_000 {
      let history = WallHistory(seed: seed)
      let result = history.swept()
      let oracle = WallOracle(frame: history.frame, attempts: history.attempts)
      #expect(result.parts.totalMs == history.frame.window.lengthMs, "seed \(seed)")
      #expect(WallPart.allCases.allSatisfy { result.parts[$0] >= 0 }, "seed \(seed)")
      #expect(result.parts == oracle.parts(), "seed \(seed)")
      #expect(result.asleepMs == oracle.asleepMs(), "seed \(seed)")
    }
  }

  /// An attempt that began before the one read last, as after the clock was set back, counts only from there.
  @Test(arguments: 0..<200)
  func attemptsOutOfOrderLoseNoTime(seed: UInt64) {
    var history = WallHistory(seed: seed)
    history.attempts.reverse()
    let parts = history.swept().parts
    #expect(parts.totalMs == history.frame.window.lengthMs)
    #expect(WallPart.allCases.allSatisfy { parts[$0] >= 0 })
  }

  @Test func aRetriedChunkOfAnUpload() {
    var frame = WallFrame(TimeSpan(1_000, 21_000))
    frame.running = [TimeSpan(2_000, 30_000)]
    var sweep = WallSweep(frame)
    var refused = Self.part(from: 2_500, to: 4_000, .retry)
    (refused.totalMs, refused.connectMs, refused.sentMs, refused.backoffMs) = (1_400, 100, 900, 10_000)
    sweep.add(refused)
    var stored = Self.part(from: 14_000, to: 18_000, .ok)
    (stored.totalMs, stored.sentMs, stored.heldMs) = (4_000, 3_500, 500)
    sweep.add(stored)
    let result = sweep.finish()
    var expected = WallParts()
    (expected[.down], expected[.queued], expected[.connect]) = (1_000, 500 + 100 + 3_000, 100)
    (expected[.send], expected[.server], expected[.backoff], expected[.throttled]) = (
      800 + 3_000, 500 + 500, 10_000, 500
    )
    #expect(result.parts == expected)
    #expect(result.parts.cause == nil && result.peakRequests == 1 && result.requestMs == 1_400 + 3_500)
  }

  /// The body of a download comes after the first byte of the answer.
  @Test func aDownloadWaitsBeforeItReceives() {
    var sweep = WallSweep(WallFrame(TimeSpan(0, 10_000)))
    var fetched = Self.part(from: 0, to: 10_000, .ok)
    (fetched.isDownload, fetched.totalMs, fetched.connectMs, fetched.firstByteMs) = (true, 10_000, 1_000, 3_000)
    sweep.add(fetched)
    let parts = sweep.finish().parts
    #expect(parts[.connect] == 1_000 && parts[.server] == 2_000 && parts[.send] == 7_000)
    #expect(parts.cause == .send && WallPart.send.name(isDownload: true) == "receive")
  }

  /// The request was open while the machine slept; nothing was received then.
  @Test func asleepCountsAsDown() {
    var frame = WallFrame(TimeSpan(0, 10_000))
    frame.running = [TimeSpan(0, 10_000)]
    frame.asleep = [TimeSpan(2_000, 8_000)]
    var sweep = WallSweep(frame)
    sweep.add(Self.part(from: 0, to: 9_000, .retry))
    let result = sweep.finish()
    #expect(result.parts[.down] == 6_000 && result.asleepMs == 6_000)
    #expect(result.parts[.send] == 3_000 && result.parts[.queued] == 1_000)
  }

  /// The next run closes a crashed attempt, but its work ended with its own run.
  @Test func aDeadEngineSendsNothing() {
    var frame = WallFrame(TimeSpan(0, 10_000))
    frame.running = [TimeSpan(0, 3_000), TimeSpan(9_000, 10_000)]
    frame.lastLifeMs = [RunID(rawValue: 1): 3_000]
    var sweep = WallSweep(frame)
    sweep.add(Self.part(from: 1_000, to: 9_000, .crashed))
    let parts = sweep.finish().parts
    #expect(parts[.send] == 2_000 && parts[.down] == 6_000 && parts[.queued] == 2_000)
  }

  @Test func aFileAtRestWaitedForAPerson() {
    var frame = WallFrame(TimeSpan(0, 10_000))
    frame.isOneFile = true
    frame.running = [TimeSpan(0, 2_000)]
    frame.decisions = [FileDecision(.retried, atMs: 9_000, files: [1...1])]
    var sweep = WallSweep(frame)
    sweep.add(Self.part(from: 0, to: 1_000, .fatal))
    let result = sweep.finish()
    #expect(result.parts[.paused] == 8_000 && result.restedMs == 8_000 && result.parts[.down] == 1_000)
  }

  /// In a batch, one file may be paused while others back off; resuming ends the backoff of only that file.
  @Test func decisionsAreAboutTheirFiles() {
    var frame = WallFrame(TimeSpan(0, 10_000))
    frame.decisions = [
      FileDecision(.paused, atMs: 1_000, files: [2...3]), FileDecision(.resumed, atMs: 7_000, files: [3...3]),
      FileDecision(.cancelled, atMs: 8_000, files: [1...2]),
    ]
    var sweep = WallSweep(frame)
    var refused = Self.part(from: 0, to: 2_000, .retry)
    refused.backoffMs = 3_000
    sweep.add(refused)
    let parts = sweep.finish().parts
    #expect(parts[.send] == 2_000 && parts[.backoff] == 3_000 && parts[.paused] == 3_000 && parts[.down] == 2_000)
  }

  /// A wait that the host requested counts only while nothing runs or backs off, and takes precedence over a pause.
  @Test func aWaitOfTheHostIsThrottled() {
    var frame = WallFrame(TimeSpan(0, 10_000))
    frame.running = [TimeSpan(0, 9_000)]
    frame.hostWaits = [TimeSpan(1_000, 6_000)]
    frame.decisions = [FileDecision(.paused, atMs: 5_000, files: [1...1])]
    var sweep = WallSweep(frame)
    sweep.add(Self.part(from: 2_000, to: 3_000, .ok))
    let parts = sweep.finish().parts
    #expect(parts[.queued] == 1_000 && parts[.throttled] == 4_000 && parts[.send] == 1_000 && parts[.paused] == 4_000)
  }

  @Test func rangesOfNumbers() {
    var set = NumberRanges()
    for range: ClosedRange<Int64> in [5...7, 1...2, 9...9, 8...8, 3...3] { set.insert(range) }
    #expect(set.ranges == [1...3, 5...9])
    set.insert(2...8)
    #expect(set.ranges == [1...9])
    set.remove(2...6)
    #expect(set.ranges == [1...1, 7...9])
    #expect(set.contains(1) && set.contains(8) && !set.contains(5) && !set.contains(10) && !set.contains(0))
    set.remove(0...20)
    #expect(set.isEmpty && NumberRanges([4...4, 1...2, 3...3]).ranges == [1...4])
  }

  static func part(from start: Int64, to end: Int64, _ outcome: AttemptOutcome) -> AttemptTrace {
    AttemptTrace(
      file: FileID(rawValue: 1), chunk: ChunkID(rawValue: 1), run: RunID(rawValue: 1), operation: .part,
      outcome: outcome, startedMs: start, endedMs: end)
  }
}
