import TransferModel

/// Controls the requests to one host: adaptive concurrency, circuit breaker, retry budget. A value; times are
/// CLOCK_BOOTTIME milliseconds.
///
/// - Concurrency: ``Concurrency``, and for bodies ``ByteWindow`` unless a person chose the number.
/// - Circuit breaker: five consecutive refused connections without an answer open it for a second, doubled up to 5 min
///   while probes fail; then one request is let through. An answer of any kind closes it. Requests that were running
///   when it opened do not count: a burst of refusals is one failure.
/// - Retry budget: a retry costs 5 tokens of 100 (10 if throttled), a success returns one; without tokens retries wait
///   15 s. A retry is free if the host throttled the request while others were running: fewer requests are the remedy.
///   While the breaker is open retries cost nothing, because the breaker limits them. On an unreliable network
///   concurrency limits them: bodies that were lost together cost one token, as long as others arrive between the
///   losses.
struct HostGate: Sendable, Hashable {
  enum Outcome: Sendable, Hashable {
    case success
    /// The server answered that it is throttling.
    case throttled(retryAfterMs: Int64?)
    /// No connection could be made.
    case noConnection
    /// The connection was lost, and nothing that was sent is acknowledged.
    case lost
    /// Any other failure that a retry may cure.
    case failure
    /// We stopped it; says nothing about the host.
    case interrupted
  }

  static let breakerThreshold = 5
  static let firstOpenMs: Int64 = 1_000
  static let longestOpenMs: Int64 = 300_000
  private static let successesToForget = 20
  static let dryBudgetMs: Int64 = 15_000
  private static let mostLossesInARow = 8

  private(set) var concurrency: Concurrency
  /// nil if only the number of requests is limited.
  private(set) var window: ByteWindow?
  private(set) var line = LineRate()
  private var connectFailures = 0
  private var openUntilMs: Int64 = .min
  private var openForMs: Int64 = 0
  private var isProbing = false
  /// The end of the longest pause that the server asked for (`Retry-After`).
  private(set) var pausedUntilMs: Int64 = .min
  private var tokens = 100
  private(set) var sending = 0
  private var losses = 0
  /// The first loss of the newest ones that count as one.
  private var lossMs: Int64 = .min / 2
  /// A body has arrived in this run.
  private var hasReceived = false
  private var successesSinceLoss = 0
  /// Lost connections since the last body arrived.
  private(set) var lossesInARow = 0
  /// A retry has paid for the last loss.
  private var isLossPaid = false
  /// Other requests were running when the last one was throttled.
  private var wasThrottledBesideOthers = false
  /// How often the breaker opened since the last answer.
  private(set) var opensInARow = 0

  init(_ concurrency: Concurrency) {
    self.concurrency = concurrency
    window = concurrency.isExplicit ? nil : ByteWindow()
  }

  var limit: Int { concurrency.limit }
  /// Connections are lost repeatedly: short requests are better.
  var isLossy: Bool { losses >= 2 }
  /// A connection was lost recently, and hardly anything arrived since.
  var hasLost: Bool { losses > 0 }
  /// A lost body is not the fault of its file, because others arrive between the losses.
  var dropsNow: Bool { hasReceived && losses > 0 && lossesInARow < Self.mostLossesInARow }
  /// The limit learned from answers, to be stored for the next run.
  var learnedLimit: Int? { concurrency.isLearned ? limit : nil }
  var isOpen: Bool { openForMs > 0 }

  /// When the next request may be sent, if none may now because of time; nil if time is not the reason.
  func opensAtMs(nowMs: Int64) -> Int64? {
    let at = max(openUntilMs, pausedUntilMs)
    return at > nowMs ? at : nil
  }

  func allowsAnother(nowMs: Int64) -> Bool {
    guard nowMs >= pausedUntilMs else { return false }
    if isOpen { return nowMs >= openUntilMs && !isProbing }
    return sending < limit
  }

