import TransferModel

/// When a failed request is tried again, and whether at all. A value: it has dice, and no clock.
struct Retries: Sendable {
  /// A body that was lost on a line that lets others through.
  struct Drop: Sendable {
    /// Losses of its host since a body arrived.
    var lossesInARow: Int
    /// Bytes moved for a while before the connection was lost: to wait would not make the next one live longer.
    var wasUnderWay: Bool
  }

  /// Generations of one source in one run before it is given up: a log that is written all the time must not keep a run
  /// alive for ever.
  static let sourceChangeLimit = 3
  /// So many times as often may a body be lost while others arrive.
  static let patienceWithDrops = 3

  private let policy: RetryPolicy
  private var dice = SystemRandomNumberGenerator()
  /// How often the source of a file changed in this run, by its newest generation.
  private var changes: [FileID: Int] = [:]

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// The source of a file changed, and another generation took its place.
  mutating func superseded(_ file: FileID, by successor: FileID) {
    changes[successor] = (changes.removeValue(forKey: file) ?? 0) + 1
  }

  /// `number` failures of `file` in a row, this one included. The budget of its host makes it wait for `budgetMs` more.
  mutating func decide(
    _ failure: Failure, isThrottled: Bool, of file: FileID, number: Int, drop: Drop?, budgetMs: Int64, nowMs: Int64
  ) -> RetryDecision {
    let inARow = drop.map { $0.wasUnderWay ? 1 : max(1, $0.lossesInARow) } ?? number
    var delay = policy.delayMs(
      afterFailure: min(number, inARow), isThrottled: isThrottled, retryAfterMs: failure.retryAfterMs, using: &dice)
    delay += budgetMs
    let changed = changes[file] ?? 0
    if failure.code == .sourceChanged { delay = 1_000 << Int64(min(changed, 6)) }
    let most = drop == nil ? policy.maxAttempts : policy.maxAttempts * Self.patienceWithDrops
    return RetryDecision(
      notBeforeMs: nowMs + delay, isExhausted: number >= most, isRestless: changed >= Self.sourceChangeLimit)
  }
}
