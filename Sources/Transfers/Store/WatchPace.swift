package import TransferModel

/// Decides when a reader that waits for changes of a store reads its rows again. Detecting that nothing has changed
/// costs next to nothing; reading rows may take up to a tenth of the time. It is a value, so that threads and Swift
/// tasks can use it, each with their own way of waiting.
package struct WatchPace: Sendable {
  package static let stepMs: Int64 = 200
  /// The maximum interval, because deadlines pass without a change of the store.
  private static let longestMs: Int64 = 5_000
  private static let share: Int64 = 10

  private let clock: any TransferClock
  /// The maximum to which the polling interval grows, in milliseconds, for waits that may take hours.
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

  /// Whether the rows should be read, given the current mark of the store.
  package mutating func isDue(_ mark: StoreMark) -> Bool {
    lookedMs = clock.bootMs
    return lookedMs >= latestMs || mark != seen && lookedMs >= notBeforeMs
  }

  /// Notes that the rows were read; `mark` was taken before.
  package mutating func looked(_ mark: StoreMark) {
    seen = mark
    notBeforeMs = lookedMs + (clock.bootMs - lookedMs) * Self.share
    latestMs = max(notBeforeMs, lookedMs + Self.longestMs)
  }

  /// The rows were not read to the end, so the next read is due immediately.
  package mutating func goOn() { (seen, latestMs) = (nil, lookedMs) }

  /// How long to sleep now, in milliseconds; nil when the timeout has expired.
  package mutating func rest() -> Int64? {
    let restMs = timeoutMs.map { $0 - (clock.bootMs - startedMs) } ?? stepMs
    guard restMs > 0 else { return nil }
    defer { stepMs = max(Self.stepMs, min(slowestMs, stepMs + stepMs / 8)) }
    return min(restMs, stepMs)
  }
}