  /// Whether another body of `length` bytes may run now.
  mutating func takes(_ length: Int64, nowMs: Int64) -> Bool { window?.takes(length, nowMs: nowMs) ?? true }

  mutating func measureAnew(inFlight: Int64, nowMs: Int64) { line.measureAnew(inFlight: inFlight, nowMs: nowMs) }

  mutating func started(_ request: Scheduler.RequestID, length: Int64 = 0, nowMs: Int64) {
    sending += 1
    window?.started(request, length, nowMs: nowMs)
    line.started(length, nowMs: nowMs)
    concurrency.started(sending: sending, nowMs: nowMs)
    if isOpen { isProbing = true }
  }

  /// `bytes` of a body of `length` were sent; if it is a success, they are stored.
  mutating func ended(
    _ request: Scheduler.RequestID, _ outcome: Outcome, bytes: Int64 = 0, length: Int64 = 0, nowMs: Int64
  ) {
    let before = sending
    if case .throttled = outcome { wasThrottledBesideOthers = before > 1 }
    sending -= 1
    line.ended(length, sent: bytes, nowMs: nowMs)
    window?.ended(request, length, stored: outcome == .success ? bytes : 0, nowMs: nowMs)
    switch outcome {
    case .success:
      answered()
      tokens = min(100, tokens + 1)
      successesSinceLoss += 1
      if bytes > 0 { (lossesInARow, hasReceived) = (0, true) }
      if successesSinceLoss >= Self.successesToForget { losses = 0 }
      concurrency.succeeded(bytes: bytes, nowMs: nowMs)
    case .throttled(let retryAfterMs):
      answered()
      if let retryAfterMs, retryAfterMs > 0 { pausedUntilMs = max(pausedUntilMs, nowMs + retryAfterMs) }
      concurrency.halve(sending: before, nowMs: nowMs)
    case .lost:
      answered()
      lost(nowMs: nowMs)
      concurrency.halve(sending: before, nowMs: nowMs)
      window?.halve(length, nowMs: nowMs)
    case .failure:
      answered()
      concurrency.failed()
      window?.failed()
    case .noConnection:
      concurrency.failed()
      window?.failed()
      connectFailures += 1
      if isOpen ? isProbing : connectFailures >= Self.breakerThreshold { open(nowMs: nowMs) }
      isProbing = false
    case .interrupted:
      isProbing = false
    }
  }

  /// The machine slept: earlier failures say nothing about the connections that are made now. A pause that the server
  /// asked for remains.
  mutating func slept() {
    answered()
    lossesInARow = 0
  }

  /// Pays for a retry; returns how long it must wait in addition to its backoff, in milliseconds.
  mutating func chargeRetry(isThrottled: Bool, isLoss: Bool = false) -> Int64 {
    guard !isOpen, !(isLoss && isLossPaid), !(isThrottled && wasThrottledBesideOthers) else { return 0 }
    if isLoss { isLossPaid = true }
    let cost = isThrottled ? 10 : isLoss && dropsNow ? 1 : 5
    guard tokens >= cost else { return Self.dryBudgetMs }
    tokens -= cost
    return 0
  }

  /// Requests that are lost within a second count as one loss.
  private mutating func lost(nowMs: Int64) {
    successesSinceLoss = 0
    guard nowMs - lossMs >= 1_000 else { return }
    lossMs = nowMs
    losses += 1
    lossesInARow += 1
    isLossPaid = false
  }

  private mutating func answered() {
    connectFailures = 0
    opensInARow = 0
    openForMs = 0
    openUntilMs = .min
    isProbing = false
  }

  private mutating func open(nowMs: Int64) {
    openForMs = min(Self.longestOpenMs, openForMs == 0 ? Self.firstOpenMs : openForMs * 2)
    openUntilMs = nowMs + openForMs
    opensInARow += 1
  }
}
