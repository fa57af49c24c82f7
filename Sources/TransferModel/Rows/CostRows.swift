/// What requests took of the time of files, and what of it did not count. Requests that ran at a time count each.
public struct AttemptCosts: Sendable, Hashable {
  /// Until a connection could be used: name, TCP, TLS.
  public var connectMs: Int64 = 0
  /// From the end of a request to its answer.
  public var serverMs: Int64 = 0
  /// The part of the time in which bodies went that goes to bytes which do not count.
  public var resentMs: Int64 = 0
  /// Those bytes: transferred and not acknowledged, or of files that were replaced. Of open attempts nothing is known.
  public var bytesUnacked: Int64 = 0

  package init(connectMs: Int64 = 0, serverMs: Int64 = 0, resentMs: Int64 = 0, bytesUnacked: Int64 = 0) {
    (self.connectMs, self.serverMs) = (connectMs, serverMs)
    (self.resentMs, self.bytesUnacked) = (resentMs, bytesUnacked)
  }

  /// Of an attempt whose end nobody saw, only the bytes are known.
  package init(_ attempt: AttemptTrace) {
    guard attempt.outcome != .open else { return }
    let phases = AttemptPhases(attempt, lastMs: attempt.startedMs)
    (connectMs, serverMs) = (phases.ms(.connect), phases.ms(.server))
    bytesUnacked = max(0, attempt.bytesTransferred -| attempt.bytesAcked)
    resentMs = Self.share(bytesUnacked, of: attempt.bytesTransferred, in: phases.ms(.send))
  }

  /// What comes to it when its file was replaced: then also what had been acknowledged does not count.
  package static func replacing(_ attempt: AttemptTrace) -> AttemptCosts {
    guard attempt.outcome != .open else { return AttemptCosts() }
    var unacked = attempt
    unacked.bytesAcked = 0
    let (before, after) = (AttemptCosts(attempt), AttemptCosts(unacked))
    return AttemptCosts(
      resentMs: after.resentMs -| before.resentMs, bytesUnacked: after.bytesUnacked -| before.bytesUnacked)
  }

  package static func += (sum: inout AttemptCosts, more: AttemptCosts) {
    sum.connectMs +|= more.connectMs
    sum.serverMs +|= more.serverMs
    sum.resentMs +|= more.resentMs
    sum.bytesUnacked +|= more.bytesUnacked
  }

  /// Rounded down.
  private static func share(_ part: Int64, of whole: Int64, in ms: Int64) -> Int64 {
    guard whole > 0, part > 0, ms > 0 else { return 0 }
    let product = min(part, whole).multipliedFullWidth(by: ms)
    return whole.dividingFullWidth(product).quotient
  }
}

/// How often attempts were repeated after one error, and how long was waited before.
public struct BackoffSum: Sendable, Hashable {
  public var attempts: Int64 = 0
  public var ms: Int64 = 0

  package init(attempts: Int64 = 0, ms: Int64 = 0) { (self.attempts, self.ms) = (attempts, ms) }

  package static func += (sum: inout BackoffSum, more: BackoffSum) {
    sum.attempts +|= more.attempts
    sum.ms +|= more.ms
  }
}

/// Where backoff came from. The error is empty where none was recorded.
public struct BackoffPlace: Sendable, Hashable {
  public var host: String
  public var code: String

  package init(host: String, code: String) { (self.host, self.code) = (host, code) }
}

/// What cost time, as far as rows say it: sums over attempts by host, and the times that lost wall time is cut out of.
public struct CostSums: Sendable, Hashable {
  public var hosts: [String: AttemptCosts] = [:]
  public var backoff: [BackoffPlace: BackoffSum] = [:]
  /// What the taxonomy advises, by error code.
  public var hints: [String: String] = [:]
  /// Batches, from when they were recorded to the end of their last attempt; to `.max` while files of them are left.
  public var waiting: [TimeSpan] = []
  /// What was decided about files, by number of the event.
  public var decisions: [FileDecision] = []

  package init() {}
}
