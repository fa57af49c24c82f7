import Testing
import TransferModel

@Suite struct TokenBucketTests {
  private static let second: Int64 = 1_000_000_000

  /// Sends `wanted` bytes at a time as soon as allowed, waking `lateNs` late each time; returns the bytes sent in
  /// `seconds`.
  private func sent(rate: Int64, wanted: Int, lateNs: Int64, seconds: Int64) -> Int64 {
    var bucket = TokenBucket(bytesPerSecond: rate, nowNs: 0)
    var now: Int64 = 0
    var sum: Int64 = 0
    while true {
      let reservation = bucket.reserve(wanted, nowNs: now)
      if reservation.readyNs > now { now = reservation.readyNs + lateNs }
      if now > seconds * Self.second { return sum }
      sum += Int64(reservation.bytes)
    }
  }

  @Test(arguments: [1000, 10_000, 1 << 20, 50 << 20, 200 << 20] as [Int64], [0, 1_000_000, 4_000_000] as [Int64])
  func theRateIsReachedAndNotExceeded(rate: Int64, lateNs: Int64) {
    let ideal = rate * 10
    let bytes = sent(rate: rate, wanted: 256 << 10, lateNs: lateNs, seconds: 10)
    let burst = max(1024, rate / 20) * 2
    #expect(bytes <= ideal + burst)
    #expect(bytes >= ideal - ideal / 50 - burst)
  }

  @Test func anIdleTimeIsNoCreditBeyondOneBuffer() {
    var bucket = TokenBucket(bytesPerSecond: 1 << 20, nowNs: 0)
    let late = 3600 * Self.second
    var burst = 0
    while true {
      let reservation = bucket.reserve(256 << 10, nowNs: late)
      guard reservation.readyNs <= late else { break }
      burst += reservation.bytes
    }
    #expect(burst <= 256 << 10 && burst > 0)
  }

  @Test func sendersAreServedInTheirOrderAndInTurn() {
    var bucket = TokenBucket(bytesPerSecond: 100_000, nowNs: 0)
    let ready = (0..<10).map { _ in bucket.reserve(256 << 10, nowNs: 0) }
    #expect(ready.allSatisfy { $0.bytes == 5000 })
    #expect(zip(ready, ready.dropFirst()).allSatisfy { $1.readyNs - $0.readyNs == 50_000_000 })
  }

  @Test func whatIsGivenBackServesTheNext() {
    var bucket = TokenBucket(bytesPerSecond: 100_000, nowNs: 0)
    _ = bucket.reserve(5000, nowNs: 0)
    let second = bucket.reserve(5000, nowNs: 0)
    bucket.refund(second.bytes)
    #expect(bucket.reserve(5000, nowNs: 0) == second)
  }

  @Test func extremesDoNotTrap() {
    var slow = TokenBucket(bytesPerSecond: 0, nowNs: 0)
    _ = slow.reserve(1 << 40, nowNs: 0)
    #expect(slow.reserve(1, nowNs: 0).readyNs >= 1000 * Self.second)
    var fast = TokenBucket(bytesPerSecond: .max, nowNs: 0)
    #expect(fast.reserve(256 << 10, nowNs: 5).bytes == 256 << 10)
    #expect(fast.reserve(1, nowNs: 5).readyNs <= 5)
  }
}
