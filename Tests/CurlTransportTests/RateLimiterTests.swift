import Testing
import TransferModel

@testable import CurlTransport

/// Rates with a clock that the test controls.
@Suite struct RateLimiterTests {
  private static let second: Int64 = 1_000_000_000
  private let group = RateGroup(rawValue: 7)

  /// The bytes that a sender may send in ten seconds if it asks for 4 KiB as soon as it may.
  private func sent(_ limiter: RateLimiter, _ group: RateGroup?, inTurnsWith other: RateGroup? = nil) -> [Int] {
    var (sums, now) = ([0, 0], [Int64(0), 0])
    let groups = [group, other]
    while let turn = now.indices.min(by: { now[$0] < now[$1] }), now[turn] < 10 * Self.second {
      guard let grant = limiter.reserve(4096, of: groups[turn], nowNs: now[turn]) else {
        sums[turn] = .max
        now[turn] = .max
        continue
      }
      sums[turn] += grant.bytes
      now[turn] = max(grant.readyNs, now[turn])
    }
    return sums
  }

  private func isAbout(_ bytes: Int, _ rate: Int) -> Bool { abs(bytes - 10 * rate) < rate / 2 }

  @Test func onlyTheGroupWithALimitIsHeldBack() {
    let limiter = RateLimiter()
    limiter.setRate(bytesPerSecond: 10_000, of: group, nowNs: 0)
    let sums = sent(limiter, group, inTurnsWith: RateGroup(rawValue: 8))
    #expect(isAbout(sums[0], 10_000) && sums[1] == .max, "\(sums)")
    #expect(limiter.reserve(1, of: nil, nowNs: 0) == nil)
  }

  @Test func bothLimitsHold() {
    let limiter = RateLimiter()
    limiter.setRate(bytesPerSecond: 100_000, of: nil, nowNs: 0)
    limiter.setRate(bytesPerSecond: 10_000, of: group, nowNs: 0)
    let sums = sent(limiter, group, inTurnsWith: nil)
    #expect(isAbout(sums[0], 10_000), "\(sums)")
    #expect(isAbout(sums[0] + sums[1], 100_000), "\(sums)")
  }

  @Test func theSmallerOfTwoLimitsDecidesWhicheverItIs() {
    let limiter = RateLimiter()
    limiter.setRate(bytesPerSecond: 10_000, of: nil, nowNs: 0)
    limiter.setRate(bytesPerSecond: 1_000_000, of: group, nowNs: 0)
    let sums = sent(limiter, group, inTurnsWith: group)
    #expect(isAbout(sums[0] + sums[1], 10_000), "\(sums)")
  }

  @Test func whatIsNotSentIsGivenBackToTheRatesThatAreStillTheSame() throws {
    let limiter = RateLimiter()
    limiter.setRate(bytesPerSecond: 1000, of: nil, nowNs: 0)
    limiter.setRate(bytesPerSecond: 1000, of: group, nowNs: 0)
    let held = try #require(limiter.reserve(1000, of: group, nowNs: Self.second))
    let before = limiter.generation
    limiter.setRate(bytesPerSecond: 500, of: group, nowNs: Self.second)
    #expect(limiter.generation != before)
    limiter.refund(held)
    let next = try #require(limiter.reserve(1000, of: nil, nowNs: Self.second))
    #expect(next.readyNs <= Self.second, "all of the overall rate is free again")
    let own = try #require(limiter.reserve(1, of: group, nowNs: Self.second))
    #expect(own.readyNs > Self.second, "behind the thousand bytes that were booked above")
    limiter.setRate(bytesPerSecond: nil, of: nil)
    limiter.setRate(bytesPerSecond: nil, of: group)
    #expect(limiter.reserve(1, of: group, nowNs: 0) == nil)
  }
}
