import Transfers
import TransferModel

/// Looks at a ledger again and again, for commands that wait for what others do to it.
struct LedgerWatch {
  let ledger: OpenStore
  let clock: any TransferClock
  /// Does nothing for so many milliseconds; tests let the world go on meanwhile.
  let pause: (_ ms: Int64) -> Void
  /// Looks become seldomer up to this, in milliseconds, for what may take hours.
  var slowestMs = WatchPace.stepMs

  /// Calls `step` until it returns something, five times a second at first, and tells it whether the rows are worth a
  /// look; nil when the time is over.
  func until<Value>(
    timeoutMs: Int64? = nil, _ step: (_ isDue: Bool) throws(CommandFailure) -> Value?
  ) throws(CommandFailure) -> Value? {
    var pace = WatchPace(clock, timeoutMs: timeoutMs, slowestMs: slowestMs)
    while true {
      let mark = try failing { () throws(TransferError) in try ledger.changeMark() }
      let isDue = pace.isDue(mark)
      if let value = try step(isDue) { return value }
      if isDue { pace.looked(mark) }
      guard let restMs = pace.rest() else { return nil }
      pause(restMs)
    }
  }
}
