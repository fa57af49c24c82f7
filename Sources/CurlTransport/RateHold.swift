internal import TransferModel

/// What the rate limits allow one request to move, and how long they have delayed it. Pure: the caller provides the
/// times.
struct RateHold {
  /// When libcurl, which waits for our limiter, may continue; nil while it does not wait.
  private(set) var untilNs: Int64?
  /// The start of the current wait, and the total of earlier waits.
  private var sinceNs: Int64?
  private var earlierNs: Int64 = 0
  private var isNoted = false
  private var grant: RateLimiter.Grant?
  private let limiter: RateLimiter
  private let group: RateGroup?

  init(_ limiter: RateLimiter, _ group: RateGroup?) { (self.limiter, self.group) = (limiter, group) }

  /// How many of `wanted` bytes may be sent or received now. 0 when the transfer has to wait; the wait then begins.
  mutating func allowance(_ wanted: Int, nowNs: Int64) -> Int {
    if grant == nil || grant?.bytes == 0 { grant = limiter.reserve(wanted, of: group, nowNs: nowNs) }
    guard let grant else { return wanted }
    if grant.readyNs <= nowNs { return min(wanted, grant.bytes) }
    untilNs = grant.readyNs
    sinceNs = sinceNs ?? nowNs
    isNoted = true
    return 0
  }

  /// So many of the allowed bytes were moved.
  mutating func use(_ count: Int) { grant?.bytes -= count }

  /// Ends the current wait.
  mutating func release(nowNs: Int64) {
    earlierNs = totalNs(until: nowNs)
    (untilNs, sinceNs) = (nil, nil)
  }

  /// How long the rate limits have delayed the request, including a current wait.
  func totalNs(until nowNs: Int64) -> Int64 { earlierNs + (sinceNs.map { nowNs - $0 } ?? 0) }

  /// Whether the request has waited at any time since the last call of this.
  mutating func hasWaited() -> Bool {
    defer { isNoted = untilNs != nil }
    return isNoted
  }

  /// Drops a grant of an older rate, so that the next bytes are booked under the new one.
  mutating func dropGrant(unlessOf generation: Int) {
    guard let held = grant, held.generation != generation else { return }
    settle()
  }

  /// Returns the unused grant to the limiter.
  mutating func settle() {
    if let grant { limiter.refund(grant) }
    grant = nil
  }
}
