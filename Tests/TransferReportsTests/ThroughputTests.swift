import Testing
import TransferModel

@testable import TransferReports

@Suite struct ThroughputTests {
  private func attempt(
    _ from: Int64, _ to: Int64?, sent: Int64, acked: Int64? = nil, isError: Bool = false
  ) -> AttemptInterval {
    AttemptInterval(startedMs: from, endedMs: to, bytesTransferred: sent, bytesAcked: acked ?? sent, isError: isError)
  }

  private func rows(
    _ attempts: [AttemptInterval], from: Int64 = 0, to: Int64 = 180_000, step: Int64 = 60_000, now: Int64 = 0
  ) throws -> [ThroughputRow] {
    var series = try #require(ThroughputSeries(fromMs: from, toMs: to, stepMs: step))
    for attempt in attempts { series.add(attempt, nowMs: now) }
    return series.rows
  }

  @Test func bytesAreSpreadOverTheTimeOfAnAttempt() throws {
    let found = try rows([attempt(30_000, 150_000, sent: 1200, acked: 600)])
    #expect(found.map(\.bytesTransferred) == [300, 600, 300])
    #expect(found.map(\.bytesAcked) == [150, 300, 150])
    #expect(found.map(\.busyMs) == [30_000, 60_000, 30_000])
    #expect(found.map(\.workers) == [0.5, 1, 0.5])
    #expect(found.map(\.attempts) == [1, 0, 0])
  }

  @Test func nothingIsLostInRounding() throws {
    var attempts: [AttemptInterval] = []
    var state: UInt64 = 7
    func next(_ bound: Int64) -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(state >> 33) % bound
    }
    for _ in 0..<500 {
      let start = next(150_000)
      attempts.append(attempt(start, start + next(30_000), sent: next(1 << 40)))
    }
    let found = try rows(attempts, step: 7)
    #expect(found.reduce(0) { $0 + $1.bytesTransferred } == attempts.reduce(0) { $0 + $1.bytesTransferred })
    #expect(found.reduce(0) { $0 + $1.busyMs } == attempts.reduce(0) { $0 + ($1.endedMs ?? 0) - $1.startedMs })
    #expect(found.reduce(0) { $0 + $1.attempts } == 500)
  }

  @Test func anErrorCountsWhereItEndedAndAnInstantWhereItWas() throws {
    let found = try rows([attempt(1, 61_000, sent: 0, isError: true), attempt(120_000, 120_000, sent: 9)])
    #expect(found.map(\.errors) == [0, 1, 0])
    #expect(found.map(\.bytesTransferred) == [0, 0, 9])
  }

  /// Intervals in which nothing ran are not the slowest.
  @Test func theFastestTheMedianAndTheSlowestAreOfActiveIntervals() throws {
    let sent: [Int64: Int64] = [0: 600, 1: 60, 3: 1200, 4: 300, 6: 1200]
    let attempts = sent.map { attempt($0.key * 60_000, ($0.key + 1) * 60_000, sent: $0.value) }
    let found = ThroughputExtremes(try rows(attempts, to: 480_000))
    #expect(found.fastest?.fromMs == 180_000 && found.fastest?.bps == 20)
    #expect(found.median?.fromMs == 0 && found.median?.bps == 10)
    #expect(found.slowest?.fromMs == 60_000 && found.slowest?.bps == 1)
    let none = ThroughputExtremes(try rows([]))
    #expect(none.fastest == nil && none.median == nil && none.slowest == nil)
    let two = ThroughputExtremes(try rows([attempt(0, 60_000, sent: 60), attempt(60_000, 120_000, sent: 600)]))
    #expect(two.median == two.slowest && two.fastest?.bps == 10)
  }

  @Test func anOpenAttemptLastsUntilNow() throws {
    let found = try rows([attempt(0, nil, sent: 0)], now: 90_000)
    #expect(found.map(\.busyMs) == [60_000, 30_000, 0])
  }

  @Test func aRunningBodyCountsAsFarAsItIs() throws {
    var series = try #require(ThroughputSeries(fromMs: 0, toMs: 90_000, stepMs: 60_000))
    series.add(attempt(30_000, nil, sent: 0), nowMs: 90_000)
    let running = InFlight(bytes: 1_000, bytesPerSecond: 1)
    series.add(InFlightBody(file: FileID(rawValue: 1), startedMs: 30_000, running), nowMs: 90_000)
    #expect(series.rows.map(\.bytesAcked) == [500, 500])
    #expect(series.rows.map(\.attempts) == [1, 0] && series.rows.map(\.busyMs) == [30_000, 30_000])
  }

  @Test func theWindowIsCutAndHalfOpen() throws {
    let found = try rows([attempt(0, 100_000, sent: 1000), attempt(90_000, 95_000, sent: 7)], from: 50_000, to: 90_000)
    #expect(found.map(\.fromMs) == [50_000, 60_000])
    #expect(found.map(\.lengthMs) == [10_000, 30_000])
    #expect(found.map(\.bytesTransferred) == [100, 300])
    #expect(found.map(\.attempts) == [0, 0])
    #expect(found.map(\.bps) == [10, 10])
  }

  @Test func aClockThatWasSetBackDoesNoHarm() throws {
    let found = try rows([attempt(100_000, 50_000, sent: 5)])
    #expect(found.map(\.bytesTransferred) == [0, 5, 0])
  }

  @Test func aStepIsChosenAndTooManyAreRefused() {
    #expect(ThroughputSeries.automaticStepMs(0) == 1_000)
    #expect(ThroughputSeries.automaticStepMs(7_200_000) == 300_000)
    #expect(ThroughputSeries.automaticStepMs(1 << 50) == 86_400_000)
    #expect(ThroughputSeries(fromMs: 0, toMs: 60_000 * 100_000, stepMs: 60_000) != nil)
    #expect(ThroughputSeries(fromMs: 0, toMs: 60_000 * 100_000 + 1, stepMs: 60_000) == nil)
    #expect(ThroughputSeries(fromMs: -5, toMs: -5, stepMs: 60_000)?.rows.count == 1)
  }
}
