import TransferModel

/// The current rate of all bodies together, from the timetable of the run. Used by the engine's thread.
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

  init(_ engine: Engine) {
    self.engine = engine
    bytesPerSecond = engine.configuration.rate.bytesPerSecond(civilMs: engine.civilMs)
    nextLookMs = engine.bootMs + Self.lookMs
  }

  /// Total length of concurrent bodies, in bytes; nil for no limit.
  var bytesAtOnce: Int64? { bytesPerSecond.map { $0 *| Self.secondsAtOnce } }

  /// Checks the clock if a check is due. True if the rate has changed.
  func hasChanged() -> Bool {
    guard !engine.configuration.rate.isConstant, engine.bootMs >= nextLookMs else { return false }
    nextLookMs = engine.bootMs + Self.lookMs
    let now = engine.configuration.rate.bytesPerSecond(civilMs: engine.civilMs)
    guard now != bytesPerSecond else { return false }
    bytesPerSecond = now
    return true
  }
}
