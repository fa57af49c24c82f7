import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SleepWatchTests {
  private struct Clocks: TransferClock {
    var wallMs: Int64 { bootMs }
    var bootMs: Int64
    var awakeMs: Int64
  }

  @Test func aSleepIsToldOnce() {
    var watch = SleepWatch(Clocks(bootMs: 9_000, awakeMs: 4_000))
    #expect(watch.look(Clocks(bootMs: 14_000, awakeMs: 9_000)) == nil)
    #expect(watch.look(Clocks(bootMs: 79_000, awakeMs: 14_000)) == MachineSleep(lengthMs: 60_000))
    #expect(watch.look(Clocks(bootMs: 84_000, awakeMs: 19_000)) == nil)
  }

  /// Half a second and another half second add up to a second.
  @Test func whatIsShorterThanASecondAddsUp() {
    var watch = SleepWatch(Clocks(bootMs: 1_000, awakeMs: 1_000))
    #expect(watch.look(Clocks(bootMs: 2_000, awakeMs: 1_500)) == nil)
    #expect(watch.look(Clocks(bootMs: 3_000, awakeMs: 2_000)) == MachineSleep(lengthMs: 1_000))
  }

  /// The clock of a run passes on the value of the machine's clock.
  @Test func theClockOfARunKnowsIt() {
    #expect(SteadyClock(Clocks(bootMs: 9_000, awakeMs: 4_000)).awakeMs == 4_000)
    let clock = SystemClock()
    #expect(clock.awakeMs > 0 && clock.awakeMs <= clock.bootMs && clock.processorMs ?? 0 > 0)
  }

  @Test func itsEventCanBeReadAgain() {
    let sleep = MachineSleep(lengthMs: 21_720_000)
    #expect(MachineSleep(detail: sleep.detail) == sleep)
    for other in ["", "the machine slept for x ms", "the machine slept for -5 ms", "put:there"] {
      #expect(MachineSleep(detail: other) == nil)
    }
  }
}
