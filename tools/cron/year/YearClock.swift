import Glibc
import TransferModel

/// The clocks of the year: they run a fixed number of times faster than the machine's, so that a backoff of half a
/// minute takes a moment; ``wait(untilBootMs:)`` skips the rest of the time until the next run, and the wall clock can
/// be set. At most a millisecond of the machine's time counts between two readings, and no wait is longer: a busy
/// machine makes a run slow, but not late.
final class YearClock: TransferClock {
  private struct State {
    var readNs: Int64
    var countedNs: Int64 = 0
    var skippedMs: Int64 = 0
    /// The total that users added to the wall clock, in milliseconds.
    var setMs: Int64 = 0
  }

  private static let newYearMs: Int64 = 1_767_225_600_000
  private let speed: Int64
  private let state = Lock(State(readNs: YearClock.machineNs))

  init(speed: Int64) { self.speed = speed }

  var bootMs: Int64 {
    state.withLock { state in
      let nowNs = Self.machineNs
      state.countedNs += min(nowNs - state.readNs, 1_000_000)
      state.readNs = nowNs
      return 1_000_000 + state.countedNs * speed / 1_000_000 + state.skippedMs
    }
  }
  var wallMs: Int64 { Self.newYearMs + bootMs + state.withLock { $0.setMs } }
  func machineMs(_ ms: Int64) -> Int64 { 1 }

  /// Does nothing if that time has passed.
  func wait(untilBootMs ms: Int64) {
    let left = ms - bootMs
    if left > 0 { state.withLock { $0.skippedMs += left } }
  }

  func setWall(byMs ms: Int64) { state.withLock { $0.setMs += ms } }

  private static var machineNs: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }
}

/// The same sequence for the same seed on every machine.
struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Whether an event with the probability of `per` in a thousand happens.
  mutating func happens(_ per: Int) -> Bool { Int.random(in: 0..<1_000, using: &self) < per }
}
