import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SteadyClockTests {
  private final class MovedClock: TransferClock {
    private let now = Lock<(wall: Int64, boot: Int64)>((1_000_000, 50))
    var wallMs: Int64 { now.withLock { $0.wall } }
    var bootMs: Int64 { now.withLock { $0.boot } }
    func pass(ms: Int64, wallMoved: Int64 = 0) { now.withLock { $0 = ($0.wall + ms + wallMoved, $0.boot + ms) } }
  }

  @Test func aMovedWallClockMovesNoTimerOfARun() {
    let system = MovedClock()
    let clock = SteadyClock(system)
    #expect((clock.wallMs, clock.bootMs) == (1_000_000, 50))
    system.pass(ms: 10, wallMoved: 30 * 86_400_000)
    #expect((clock.wallMs, clock.bootMs) == (1_000_010, 60))
    #expect(clock.civilMs == system.wallMs)
    system.pass(ms: 10, wallMoved: -60 * 86_400_000)
    #expect(clock.wallMs == 1_000_020)
    #expect(clock.civilMs == system.wallMs)
  }
}
