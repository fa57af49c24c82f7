import TransferModel

/// How much one destination host may be asked to do now: adaptive concurrency, circuit breaker, retry budget
/// (`reference/protocols.md` section 8.6). A value; times are CLOCK_BOOTTIME milliseconds.
///
/// - Concurrency starts at 8, grows by one after 20 successes in a row, and is halved by a throttling answer, at most
///   once in 5 s.
/// - Five connect failures in a row open the breaker for 15 s, doubled up to 5 min while probes fail; then one request
///   is let through. An answer of any kind closes it.
/// - A retry costs 5 tokens of 100 (10 when throttled), a success returns one; without tokens retries wait 15 s.
struct HostGate: Sendable, Hashable {
  enum Outcome: Sendable, Hashable {
    case success
    /// The server answered and asked for less.
    case throttled(retryAfterMs: Int64?)
    /// No connection came about.
    case noConnection
    /// Any other failure that a retry may cure.
    case failure
    /// We stopped it; says nothing about the host.
    case interrupted
  }

  static let firstLimit = 8
  static let breakerThreshold = 5
  static let firstOpenMs: Int64 = 15_000
  static let longestOpenMs: Int64 = 300_000
  static let dryBudgetMs: Int64 = 15_000

  private(set) var limit: Int
  private let highest: Int
  private var successesInARow = 0
  private var lastHalvedMs: Int64 = .min / 2
  private var connectFailures = 0
  private var openUntilMs: Int64 = .min
  private var openForMs: Int64 = 0
  private var isProbing = false
  private var pausedUntilMs: Int64 = .min
  private var tokens = 100
  private(set) var sending = 0
  /// How often the breaker opened without an answer in between.
  private(set) var opensInARow = 0

  init(highest: Int) {
    self.highest = max(1, highest)
    limit = min(self.highest, Self.firstLimit)
  }

  var isOpen: Bool { openForMs > 0 }

  /// When something may be sent if nothing may now because of time; nil when time is not the reason.
  func opensAtMs(nowMs: Int64) -> Int64? {
    let at = max(openUntilMs, pausedUntilMs)
    return at > nowMs ? at : nil
  }

  func allowsAnother(nowMs: Int64) -> Bool {
    guard nowMs >= pausedUntilMs else { return false }
    if isOpen { return nowMs >= openUntilMs && !isProbing }
    return sending < limit
  }

  mutating func started() {
    sending += 1
    if isOpen { isProbing = true }
  }

  mutating func ended(_ outcome: Outcome, nowMs: Int64) {
    sending -= 1
    switch outcome {
    case .success:
      answered()
      tokens = min(100, tokens + 1)
      grow()
    case .throttled(let retryAfterMs):
      answered()
      successesInARow = 0
      if let retryAfterMs, retryAfterMs > 0 { pausedUntilMs = max(pausedUntilMs, nowMs + retryAfterMs) }
      halve(nowMs: nowMs)
    case .failure:
      answered()
      successesInARow = 0
    case .noConnection:
      successesInARow = 0
      connectFailures += 1
      if isOpen ? isProbing : connectFailures >= Self.breakerThreshold { open(nowMs: nowMs) }
      isProbing = false
    case .interrupted:
      isProbing = false
    }
  }

  /// Pays for a retry; returns how long it must wait in addition to its backoff, in milliseconds.
  mutating func chargeRetry(isThrottled: Bool) -> Int64 {
    let cost = isThrottled ? 10 : 5
    guard tokens >= cost else { return Self.dryBudgetMs }
    tokens -= cost
    return 0
  }

  private mutating func answered() {
    connectFailures = 0
    opensInARow = 0
    openForMs = 0
    openUntilMs = .min
    isProbing = false
  }

  private mutating func grow() {
    successesInARow += 1
    guard successesInARow >= 20 else { return }
    successesInARow = 0
    limit = min(highest, limit + 1)
  }

  private mutating func halve(nowMs: Int64) {
    guard nowMs - lastHalvedMs >= 5_000 else { return }
    lastHalvedMs = nowMs
    limit = max(1, limit / 2)
  }

  private mutating func open(nowMs: Int64) {
    openForMs = min(Self.longestOpenMs, openForMs == 0 ? Self.firstOpenMs : openForMs * 2)
    openUntilMs = nowMs + openForMs
    opensInARow += 1
  }
}
