import Testing
import TransferModel

@testable import TransferEngine

@Suite struct StopSequenceTests {
  private let refused = TransferError(.auth, "write", cause: "test")
  private let full = TransferError(.storeFull, "write", cause: "test")
  private let broken = TransferError(.storeIO, "write", cause: "test")

  @Test func aDrainLastsAsLongAsItMayAndLooksOnceASecond() {
    var stop = StopSequence(drainMs: 30_000)
    #expect(!stop.isStopping && stop.waitMs(nowMs: 0) == nil && !stop.isOver(nowMs: 1 << 60))
    #expect(stop.ask(.drain, nowMs: 1_000) == true)
    #expect(stop.isStopping && stop.leftMs(nowMs: 11_000) == 20_000)
    let looks = stride(from: 1_000, through: 4_000, by: 500).map { stop.takesLook(nowMs: Int64($0)) }
    #expect(looks == [false, false, true, false, true, false, true])
    #expect(stop.waitMs(nowMs: 4_250) == 750 && stop.waitMs(nowMs: 30_900) == 1)
    #expect(!stop.isOver(nowMs: 30_999) && stop.isOver(nowMs: 31_000))
  }

  /// A loop that waits for `waitMs`, at most a second, does not spin, however long the last request takes.
  @Test(arguments: [StopSignal.Level.drain, .now]) func afterADrainNothingIsDueByTheClock(_ level: StopSignal.Level) {
    var (stop, nowMs, turns) = (StopSequence(drainMs: 3_000), Int64(0), 0)
    #expect(stop.ask(level, nowMs: nowMs) == true)
    while nowMs < 60_000 {
      _ = stop.takesLook(nowMs: nowMs)
      nowMs += max(1, min(1_000, stop.waitMs(nowMs: nowMs) ?? .max))
      turns += 1
    }
    #expect(turns <= 62, "\(turns)")
  }

  /// A request that the drain waits for is not cut because the machine slept meanwhile.
  @Test func timeAsleepDoesNotCountForADrain() {
    var stop = StopSequence(drainMs: 30_000)
    stop.slept(ms: 60_000)
    #expect(!stop.isStopping && stop.waitMs(nowMs: 60_000) == nil)
    #expect(stop.ask(.drain, nowMs: 100_000) == true)
    stop.slept(ms: 60_000)
    #expect(!stop.isOver(nowMs: 189_999) && stop.isOver(nowMs: 190_000))
    #expect(stop.ask(.now, nowMs: 150_000) == true)
    stop.slept(ms: 60_000)
    #expect(stop.isOver(nowMs: 150_000), "an immediate stop has no time left")
  }

  @Test func onlyAStrongerRequestChangesAnything() {
    var stop = StopSequence(drainMs: 30_000)
    #expect(stop.ask(.drain, nowMs: 0) == true)
    #expect(stop.ask(.drain, nowMs: 10_000) == false)
    #expect(stop.leftMs(nowMs: 10_000) == 20_000)
    #expect(stop.ask(.now, nowMs: 12_000) == true)
    #expect(stop.isOver(nowMs: 12_000))
    #expect(stop.ask(.drain, nowMs: 13_000) == false)
    #expect(stop.level == .now)
  }

  @Test func theFirstErrorThatEndsTheRunStands() {
    var stop = StopSequence(drainMs: 30_000)
    #expect(stop.fail(refused) == true)
    #expect(!stop.leavesRows)
    #expect(stop.fail(broken) == false)
    #expect(stop.fatal?.kind == .auth)
    #expect(stop.note(diskTrouble: full) == false)
    #expect(stop.diskTrouble == nil)
    var ended = StopSequence(drainMs: 0)
    #expect(ended.fail(broken) == true)
    #expect(ended.leavesRows)
  }

  @Test func whileTheDiskIsWaitedForAnswersAreWorthMoreThanTheStop() {
    var stop = StopSequence(drainMs: 30_000)
    #expect(stop.note(diskTrouble: full) == true)
    #expect(stop.note(diskTrouble: broken) == false)
    #expect(stop.ask(.drain, nowMs: 0) == true)
    #expect(stop.awaitsUnrepeatable)
    #expect(stop.takesLook(nowMs: 5_000) == false)
    #expect(stop.ask(.now, nowMs: 1) == true)
    #expect(!stop.awaitsUnrepeatable)
  }
}
