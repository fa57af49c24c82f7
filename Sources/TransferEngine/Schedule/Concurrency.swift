/// The number of concurrent requests to a host. A value; times are CLOCK_BOOTTIME milliseconds.
///
/// - Slow start: the limit doubles with each round of successes, until throttling or a lost connection, or until a
///   round is hardly faster than the one before. Then it returns to the lower limit, and tries again after a minute.
/// - Afterwards it grows by one after 20 consecutive successes (additive increase).
/// - Throttling, or a connection that was lost without an acknowledgement, halves it, at most once in 5 s
///   (multiplicative decrease).
///
/// A round in which the limit was never reached is ignored.
struct Concurrency: Sendable, Hashable {
  /// Initial limit of an unknown host.
  static let usualFirst = 8
  private static let successesForOneMore = 20
  private static let leastGain = 1.15
  private static let leastRoundMs: Int64 = 20
  private static let lookAgainMs: Int64 = 60_000
  private static let halveEveryMs: Int64 = 5_000

  private(set) var limit: Int
  /// The limit was changed by experience.
  private(set) var isLearned = false
  private let highest: Int
  /// A person set the number: it applies to bodies of any length.
  let isExplicit: Bool
  /// Slow start is over; more than this did not help.
  private var plateau: Plateau?
  private var isStarting: Bool
  private var round = Round()
  /// The round before the limit was doubled.
  private var last: Step?
  private var successesInARow = 0
  private var lastHalvedMs: Int64 = .min / 2

  private struct Plateau: Hashable {
    var limit: Int
    /// When a higher limit is tried again.
    var untilMs: Int64
  }

  private struct Step: Hashable {
    var limit: Int
    var rates: Rates
  }

  private struct Round: Hashable {
    var beganMs: Int64?
    var successes = 0
    var bytes: Int64 = 0
    var wasFull = false
  }

  private struct Rates: Hashable {
    var requests: Double
    var bytes: Double
    func isGain(over other: Rates) -> Bool {
      requests >= other.requests * Concurrency.leastGain
        || (other.bytes > 0 && bytes >= other.bytes * Concurrency.leastGain)
    }
  }

  /// Begins at `first` and may reach `highest`. If `explicit`, a person set the number: no slow start.
  init(first: Int, highest: Int, isExplicit: Bool) {
    self.highest = max(1, highest)
    self.isExplicit = isExplicit
    limit = min(self.highest, max(1, first))
    isStarting = !isExplicit
  }

  mutating func started(sending: Int, nowMs: Int64) {
    if round.beganMs == nil { round.beganMs = nowMs }
    if sending >= limit { round.wasFull = true }
  }

  mutating func succeeded(bytes: Int64, nowMs: Int64) {
    successesInARow += 1
    if let plateau, nowMs >= plateau.untilMs {
      self.plateau = nil
      (isStarting, last, round) = (true, nil, Round(beganMs: nowMs))
    }
    isStarting ? start(bytes, nowMs) : add()
  }

  mutating func failed() { successesInARow = 0 }

  /// Halves the number of running requests, including this one.
  mutating func halve(sending: Int, nowMs: Int64) {
    successesInARow = 0
    guard nowMs - lastHalvedMs >= Self.halveEveryMs else { return }
    lastHalvedMs = nowMs
    (isStarting, plateau, isLearned) = (false, nil, true)
    limit = max(1, min(limit, sending) / 2)
  }

  private mutating func add() {
    guard successesInARow >= Self.successesForOneMore else { return }
    successesInARow = 0
    guard round.wasFull else { return }
    round.wasFull = false
    limit = min(plateau?.limit ?? highest, limit + 1)
  }

  private mutating func start(_ bytes: Int64, _ nowMs: Int64) {
    round.successes += 1
    round.bytes += bytes
    let elapsed = nowMs - (round.beganMs ?? nowMs)
    guard round.successes >= limit, elapsed >= Self.leastRoundMs else { return }
    let rates = Rates(
      requests: Double(round.successes) / Double(elapsed), bytes: Double(round.bytes) / Double(elapsed))
    let wasFull = round.wasFull
    round = Round(beganMs: nowMs)
    guard wasFull else { return }
    isLearned = true
    if let last, !rates.isGain(over: last.rates) {
      settle(at: last.limit, nowMs)
    } else if limit == highest {
      settle(at: limit, nowMs)
    } else {
      last = Step(limit: limit, rates: rates)
      limit = min(highest, limit * 2)
    }
  }

  private mutating func settle(at limit: Int, _ nowMs: Int64) {
    self.limit = limit
    isStarting = false
    plateau = Plateau(limit: limit, untilMs: nowMs + Self.lookAgainMs)
  }
}
