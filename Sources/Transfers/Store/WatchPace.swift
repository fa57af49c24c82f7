package import TransferModel

/// When somebody who waits for what others do to a store looks at its rows again. To see that nothing has changed costs
/// next to nothing; a look at the rows may take one part in ten of the time. A value, so that threads and Swift tasks
/// can wait by it, each in their own way.
package struct WatchPace: Sendable {
  package static let stepMs: Int64 = 200
  /// Deadlines pass without a change.
  private static let longestMs: Int64 = 5_000
  private static let share: Int64 = 10

  private let clock: any TransferClock
  /// Looks become seldomer up to this, in milliseconds, for what may take hours.
  private let slowestMs: Int64
  private let timeoutMs: Int64?
  private let startedMs: Int64
  private var stepMs = Self.stepMs
  private var seen: StoreMark?
  private var notBeforeMs, latestMs, lookedMs: Int64

  package init(_ clock: any TransferClock, timeoutMs: Int64? = nil, slowestMs: Int64 = Self.stepMs) {
    (self.clock, self.timeoutMs, self.slowestMs) = (clock, timeoutMs, slowestMs)
    startedMs = clock.bootMs
    (notBeforeMs, latestMs, lookedMs) = (startedMs, startedMs, startedMs)
  }

  /// Whether the rows are worth a look, now that the store has this mark.
  package mutating func isDue(_ mark: StoreMark) -> Bool {
    lookedMs = clock.bootMs
    return lookedMs >= latestMs || mark != seen && lookedMs >= notBeforeMs
  }

  /// The rows were looked at; `mark` is from before.
  package mutating func looked(_ mark: StoreMark) {
    seen = mark
    notBeforeMs = lookedMs + (clock.bootMs - lookedMs) * Self.share
    latestMs = max(notBeforeMs, lookedMs + Self.longestMs)
  }

  /// The look did not reach the end: another one is due at once.
  package mutating func goOn() { (seen, latestMs) = (nil, lookedMs) }

  /// How long to do nothing now, in milliseconds; nil when the time is over.
  package mutating func rest() -> Int64? {
    let restMs = timeoutMs.map { $0 - (clock.bootMs - startedMs) } ?? stepMs
    guard restMs > 0 else { return nil }
    defer { stepMs = max(Self.stepMs, min(slowestMs, stepMs + stepMs / 8)) }
    return min(restMs, stepMs)
  }
}
