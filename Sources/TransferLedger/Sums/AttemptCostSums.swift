import TransferModel

/// The costs of the attempts of one batch, added attempt by attempt or from stored sums.
struct AttemptCostSums: Equatable {
  var costs = AttemptCosts()
  /// By error code, which is empty if there is none.
  var backoff: [String: BackoffSum] = [:]
  /// End of the last attempt, except those after the end of their file.
  var lastMs: Int64?

  mutating func add(_ attempt: AttemptTrace, isAfterItsEnd: Bool) {
    costs += AttemptCosts(attempt)
    if let ended = attempt.endedMs, !isAfterItsEnd { lastMs = max(lastMs ?? ended, ended) }
    guard attempt.outcome == .retry else { return }
    backoff[attempt.errorCode ?? "", default: BackoffSum()] += BackoffSum(attempts: 1, ms: attempt.backoffMs ?? 0)
  }

  /// JSON: the number of attempts and the milliseconds for each code.
  func backoffText() throws -> String { try jsonText(backoff.mapValues { [$0.attempts, $0.ms] }) }
}
