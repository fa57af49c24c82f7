import Testing
import TransferModel

@testable import TransferEngine

@Suite struct HostSharesTests {
  /// All shares together are less than twice the total, and there is always room for another host.
  @Test func sharesLeaveRoomForOneMore() {
    #expect(HostShares.share(of: 256, among: 0) == 256)
    #expect(HostShares.share(of: 256, among: 1) == 256)
    for count in 2...40 {
      let share = HostShares.share(of: 256, among: count)
      #expect(share >= 8 && count * share < 2 * 256 + count * 8)
    }
  }

  @Test func aHostIsAwaitedWhileAWholeRoundSawIt() {
    var shares = HostShares()
    shares.looked(["a"], through: BatchID(rawValue: 64), nowMs: 0)
    #expect(shares.awaited == ["a"])
    #expect(shares.lookedThrough == BatchID(rawValue: 64))
    shares.looked(["b"], through: nil, nowMs: 20)
    #expect(shares.awaited == ["a", "b"])
    #expect(shares.lookedThrough == BatchID(rawValue: 0))
    #expect(shares.nextLookMs == 270)
    shares.looked(["b"], through: nil, nowMs: 270)
    #expect(shares.awaited == ["b"])
  }
}
