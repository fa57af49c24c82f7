/// When to claim more files. After an empty claim the next one waits for a while, or until a host that was full has
/// capacity. A value; times are milliseconds since 1970 by the run's own clock, which is never adjusted.
struct ClaimPacing: Sendable {
  /// Pause after an empty claim, in milliseconds.
  private static let pauseMs: Int64 = 500

  private(set) var isClaiming = false
  /// The earliest useful time of the next claim.
  private(set) var nextMs: Int64 = 0
  /// The hosts without capacity at the last claim, and at the last empty one.
  private var fullAtClaim: Set<String> = []
  private var fullAtEmptyClaim: Set<String> = []

  /// `full` are the hosts that have used their share.
  func isDue(nowMs: Int64, full: Set<String>) -> Bool {
    !isClaiming && (nowMs >= nextMs || !fullAtEmptyClaim.isSubset(of: full))
  }

  mutating func began(full: Set<String>) {
    isClaiming = true
    fullAtClaim = full
  }

  /// The claim returned this many files.
  mutating func ended(found: Int, nowMs: Int64) {
    isClaiming = false
    guard found == 0 else { return }
    nextMs = nowMs + Self.pauseMs
    fullAtEmptyClaim = fullAtClaim
  }

  /// The claim failed.
  mutating func failed() { isClaiming = false }

  /// Files may be ready to be claimed from `ms` on.
  mutating func wake(atMs ms: Int64) { nextMs = min(nextMs, ms) }
}
