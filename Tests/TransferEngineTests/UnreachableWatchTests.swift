import Testing

@testable import TransferEngine

@Suite struct UnreachableWatchTests {
  /// A claim runs whenever a check is due, once a second: the check follows as soon as that claim has ended.
  @Test func claimsThatKeepItsPaceDoNotHideTheEnd() {
    var watch = UnreachableWatch()
    var looks: [Int64] = []
    for nowMs in stride(from: Int64(0), through: 4_000, by: 100) {
      let isClaiming = nowMs % 1_000 == 0
      if watch.takesLook(nowMs: nowMs, isIdle: !isClaiming) { looks.append(nowMs) }
    }
    #expect(looks == [100, 1_100, 2_100, 3_100])
  }

  @Test func anIdleEngineLooksOnceASecond() {
    var watch = UnreachableWatch()
    let looks = (0..<25).filter { watch.takesLook(nowMs: Int64($0) * 100, isIdle: true) }
    #expect(looks == [0, 10, 20])
  }
}
