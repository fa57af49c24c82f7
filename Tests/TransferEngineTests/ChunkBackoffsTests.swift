import Testing

@testable import TransferEngine

@Suite struct ChunkBackoffsTests {
  @Test func thoseThatAreDueBeginFirstAndTheOthersStay() {
    var backoffs = ChunkBackoffs([100, 900, 200, 800])
    #expect(backoffs.isAnyDue(nowMs: 250))
    #expect(backoffs.dueCount(nowMs: 250) == 2)
    backoffs.begin(1, nowMs: 250)
    #expect(backoffs.count == 3)
    #expect(backoffs.firstMs == 200)
    backoffs.begin(5, nowMs: 250)
    #expect(backoffs.count == 2, "no chunk begins before its time")
    #expect(!backoffs.isAnyDue(nowMs: 250))
  }

  @Test func theNextIsTheFirstThatStillWaits() {
    let backoffs = ChunkBackoffs([900, 100, 500])
    #expect(backoffs.nextMs(after: 50) == 100)
    #expect(backoffs.nextMs(after: 100) == 500)
    #expect(backoffs.nextMs(after: 900) == nil)
    #expect(ChunkBackoffs().firstMs == nil)
  }

  @Test func fourThatFailHoldBackTheOthers() {
    var backoffs = ChunkBackoffs()
    backoffs.add(3, untilMs: 10)
    #expect(!backoffs.isFailingWidely)
    backoffs.add(untilMs: 20)
    #expect(backoffs.isFailingWidely)
    backoffs.drop(1)
    #expect(!backoffs.isFailingWidely)
    backoffs.drop(9)
    #expect(backoffs.isEmpty)
  }
}
