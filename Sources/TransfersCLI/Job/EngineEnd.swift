import TransferModel

/// When the engine of a run has ended: the wait for callbacks that follows is not part of the run.
final class EngineEnd: Sendable {
  private let clock: any TransferClock
  private let noted = Lock<Int64?>(nil)

  init(_ clock: any TransferClock) { self.clock = clock }

  func note() { noted.withLock { [clock] in $0 = clock.wallMs } }

  /// By the wall clock; now if no engine was started.
  var wallMs: Int64 { noted.withLock { $0 } ?? clock.wallMs }
}
