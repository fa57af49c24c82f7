/// Divides a rate between many senders, in the order of their requests. Pure: the caller passes the time.
///
/// A sender reserves the bytes it wants to send next and gets the time when it may send them. So no sender is woken in
/// vain, the one that waited longest is served first, and then queues behind the others.
package struct TokenBucket: Sendable, Hashable {
  /// A reservation: `bytes` may be sent from `readyNs` on.
  package struct Reservation: Sendable, Hashable {
    package var bytes: Int
    package var readyNs: Int64
  }

  /// Bytes a second, at least 1.
  package let rate: Int64
  /// The largest single reservation: a twentieth of a second, between 1 KiB and one buffer.
  package let quantum: Int
  /// Unused time that may be caught up on: one buffer's worth, between 5 and 50 ms. Less than 5 ms would be lost to the
  /// granularity of thread wake-ups, more would be a burst.
  package let toleranceNs: Int64
  /// The time up to which the rate is reserved.
  private var bookedNs: Int64

  /// `buffer` is the largest piece that is sent at once, in bytes.
  package init(bytesPerSecond: Int64, buffer: Int = 256 << 10, nowNs: Int64) {
    rate = max(1, bytesPerSecond)
    quantum = Int(min(Int64(max(buffer, 1024)), max(1024, rate / 20)))
    toleranceNs = min(50_000_000, max(5_000_000, Self.cost(ofBytes: buffer, rate: rate)))
    bookedNs = nowNs
  }

  /// Reserves up to `bytes` (at least 1) and returns when they may be sent; `readyNs <= nowNs` means now.
  package mutating func reserve(_ bytes: Int, nowNs: Int64) -> Reservation {
    precondition(bytes > 0, "reserve \(bytes) bytes")
    let granted = min(bytes, quantum)
    let start = max(bookedNs, nowNs - toleranceNs)
    bookedNs = start + Self.cost(ofBytes: granted, rate: rate)
    return Reservation(bytes: granted, readyNs: start)
  }

  /// Returns bytes that were reserved and will not be sent, so that others need not wait for them.
  package mutating func refund(_ bytes: Int) {
    bookedNs -= Self.cost(ofBytes: max(0, bytes), rate: rate)
  }

  /// Nanoseconds that `bytes` take at `rate`; rounded up, so that the rate is never exceeded.
  private static func cost(ofBytes bytes: Int, rate: Int64) -> Int64 {
    let (high, low) = Int64(bytes).multipliedFullWidth(by: 1_000_000_000)
    guard high < rate else { return Int64.max / 4 }
    let (quotient, remainder) = rate.dividingFullWidth((high, low))
    return remainder == 0 ? quotient : quotient + 1
  }
}
