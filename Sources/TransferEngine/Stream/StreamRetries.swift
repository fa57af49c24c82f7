import TransferModel
import TransferProtocols

/// How often a file that is given away was tried in vain, and whether it is tried again. A value.
struct StreamRetries {
  private let policy: RetryPolicy
  private var dice = SystemRandomNumberGenerator()
  /// Attempts in a row that moved nothing.
  private(set) var failures = 0
  /// Those that were repeated at once.
  private var repairs = 0
  private var changes = 0
  private var wasRefreshed = false
  /// Why the last body broke off.
  private var broken: Failure?

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// Bytes came: what failed before does not count any more.
  mutating func moved() { (failures, repairs, wasRefreshed) = (0, 0, false) }

  mutating func failed(_ failure: Failure) { broken = failure }

  /// The body broke off, and the server has neither ranges of the file nor a validator that they could be asked with.
  var cannotGoOn: Failure {
    let cause = broken?.message ?? "the body broke off"
    return Failure(
      broken?.code ?? .protoBadReply,
      "\(cause); the server cannot send the rest alone (it has no ranges of the file, or no strong ETag)",
      systemError: broken?.systemError)
  }

  /// Another version, of which nothing has been given away.
  mutating func changed(_ failure: Failure) throws(Failure) {
    changes += 1
    guard changes <= Retries.sourceChangeLimit else { throw failure }
  }

  /// The same at once.
  mutating func repair(_ failure: Failure) throws(Failure) {
    repairs += 1
    guard repairs <= FileMachine.repairLimit else { throw failure }
  }

  /// The same with credentials that were read again.
  mutating func refresh(_ failure: Failure, _ credentials: any CredentialSource) throws(Failure) {
    guard !wasRefreshed, !credentials.label.isEmpty else { throw failure }
    wasRefreshed = true
    credentials.refresh()
  }

  /// The same after a while, which has passed when this returns. Blocking.
  mutating func wait(_ failure: Failure, _ isThrottled: Bool) throws(Failure) {
    failures += 1
    guard failures < policy.maxAttempts else { throw failure }
    let delay = policy.delayMs(
      afterFailure: failures, isThrottled: isThrottled, retryAfterMs: failure.retryAfterMs, using: &dice)
    _ = Mailbox<Bool>().take(timeoutMs: delay)
  }
}
