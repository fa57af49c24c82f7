import TransferModel
import TransferProtocols

/// Counts failed attempts of a streamed file, and decides whether it is retried. A value.
struct StreamRetries {
  private let policy: RetryPolicy
  private var generator = SystemRandomNumberGenerator()
  /// Consecutive attempts without progress.
  private(set) var failures = 0
  /// Attempts that were repeated at once.
  private var repairs = 0
  private var changes = 0
  private var wasRefreshed = false
  /// Why the last body was interrupted.
  private var broken: Failure?

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// Bytes of the `asked` ones arrived. If they are enough, earlier failures no longer count; if they are hardly any,
  /// this is a failure too, and the next request waits.
  mutating func count(_ gained: Int64, of asked: Int64, _ facts: TransferFacts) throws(Failure) {
    guard gained > 0 else { return }
    (repairs, wasRefreshed) = (0, false)
    if facts.isAllStored || BodyProgress.forgives(gained, ofFile: facts.layout.size) {
      failures = 0
    } else if BodyProgress.isTiny(gained, of: asked) {
      try wait(Failure(.protoBadReply, "the server sent only \(gained) of \(asked) bytes"), false)
    }
  }

  mutating func failed(_ failure: Failure) { broken = failure }

  /// The body was interrupted and cannot be continued, because the server offers no ranges, or no validator for them.
  var cannotGoOn: Failure {
    let cause = broken?.message ?? "the body was interrupted"
    return Failure(
      broken?.code ?? .protoBadReply,
      "\(cause); the server cannot send only the rest (it offers no ranges of the file, or no strong ETag)",
      systemError: broken?.systemError)
  }

  /// Handles another version, if nothing has been written yet.
  mutating func changed(_ failure: Failure) throws(Failure) {
    changes += 1
    guard changes <= Retries.sourceChangeLimit else { throw failure }
  }

  /// Repeats the request at once.
  mutating func repair(_ failure: Failure) throws(Failure) {
    repairs += 1
    guard repairs <= FileFailures.repairLimit else { throw failure }
  }

  /// Repeats the request with reloaded credentials.
  mutating func refresh(_ failure: Failure, _ credentials: any CredentialSource) throws(Failure) {
    guard !wasRefreshed, !credentials.label.isEmpty else { throw failure }
    wasRefreshed = true
    credentials.refresh()
  }

  /// Returns after the backoff, to repeat the request. Blocking.
  mutating func wait(_ failure: Failure, _ isThrottled: Bool) throws(Failure) {
    failures += 1
    guard failures < policy.maxAttempts else { throw failure }
    let delay = policy.delayMs(
      afterFailure: failures, isThrottled: isThrottled, retryAfterMs: failure.retryAfterMs, using: &generator)
    _ = Mailbox<Bool>().take(timeoutMs: delay)
  }
}
