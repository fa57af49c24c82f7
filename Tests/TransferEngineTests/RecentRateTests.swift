import Testing

@testable import TransferEngine

@Suite struct RecentRateTests {
  private func rate(_ counts: [(atMs: Int64, bytes: Int64)]) -> Int64 {
    var rate = RecentRate(startedMs: 0)
    for (atMs, bytes) in counts { rate.record(bytes: bytes, atMs: atMs) }
    return rate.bytesPerSecond
  }

  @Test func theFirstCountIsMeasuredFromTheBeginning() {
    #expect(rate([]) == 0)
    #expect(rate([(0, 500)]) == 0)
    #expect(rate([(500, 500)]) == 1_000)
  }

  /// What happened before the window does not matter: a stalled body has a rate of 0 after it.
  @Test func onlyTheLastSecondsCount() {
    let steady = (1...60).map { (atMs: Int64($0) * 1_000, bytes: Int64($0) * 7) }
    #expect(rate(steady) == 7)
    let stalled = (61...66).map { (atMs: Int64($0) * 1_000, bytes: Int64(420)) }
    #expect(rate(steady + stalled.prefix(2)) == 4)
    #expect(rate(steady + stalled) == 0)
  }

  @Test func aBodyThatBeginsAgainIsMeasuredAnew() {
    #expect(rate([(1_000, 9_000), (2_000, 100)]) == 0)
    #expect(rate([(1_000, 9_000), (2_000, 100), (3_000, 300)]) == 200)
  }

  @Test func absurdCountsDoNoHarm() {
    #expect(rate([(1, .max)]) == 1_000_000_000_000_000)
    #expect(rate([(.max, .max)]) == 1_000)
  }
}
