import Testing
import TransferModel

@testable import CurlTransport

/// What a rate lets one request move, with a clock that the test controls.
@Suite struct RateHoldTests {
  private static let second: Int64 = 1_000_000_000
  private let limiter = RateLimiter()

  /// Asks for as much as the limit grants until the request has to wait, and returns when it may continue.
  private func exhaust(_ hold: inout RateHold, nowNs: Int64) -> Int64? {
    for _ in 0..<1_000 {
      let allowed = hold.allowance(4096, nowNs: nowNs)
      if allowed == 0 { return hold.untilNs }
      hold.use(allowed)
    }
    return nil
  }

  @Test func withoutALimitNothingWaits() {
    var hold = RateHold(limiter, nil)
    let (allowed, until, waited) = (hold.allowance(1 << 30, nowNs: 0), exhaust(&hold, nowNs: 0), hold.hasWaited())
    #expect(allowed == 1 << 30 && until == nil && !waited && hold.totalNs(until: Self.second) == 0)
  }

  @Test func theTimesOfAllWaitsAreAdded() throws {
    limiter.setRate(bytesPerSecond: 10_000, of: nil, nowNs: 0)
    var hold = RateHold(limiter, nil)
    let first = try #require(exhaust(&hold, nowNs: 0))
    #expect(first > 0 && hold.totalNs(until: 70) == 70)
    // It asks again in the same wait.
    let again = hold.allowance(1, nowNs: 50)
    #expect(again == 0 && hold.totalNs(until: 70) == 70)
    hold.release(nowNs: first)
    #expect(hold.untilNs == nil && hold.totalNs(until: 2 * first) == first)
    let second = try #require(exhaust(&hold, nowNs: first))
    #expect(hold.totalNs(until: second) == second)
  }

  @Test func aWaitIsToldOnceAfterItHasEnded() throws {
    limiter.setRate(bytesPerSecond: 10_000, of: nil, nowNs: 0)
    var hold = RateHold(limiter, nil)
    let until = try #require(exhaust(&hold, nowNs: 0))
    let whileItWaits = [hold.hasWaited(), hold.hasWaited()]
    hold.release(nowNs: until)
    let afterwards = [hold.hasWaited(), hold.hasWaited()]
    #expect(whileItWaits == [true, true] && afterwards == [true, false])
  }

  @Test func aGrantOfAnOlderRateIsDropped() throws {
    limiter.setRate(bytesPerSecond: 10_000, of: nil, nowNs: 0)
    var hold = RateHold(limiter, nil)
    _ = try #require(exhaust(&hold, nowNs: 0))
    limiter.setRate(bytesPerSecond: nil, of: nil, nowNs: 0)
    let before = hold.allowance(1, nowNs: 0)
    hold.dropGrant(unlessOf: limiter.generation)
    let after = hold.allowance(1 << 20, nowNs: 0)
    #expect(before == 0 && after == 1 << 20, "its grant counts until it is dropped")
  }
}
