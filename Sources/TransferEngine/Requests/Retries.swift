import TransferModel

/// Whether and when a failed request is retried. A value: it has a random number generator but no clock.
struct Retries: Sendable {
  /// A body that was cut off on a connection that lets others through.
  struct Drop: Sendable {
    /// Losses of its host since a body arrived.
    var lossesInARow: Int
    /// Bytes moved for a while before the connection was lost: waiting would not make the next connection last longer,
    /// as long as bodies arrive between the losses.
    var wasUnderWay: Bool

    var count: Int { wasUnderWay && lossesInARow <= 1 ? 1 : max(1, lossesInARow) }
  }

  /// Maximum number of generations of one source in one run before it is given up: a log file that is written
  /// continuously must not keep a run alive forever.
  static let sourceChangeLimit = 3
  /// Factor by which the failure limit rises while other bodies arrive.
  static let patienceWithDrops = 3

  private let policy: RetryPolicy
  private var generator = SystemRandomNumberGenerator()
  /// How often the source of a file changed in this run, by its newest generation.
  private var changes: [FileID: Int] = [:]

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// The source of a file changed, and a new generation superseded it.
  mutating func superseded(_ file: FileID, by successor: FileID) {
    changes[successor] = (changes.removeValue(forKey: file) ?? 0) + 1
  }

  /// Decides after `number` consecutive failures of `file`, including this one. The retry budget of its host adds a
  /// wait of `budgetMs`.
  mutating func decide(
    _ failure: Failure, isThrottled: Bool, of file: FileID, number: Int, drop: Drop?, budgetMs: Int64, nowMs: Int64
  ) -> RetryDecision {
    var delay = policy.delayMs(
      afterFailure: min(number, drop?.count ?? number), isThrottled: isThrottled, retryAfterMs: failure.retryAfterMs,
      using: &generator)
    delay += budgetMs
    let changed = changes[file] ?? 0
    if failure.code == .sourceChanged { delay = 1_000 << Int64(min(changed, 6)) }
    let most = drop == nil ? policy.maxAttempts : policy.maxAttempts * Self.patienceWithDrops
    return RetryDecision(
      notBeforeMs: nowMs + delay, isExhausted: number >= most, isRestless: changed >= Self.sourceChangeLimit)
  }
}
