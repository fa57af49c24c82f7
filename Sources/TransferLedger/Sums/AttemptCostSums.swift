import TransferModel

/// What attempts of one batch cost, one by one or from what was added up before.
struct AttemptCostSums: Equatable {
  var costs = AttemptCosts()
  /// By error code, empty where there is none.
  var backoff: [String: BackoffSum] = [:]
  /// End of the last attempt.
  var lastMs: Int64?

  mutating func add(_ attempt: AttemptTrace) {
    costs += AttemptCosts(attempt)
    if let ended = attempt.endedMs { lastMs = max(lastMs ?? ended, ended) }
    guard attempt.outcome == .retry else { return }
    backoff[attempt.errorCode ?? "", default: BackoffSum()] += BackoffSum(attempts: 1, ms: attempt.backoffMs ?? 0)
  }

  /// JSON: by code the number of attempts and the milliseconds.
  func backoffText() throws -> String { try jsonText(backoff.mapValues { [$0.attempts, $0.ms] }) }
}
