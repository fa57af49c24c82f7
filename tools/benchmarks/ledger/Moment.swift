import Glibc
import TransferModel

/// Wall and CPU time since it was created.
struct Moment {
  private let wall = Moment.seconds(CLOCK_MONOTONIC)
  private let cpu = Moment.seconds(CLOCK_PROCESS_CPUTIME_ID)

  func tell(_ name: String, _ count: Int) {
    let (wall, cpu) = (Self.seconds(CLOCK_MONOTONIC) - wall, Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)
    print("\(name) \(count)\nwall_s \(wall)\ncpu_s \(cpu)")
  }

  /// CPU seconds of this thread.
  static func thread() -> Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// The clocks of this machine.
struct Clock: TransferClock {
  var wallMs: Int64 { Self.ms(CLOCK_REALTIME) }
  var bootMs: Int64 { Self.ms(CLOCK_BOOTTIME) }

  private static func ms(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
