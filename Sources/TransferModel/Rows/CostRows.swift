/// The time spent by requests, and the part of it that was wasted. Concurrent requests each count.
package struct AttemptCosts: Sendable, Hashable {
  /// Until a connection could be used: name, TCP, TLS.
  package var connectMs: Int64 = 0
  /// From the end of a request to its answer.
  package var serverMs: Int64 = 0
  /// The share of the sending time for bytes that do not count.
  package var resentMs: Int64 = 0
  /// Bytes that do not count: transferred and not acknowledged, or of superseded files. For open attempts nothing is
  /// known.
  package var bytesUnacked: Int64 = 0

  package init(connectMs: Int64 = 0, serverMs: Int64 = 0, resentMs: Int64 = 0, bytesUnacked: Int64 = 0) {
    (self.connectMs, self.serverMs) = (connectMs, serverMs)
    (self.resentMs, self.bytesUnacked) = (resentMs, bytesUnacked)
  }

  /// For an attempt with an unknown end, only the bytes are known.
  package init(_ attempt: AttemptTrace) {
    guard attempt.outcome != .open else { return }
    let phases = AttemptPhases(attempt, lastMs: attempt.startedMs)
    (connectMs, serverMs) = (phases.ms(.connect), phases.ms(.server))
    bytesUnacked = max(0, attempt.bytesTransferred -| attempt.bytesAcked)
    resentMs = Self.share(bytesUnacked, of: attempt.bytesTransferred, in: phases.ms(.send))
  }

  /// The additional cost if its file was superseded: then acknowledged bytes do not count either.
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

/// The number of repeated attempts after one error, and the total wait before them.
package struct BackoffSum: Sendable, Hashable {
  package var attempts: Int64 = 0
  package var ms: Int64 = 0

  package init(attempts: Int64 = 0, ms: Int64 = 0) { (self.attempts, self.ms) = (attempts, ms) }

  package static func += (sum: inout BackoffSum, more: BackoffSum) {
    sum.attempts +|= more.attempts
    sum.ms +|= more.ms
  }
}

/// The origin of a backoff. The error is empty if none was recorded.
package struct BackoffPlace: Sendable, Hashable {
  package var host: String
  package var code: String

  package init(host: String, code: String) { (self.host, self.code) = (host, code) }
}

/// Costs in time according to the rows: sums over attempts by host, and the spans from which lost wall time is
/// computed.
package struct CostSums: Sendable, Hashable {
  package var hosts: [String: AttemptCosts] = [:]
  package var backoff: [BackoffPlace: BackoffSum] = [:]
  /// The advice of the error table, by error code.
  package var hints: [String: String] = [:]
  /// Batches, from when they were recorded to the end of their last attempt; to `.max` while files of them are left.
  package var waiting: [TimeSpan] = []
  /// Decisions about files, by event number.
  package var decisions: [FileDecision] = []

  package init() {}
}
