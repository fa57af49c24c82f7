public import TransferModel

/// Sums over attempts: failures by code, and times of requests with bodies. Memory does not grow with the number of
/// attempts.
public struct WhyTally: Sendable {
  /// Failures with one code.
  public struct Failures: Sendable, Hashable {
    public var code: String
    public var count: Int64 = 0
    /// Failures after which the server requested a wait.
    public var asked: Int64 = 0
    public var longestAskedMs: Int64 = 0
    /// The waits that were chosen.
    public var backoffMs: Int64 = 0
    /// The server of the newest failure; nil if none was reached.
    public var remoteIP: String?
  }

  public private(set) var attempts: Int64 = 0
  /// First start and last end, in milliseconds since 1970 UTC.
  public private(set) var span: TimeSpan?
  private var byCode: [String: Failures] = [:]
  /// Body bytes of all attempts; nil if those of a running one are unknown.
  public private(set) var movedBytes: Int64? = 0
  /// Successful requests with a body; their total bytes, the time in which these moved, and the other time.
  public private(set) var bodies: Int64 = 0
  public private(set) var bodyBytes: Int64 = 0
  public private(set) var bodyMs: Int64 = 0
  public private(set) var turnaroundMs: Int64 = 0
  /// Total delay of bodies by rate limits.
  public private(set) var heldMs: Int64 = 0
  /// The shortest time for a TCP connection; nil without a new one of a millisecond or more.
  public private(set) var dialMs: Int64?

  public init() {}

  /// - Parameter lastMs: the end to assume for an attempt with an unknown end.
  public mutating func add(_ attempt: AttemptTrace, lastMs: Int64) {
    attempts += 1
    let phases = AttemptPhases(attempt, lastMs: lastMs)
    span = TimeSpan(
      min(span?.fromMs ?? .max, attempt.startedMs), max(span?.toMs ?? .min, phases.endMs))
    heldMs +|= attempt.heldMs
    let isUncounted = attempt.outcome == .open || attempt.outcome == .crashed
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
  public var failures: [Failures] {
    byCode.values.sorted { ($1.backoffMs, $1.count, $0.code) < ($0.backoffMs, $0.count, $1.code) }
  }
}
