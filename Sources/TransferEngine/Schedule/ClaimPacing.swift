/// When the ledger is asked for more files. A claim that found nothing holds until its time, or until a host has room
/// that had none. A value; times are milliseconds since 1970 of the run's own clock, which no correction moves.
struct ClaimPacing: Sendable {
  /// After a claim that found nothing.
  private static let pauseMs: Int64 = 500

  private(set) var isClaiming = false
  /// Before this another claim makes no sense.
  private(set) var nextMs: Int64 = 0
  /// The hosts that had their share at the last claim, and at the last one that found nothing.
  private var fullAtClaim: Set<String> = []
  private var fullAtEmptyClaim: Set<String> = []

  /// `full` are the hosts that have their share now.
  func isDue(nowMs: Int64, full: Set<String>) -> Bool {
    !isClaiming && (nowMs >= nextMs || !fullAtEmptyClaim.isSubset(of: full))
  }

  mutating func began(full: Set<String>) {
    isClaiming = true
    fullAtClaim = full
  }

  /// The claim came back with so many files.
  mutating func ended(found: Int, nowMs: Int64) {
    isClaiming = false
    guard found == 0 else { return }
    nextMs = nowMs + Self.pauseMs
    fullAtEmptyClaim = fullAtClaim
  }

  /// The claim failed.
  mutating func failed() { isClaiming = false }

  /// Something can be claimed from `ms` on.
  mutating func wake(atMs ms: Int64) { nextMs = min(nextMs, ms) }
}
