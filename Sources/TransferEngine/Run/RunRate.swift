import TransferModel

/// The rate of all bodies together, as the timetable of the run has it now. Used by the engine's thread.
final class RunRate {
  /// Between two looks at the clock, in milliseconds.
  private static let lookMs: Int64 = 1_000
  /// A rate lets so many seconds of bodies run side by side: what is cut off was not sent in vain then.
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

  /// Bytes of bodies that may run at a time; nil for no limit.
  var bytesAtOnce: Int64? { bytesPerSecond.map { $0 *| Self.secondsAtOnce } }

  /// Looks at the clock when it is time. True when it is another rate now.
  func hasChanged() -> Bool {
    guard !engine.configuration.rate.isConstant, engine.bootMs >= nextLookMs else { return false }
    nextLookMs = engine.bootMs + Self.lookMs
    let now = engine.configuration.rate.bytesPerSecond(civilMs: engine.civilMs)
    guard now != bytesPerSecond else { return false }
    bytesPerSecond = now
    return true
  }
}
