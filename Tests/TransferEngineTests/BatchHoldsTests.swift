import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

@Suite struct BatchHoldsTests {
  private let a = BatchID(rawValue: 1), b = BatchID(rawValue: 2)

  private func limits(rate: Int64? = nil, deadlineMs: Int64? = nil) -> BatchLimits {
    BatchLimits(rate: rate, workers: nil, deadlineMs: deadlineMs)
  }

  @Test func onlyWhatChangedIsHeldAnew() {
    var holds = BatchHolds()
    #expect(holds.take([a: limits(rate: 1), b: limits(rate: 2)]) == [a, b])
    #expect(holds.take([a: limits(rate: 1), b: limits(rate: 2)]) == [])
    #expect(holds.take([b: limits(rate: 3)]) == [a, b])
    #expect(holds[a] == nil && holds[b]?.rate == 3)
  }

  @Test func endsFollowTheBootClock() {
    var holds = BatchHolds()
    #expect(holds.takeEnds(civilMs: 1_000, bootMs: 50) == nil)
    _ = holds.take([a: limits(deadlineMs: 1_400)])
    #expect(holds.takeEnds(civilMs: 1_000, bootMs: 50) == [a: 450])
    _ = holds.take([:])
    // Returned once more, empty, so that the deadlines set for bodies are withdrawn.
    #expect(holds.takeEnds(civilMs: 1_000, bootMs: 50) == [:])
    #expect(holds.takeEnds(civilMs: 1_000, bootMs: 50) == nil)
  }

  @Test func aDeadlinePassesOnceAndMayBeMovedAway() {
    var holds = BatchHolds()
    _ = holds.take([a: limits(deadlineMs: 100), b: limits(deadlineMs: 200)])
    #expect(holds.takeOverdue(civilMs: 99) == nil)
    #expect(holds.takeOverdue(civilMs: 100) == [a])
    #expect(holds.takeOverdue(civilMs: 150) == nil)
    #expect(holds.takeOverdue(civilMs: 200) == [b])
    _ = holds.take([a: limits(deadlineMs: 900), b: limits(deadlineMs: 200)])
    #expect(holds.takeOverdue(civilMs: 210) == [])
    #expect(holds.overdue == [b])
  }
}
