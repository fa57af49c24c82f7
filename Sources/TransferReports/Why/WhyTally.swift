import TransferModel

/// Sums over attempts: failures by code, and times of requests with bodies. Memory does not grow with the number of
/// attempts.
package struct WhyTally: Sendable {
  /// Failures with one code.
  package struct Failures: Sendable, Hashable {
    package var code: String
    package var count: Int64 = 0
    /// Failures after which the server requested a wait.
    package var asked: Int64 = 0
    package var longestAskedMs: Int64 = 0
    /// The waits that were chosen.
    package var backoffMs: Int64 = 0
    /// The server of the newest failure; nil if none was reached.
    package var remoteIP: String?
  }

  package private(set) var attempts: Int64 = 0
  /// First start and last end, in milliseconds since 1970 UTC.
  package private(set) var span: TimeSpan?
  private var byCode: [String: Failures] = [:]
  /// Body bytes of all attempts; nil if those of a running one are unknown.
  package private(set) var movedBytes: Int64?
  /// Successful requests with a body; their total bytes, the time in which these moved, and the other time.
  package private(set) var bodies: Int64 = 0
  package private(set) var bodyBytes: Int64 = 0
  package private(set) var bodyMs: Int64 = 0
  package private(set) var turnaroundMs: Int64 = 0
  /// Total delay of bodies by rate limits.
  package private(set) var heldMs: Int64 = 0
  /// The shortest time for a TCP connection; nil without a new one of a millisecond or more.
  package private(set) var dialMs: Int64?

  /// The running bodies; nil if their engine reports none.
  package let inFlight: InFlight?

  package init(_ inFlight: InFlight? = nil) {
    self.inFlight = inFlight
    movedBytes = inFlight?.bytes ?? 0
  }

  /// - Parameter lastMs: the end to assume for an attempt with an unknown end.
  package mutating func add(_ attempt: AttemptTrace, lastMs: Int64) {
    attempts += 1
    let phases = AttemptPhases(attempt, lastMs: lastMs)
    span = TimeSpan(
      min(span?.fromMs ?? .max, attempt.startedMs), max(span?.toMs ?? .min, phases.endMs))
    heldMs +|= attempt.heldMs
    let isUncounted = attempt.outcome == .crashed || attempt.outcome == .open && inFlight == nil
    movedBytes = isUncounted ? nil : movedBytes.map { $0 +| attempt.bytesTransferred }
    if let dial = attempt.dialMs { dialMs = min(dialMs ?? dial, dial) }
    if attempt.outcome != .ok, attempt.outcome != .open, let code = attempt.errorCode { count(attempt, code) }
    guard attempt.outcome == .ok, attempt.bytesTransferred > 0, attempt.totalMs != nil else { return }
    bodies += 1
    bodyBytes +|= attempt.bytesTransferred
    for (part, span) in phases.phases {
      if part == .send { bodyMs +|= span.lengthMs }
      if part == .server || part == .connect { turnaroundMs +|= span.lengthMs }
    }
  }

  private mutating func count(_ attempt: AttemptTrace, _ code: String) {
    var known = byCode[code] ?? Failures(code: code)
    known.count += 1
    if let asked = attempt.retryAfterMs, asked > 0 {
      known.asked += 1
      known.longestAskedMs = max(known.longestAskedMs, asked)
    }
    known.backoffMs +|= attempt.backoffMs ?? 0
    known.remoteIP = attempt.remoteIP ?? known.remoteIP
    byCode[code] = known
  }

  /// The failures with the longest total waits first, then the most frequent.
  package var failures: [Failures] {
    byCode.values.sorted { ($1.backoffMs, $1.count, $0.code) < ($0.backoffMs, $0.count, $1.code) }
  }
}
