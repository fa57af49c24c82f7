import TransferModel

extension MachineSleep {
  /// Connections survive a shorter sleep, and the transport notices those that did not. A machine that often sleeps for
  /// a second would otherwise begin its bodies again each time.
  var endsConnections: Bool { lengthMs >= 30_000 }
}

/// Detects that the machine slept: the boot clock advanced, but the monotonic clock, which stops during sleep, did not.
struct SleepWatch {
  /// The clocks do not drift against each other, but are not read at the same instant: a smaller difference is not a
  /// sleep.
  private static let shortestMs: Int64 = 1_000

  private var apartMs: Int64

  init(_ clock: some TransferClock) { apartMs = clock.bootMs - clock.awakeMs }

  /// How long it slept since the last check; nil if it did not.
  mutating func look(_ clock: some TransferClock) -> MachineSleep? {
    let now = clock.bootMs - clock.awakeMs
    let slept = now - apartMs
    guard slept >= Self.shortestMs else { return nil }
    apartMs = now
    return MachineSleep(lengthMs: slept)
  }
}
