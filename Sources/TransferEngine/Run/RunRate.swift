import TransferModel

/// The current rate limit of all bodies together: from the timetable of the run, or the part of this engine in a shared
/// rate. Used by the engine's thread.
final class RunRate {
  /// Interval between checks of the clock, in milliseconds.
  private static let lookMs: Int64 = 1_000
  /// Bodies of this many seconds at the current rate may run concurrently, so that little is wasted when they are
  /// interrupted.
  private static let secondsAtOnce: Int64 = 10

  private let engine: Engine
  /// nil for no limit.
  private(set) var bytesPerSecond: Int64?
  private var nextLookMs: Int64
  private let shared: SharedRate?
  private var wasSending = false
  /// The rate of the group, as last reported to the observer.
  private var told: Int64?

  init(_ engine: Engine) {
    self.engine = engine
    shared = engine.configuration.sharedRate
    nextLookMs = engine.bootMs
    _ = look(isSending: false)
  }

  /// Total length of concurrent bodies, in bytes; nil for no limit.
  var bytesAtOnce: Int64? { bytesPerSecond.map { $0 *| Self.secondsAtOnce } }

  /// Time until the next check, in milliseconds; nil if the rate is not shared.
  func waitMs(nowMs: Int64) -> Int64? { shared.map { _ in nextLookMs - nowMs } }

  /// Checks the clock, and the other members of a shared rate, if a check is due. True if the rate has changed.
  /// - Parameter isSending: whether there is something to send or fetch.
  func hasChanged(isSending: Bool) -> Bool {
    guard shared != nil || !engine.configuration.rate.isConstant else { return false }
    let begins = shared != nil && isSending && !wasSending
    return begins || engine.bootMs >= nextLookMs ? look(isSending: isSending) : false
  }

  private func look(isSending: Bool) -> Bool {
    nextLookMs = engine.bootMs + (shared == nil ? Self.lookMs : SharedRate.lookMs)
    wasSending = isSending
    let named = engine.configuration.rate.bytesPerSecond(civilMs: engine.civilMs)
    let now = shared.map { part(of: $0, named: named, isSending: isSending) } ?? named
    defer { bytesPerSecond = now }
    return now != bytesPerSecond
  }

  private func part(of shared: SharedRate, named: Int64?, isSending: Bool) -> Int64? {
    let part = shared.look(named: named, isSending: isSending, nowMs: engine.bootMs)
    if let group = part.group, group != named, group != told {
      engine.observer.notice(
        .remark(
          "rate group \"\(shared.name)\": \(group) bytes/s for all its engines together, the lowest rate named"
        ))
    }
    told = part.group
    // The rate is never 0.
    return part.own.map { max(1, $0) }
  }
}
