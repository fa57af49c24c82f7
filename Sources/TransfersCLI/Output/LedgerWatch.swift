import Transfers
import TransferModel

/// Polls a ledger, for commands that wait for changes by other processes.
struct LedgerWatch {
  let ledger: OpenStore
  let clock: any TransferClock
  /// Waits for this many milliseconds; tests perform other work instead.
  let pause: (_ ms: Int64) -> Void
  /// The maximum polling interval, in milliseconds, for long waits.
  var slowestMs = WatchPace.stepMs

  /// Calls `step` until it returns a value, at first five times a second, and tells it whether the rows may have
  /// changed; nil after the timeout.
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
