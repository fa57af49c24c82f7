import TransferLedger
import TransferModel

/// Looks at a ledger again and again, for commands that wait for what others do to it. To see that nothing has changed
/// costs next to nothing; a look at the rows may take one part in ten of the time.
struct LedgerWatch {
  static let stepMs: Int64 = 200
  /// Deadlines pass without a change.
  private static let longestMs: Int64 = 5_000
  private static let share: Int64 = 10

  let ledger: Ledger
  let clock: any TransferClock
  /// Does nothing for so many milliseconds; tests let the world go on meanwhile.
  let pause: (_ ms: Int64) -> Void
  /// Looks become seldomer up to this, in milliseconds, for what may take hours.
  var slowestMs = Self.stepMs

  /// Calls `step` until it returns something, five times a second at first, and tells it whether the rows are worth a
  /// look; nil when the time is over.
  func until<Value>(
    timeoutMs: Int64? = nil, _ step: (_ isDue: Bool) throws(CommandFailure) -> Value?
  ) throws(CommandFailure) -> Value? {
    let startedMs = clock.bootMs
    var stepMs = Self.stepMs
    var seen: LedgerMark?
    var (notBeforeMs, latestMs) = (startedMs, startedMs)
    while true {
      let mark = try failing { () throws(TransferError) in try ledger.changeMark() }
      let nowMs = clock.bootMs
      let isDue = nowMs >= latestMs || mark != seen && nowMs >= notBeforeMs
      if let value = try step(isDue) { return value }
      if isDue {
        seen = mark
        notBeforeMs = nowMs + (clock.bootMs - nowMs) * Self.share
        latestMs = max(notBeforeMs, nowMs + Self.longestMs)
      }
      let restMs = timeoutMs.map { $0 - (clock.bootMs - startedMs) } ?? stepMs
      guard restMs > 0 else { return nil }
      pause(min(restMs, stepMs))
      stepMs = max(Self.stepMs, min(slowestMs, stepMs + stepMs / 8))
    }
  }
}
