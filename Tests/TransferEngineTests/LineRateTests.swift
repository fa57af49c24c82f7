import Testing

@testable import TransferEngine

@Suite struct LineRateTests {
  /// Two concurrent bodies, then nothing for a minute, then another: idle time does not count.
  @Test func itIsOfAllBodiesWhileAnyRuns() {
    var line = LineRate()
    for _ in 0..<2 { line.started(1_000_000, nowMs: 0) }
    #expect(line.sendingBytes == 2_000_000)
    #expect(line.bytesPerMs(inFlight: 500_000, nowMs: 500) == nil, "too early to tell")
    #expect(line.bytesPerMs(inFlight: 1_000_000, nowMs: 1_000) == 1_000)
    for _ in 0..<2 { line.ended(1_000_000, sent: 1_000_000, nowMs: 2_000) }
    line.started(1_000_000, nowMs: 62_000)
    line.ended(1_000_000, sent: 500_000, nowMs: 62_500)
    #expect(line.bytesPerMs(inFlight: 0, nowMs: 100_000) == 1_000)
    #expect(line.sendingBytes == 0)
  }

  @Test func itFollowsALineThatChanges() throws {
    var line = LineRate()
    for n in Int64(0)..<60 {
      line.started(1_000_000, nowMs: n * 1_000)
      line.ended(1_000_000, sent: n < 30 ? 1_000_000 : 100_000, nowMs: n * 1_000 + 1_000)
    }
    let rate = try #require(line.bytesPerMs(inFlight: 0, nowMs: 60_000))
    #expect(rate < 600)
  }

  /// Eight megabytes filled buffers immediately; the line moves 4,000 bytes per millisecond.
  @Test func itCanBeMeasuredAnew() {
    var line = LineRate()
    line.started(16_000_000, nowMs: 0)
    line.started(16_000_000, nowMs: 0)
    line.measureAnew(inFlight: 12_000_000, nowMs: 1_000)
    line.ended(16_000_000, sent: 9_000_000, nowMs: 1_500)
    #expect(line.bytesPerMs(inFlight: 7_000_000, nowMs: 1_900) == nil)
    #expect(line.bytesPerMs(inFlight: 7_000_000, nowMs: 2_000) == 4_000)
  }

  /// 4 MB/s for 15 s are 60 MB, and nine tenths of that are 54 MB: of eight bodies with 16 MB left, three can end; if
  /// all continued, none could.
  @Test func someEndWhenTheOthersMakeRoom() {
    let bodies = (1...8).map { DrainPlan.Body(request: $0, left: 16_000_000 + Int64($0), mayBeCut: true) }
    #expect(DrainPlan.hopeless(bodies, bytesPerMs: 4_000, withinMs: 15_000) == [4, 5, 6, 7, 8])
    #expect(DrainPlan.hopeless(bodies, bytesPerMs: 4_000, withinMs: 36_000) == [])
  }

  /// A body that was sent completely only waits for its answer, and one that must not be cut is never stopped to make
  /// room for others.
  @Test func whatIsOutAndWhatMayNotBeCutGoesOn() {
    let bodies = [
      DrainPlan.Body(request: 1, left: 0, mayBeCut: true), DrainPlan.Body(request: 2, left: 89, mayBeCut: false),
      DrainPlan.Body(request: 3, left: 2, mayBeCut: true), DrainPlan.Body(request: 4, left: 1, mayBeCut: true),
    ]
    #expect(DrainPlan.hopeless(bodies, bytesPerMs: 1, withinMs: 100) == [3])
    #expect(DrainPlan.hopeless(bodies, bytesPerMs: 1, withinMs: 0) == [4, 3])
  }
}
