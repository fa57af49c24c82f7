import Testing
import TransferModel

@testable import TransferReports

/// What cost time, computed from sums and from time spans.
@Suite struct CostTests {
  /// Computes the lost time millisecond by millisecond.
  private static func slowly(
    _ sums: CostSums, _ running: [TimeSpan], _ asleep: [TimeSpan], _ window: TimeSpan
  ) -> (down: Int64, paused: Int64) {
    let last = running.map(\.toMs).max() ?? .min
    func holds(_ spans: [TimeSpan], _ ms: Int64) -> Bool { spans.contains { $0.fromMs <= ms && ms < $0.toMs } }
    var found: (down: Int64, paused: Int64) = (0, 0)
    for ms in Int64(-20)..<130 where window.fromMs <= ms && ms < min(window.toMs, last) {
      var paused = Set<Int64>()
      for decision in sums.decisions where decision.atMs <= ms {
        for file in decision.files.joined() {
          if decision.kind == .paused { paused.insert(file) } else { paused.remove(file) }
        }
      }
      if holds(asleep, ms) {
        found.down += holds(sums.waiting, ms) ? 1 : 0
      } else if !paused.isEmpty {
        found.paused += 1
      } else if !holds(running, ms), holds(sums.waiting, ms) {
        found.down += 1
      }
    }
    return found
  }

  @Test func lostTimeIsThatOfEveryMillisecondByItself() {
    var seen: (down: Int, paused: Int) = (0, 0)
    for seed in UInt64(1)...2000 {
      let frame = WallHistory(seed: seed).frame
      var sums = CostSums()
      sums.waiting = WallHistory(seed: seed + 10_000).frame.running + WallHistory(seed: seed + 20_000).frame.running
      if seed % 3 == 0 { sums.waiting.append(TimeSpan(Int64(seed % 50), .max)) }
      sums.decisions = frame.decisions
      let window = seed % 2 == 0 ? frame.window : TimeSpan(.min, .max)
      let lost = LostTime(sums, running: frame.running, asleep: frame.asleep, window)
      let wanted = Self.slowly(sums, frame.running, frame.asleep, window)
      #expect(lost.downMs == wanted.down && lost.pausedMs == wanted.paused, "seed \(seed)")
      seen = (seen.down + (wanted.down > 0 ? 1 : 0), seen.paused + (wanted.paused > 0 ? 1 : 0))
    }
    #expect(seen.down > 300 && seen.paused > 300)
  }

  private static func attempt(_ outcome: AttemptOutcome, transferred: Int64, acked: Int64) -> AttemptTrace {
    var attempt = AttemptTrace(
      file: FileID(rawValue: 1), chunk: ChunkID(rawValue: 1), run: RunID(rawValue: 1), operation: .part,
      outcome: outcome, startedMs: 1000, endedMs: outcome == .open ? nil : 2000)
    (attempt.bytesTransferred, attempt.bytesAcked) = (transferred, acked)
    (attempt.connectMs, attempt.sentMs, attempt.totalMs) = (100, 700, 1000)
    return attempt
  }

  @Test func anAttemptCostsWhatItsPhasesSay() {
    let half = AttemptCosts(Self.attempt(.retry, transferred: 100, acked: 50))
    #expect(half == AttemptCosts(connectMs: 100, serverMs: 300, resentMs: 300, bytesUnacked: 50))
    let whole = AttemptCosts(Self.attempt(.ok, transferred: 100, acked: 100))
    #expect(whole == AttemptCosts(connectMs: 100, serverMs: 300))
    #expect(
      AttemptCosts.replacing(Self.attempt(.retry, transferred: 100, acked: 50))
        == AttemptCosts(resentMs: 300, bytesUnacked: 50))
    #expect(AttemptCosts(Self.attempt(.crashed, transferred: 9, acked: 2)) == AttemptCosts(bytesUnacked: 7))
    #expect(AttemptCosts(Self.attempt(.open, transferred: 9, acked: 0)) == AttemptCosts())
  }

  @Test func absurdNumbersAreSumsToo() {
    var absurd = Self.attempt(.retry, transferred: .max, acked: .min)
    (absurd.startedMs, absurd.endedMs, absurd.connectMs, absurd.sentMs) = (.min, .max, .max, .max)
    (absurd.totalMs, absurd.heldMs) = (.max, .max)
    var sum = AttemptCosts(absurd)
    sum += sum
    #expect(sum.bytesUnacked == .max)
    var sums = CostSums()
    (sums.hosts["h"], sums.waiting) = (sum, [TimeSpan(.min, .max)])
    #expect(CostRow.all(sums, running: [TimeSpan(.min, .max)], asleep: []).first?.ms ?? 0 > 0)
  }

  @Test func theMostComesFirstAndNothingIsNoRow() {
    var sums = CostSums()
    sums.hosts = ["a": AttemptCosts(connectMs: 5, serverMs: 70), "b": AttemptCosts(serverMs: 90)]
    sums.backoff[BackoffPlace(host: "b", code: "http.503")] = BackoffSum(attempts: 2, ms: 80)
    sums.hints["http.503"] = "wait"
    let rows = CostRow.all(sums, running: [], asleep: [])
    #expect(rows.map(\.ms) == [90, 80, 70, 5])
    #expect(rows[1].what == "waiting after http.503, 2 times" && rows[1].hint == "wait")
    #expect(CostRow.all(CostSums(), running: [], asleep: []) == [])
  }
}
