import Testing
import TransferModel
import TransferTestSupport

/// Draws the smallest number of every range. It does not return 0, which Swift's unbiased draw would reject endlessly.
private struct Smallest: RandomNumberGenerator {
  mutating func next() -> UInt64 { 1 << 32 }
}

@Suite struct RetryPolicyTests {
  private let policy = RetryPolicy.standard

  private func delays(_ n: Int, throttled: Bool = false, asked: Int64? = nil) -> Set<Int64> {
    var generator = SplitMix(state: UInt64(n))
    return Set(
      (0..<200).map { _ in
        policy.delayMs(afterFailure: n, isThrottled: throttled, retryAfterMs: asked, using: &generator)
      })
  }

  @Test func theWholeRangeFromNothingIsDrawnFrom() {
    for (n, most) in [(1, 500), (2, 1_000), (4, 4_000), (8, 30_000), (30, 30_000)] as [(Int, Int64)] {
      let drawn = delays(n)
      #expect(drawn.count > 50 && drawn.allSatisfy { (0...most).contains($0) })
      #expect(drawn.contains { $0 < most / 10 } && drawn.contains { $0 > most - most / 10 })
    }
    #expect(delays(1, throttled: true).contains { $0 > 500 })
  }

  @Test func theSmallestDrawIsNoWait() {
    var generator = Smallest()
    #expect(policy.delayMs(afterFailure: 5, isThrottled: false, retryAfterMs: nil, using: &generator) == 0)
  }

  @Test func whatTheServerAskedForIsTheLeast() {
    let drawn = delays(1, asked: 20_000)
    #expect(drawn.count > 50 && drawn.allSatisfy { (20_000...22_000).contains($0) })
    #expect(delays(1, asked: 0).allSatisfy { $0 <= 500 })
  }
}
