/// Limits the total length of concurrent bodies to a host. A value; times are CLOCK_BOOTTIME milliseconds.
///
/// Parallel bodies share the bandwidth, and each takes longer: on an unreliable network many of them may never complete
/// where a single one would. So the window begins small and doubles with each round that is noticeably faster than the
/// one before. If a round is not, the window stays and a larger one is tried again after a minute. A lost connection
/// halves the window, at most once in 5 s; 20 consecutive bodies that arrive allow one more. A single body of any
/// length is always allowed. A body that takes longer than ``countsForMs`` no longer counts: it may have its own rate
/// limit, or a server that does not read it.
struct ByteWindow: Sendable, Hashable {
  static let first: Int64 = 16 << 20
  private static let most: Int64 = 1 << 40
  private static let leastGain = 1.15
  private static let leastRoundMs: Int64 = 20
  private static let lookAgainMs: Int64 = 60_000
  private static let halveEveryMs: Int64 = 5_000
  private static let successesForOneMore = 20
  static let countsForMs: Int64 = 5_000

  private(set) var limit = first
  /// Total length of the bodies that count.
  private var sending: Int64 = 0
  private var running: [Body] = []
  /// A body waits only because of this window.
  private(set) var isFull = false
  private var isStarting = true
  private var round = Round()
  /// Bytes per millisecond before the limit was doubled.
  private var lastRate: Double?
  private var lookAgainMs: Int64?
  private var successesInARow = 0
  private var lastHalvedMs: Int64 = .min / 2

  /// A running body; ordered by start.
  private struct Body: Hashable {
    var request: Scheduler.RequestID
    var length: Int64
    var beganMs: Int64
  }

  private struct Round: Hashable {
    var beganMs: Int64?
    var bytes: Int64 = 0
    var wasFull = false
  }

  /// Whether another body of `length` bytes may run now.
  mutating func takes(_ length: Int64, nowMs: Int64) -> Bool {
    while let first = running.first, nowMs - first.beganMs >= Self.countsForMs {
      running.removeFirst()
      sending -= first.length
    }
    let fits = length == 0 || sending == 0 || length <= limit - sending
    if !fits { (isFull, round.wasFull) = (true, true) }
    return fits
  }

  mutating func started(_ request: Scheduler.RequestID, _ length: Int64, nowMs: Int64) {
    guard length > 0 else { return }
    sending += length
    running.append(Body(request: request, length: length, beganMs: nowMs))
    if round.beganMs == nil { round.beganMs = nowMs }
  }

  /// The body of a request, of `length` bytes, has ended with any result; `stored` bytes of it are stored.
  mutating func ended(_ request: Scheduler.RequestID, _ length: Int64, stored: Int64, nowMs: Int64) {
    if let index = running.firstIndex(where: { $0.request == request }) {
      running.remove(at: index)
      sending -= length
    }
    isFull = false
    guard stored > 0 else { return }
    if let again = lookAgainMs, nowMs >= again {
      (isStarting, lastRate, lookAgainMs, round) = (true, nil, nil, Round(beganMs: nowMs))
    }
    isStarting ? start(stored, nowMs) : add(length)
  }

  /// Running bodies were lost, together with a body of `length` bytes that has ended already.
  mutating func halve(_ length: Int64, nowMs: Int64) {
    successesInARow = 0
    guard length > 0, nowMs - lastHalvedMs >= Self.halveEveryMs else { return }
    lastHalvedMs = nowMs
    (isStarting, lookAgainMs) = (false, nil)
    limit = max(1, min(limit, sending + length) / 2)
  }

  mutating func failed() { successesInARow = 0 }

  private mutating func start(_ stored: Int64, _ nowMs: Int64) {
    round.bytes += stored
    let elapsed = nowMs - (round.beganMs ?? nowMs)
    guard round.bytes >= limit, elapsed >= Self.leastRoundMs else { return }
    let (rate, wasFull) = (Double(round.bytes) / Double(elapsed), round.wasFull)
    round = Round(beganMs: nowMs)
    guard wasFull else { return }
    if let lastRate, rate < lastRate * Self.leastGain {
      (isStarting, lookAgainMs) = (false, nowMs + Self.lookAgainMs)
    } else {
      lastRate = rate
      limit = min(Self.most, limit * 2)
    }
  }

  private mutating func add(_ length: Int64) {
    successesInARow += 1
    guard successesInARow >= Self.successesForOneMore, round.wasFull else { return }
    (successesInARow, round.wasFull) = (0, false)
    limit = min(Self.most, limit + length)
  }
}
