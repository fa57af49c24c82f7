import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SendingLimitsTests {
  private let batch = BatchID(rawValue: 1)

  private func waiting(_ bytes: Int64) -> HostQueue.Waiting {
    HostQueue.Waiting(request: 1, batch: batch, bytes: bytes)
  }

  @Test func aBodyTakesItsBytesFromTheLimitAndReturnsWhatDidNotMove() {
    var limits = SendingLimits(bytesAtOnce: nil)
    limits.set(endMs: nil, bytes: 100)
    limits.began(waiting(70))
    #expect(limits.bytesLeft == 30)
    #expect(!limits.allow(waiting(31)) { _ in true })
    #expect(limits.allow(waiting(30)) { _ in true })
    limits.ended(batch, bytes: 50, length: 70)
    #expect(limits.bytesLeft == 50)
  }

  @Test func oneBodyOfAnyLengthMayRunAlone() {
    var limits = SendingLimits(bytesAtOnce: 10)
    #expect(limits.fits(waiting(99)))
    limits.began(waiting(4))
    #expect(limits.fits(waiting(6)))
    #expect(!limits.fits(waiting(7)))
    limits.ended(batch, bytes: 4, length: 4)
    #expect(limits.fits(waiting(99)))
  }

  @Test func aBatchKeepsItsOwnLimitAndTheTimesApplyTogether() {
    var limits = SendingLimits(bytesAtOnce: nil)
    limits.setShare(1, of: batch, sending: 0)
    #expect(limits.allow(waiting(1)) { _ in true })
    limits.began(waiting(1))
    #expect(!limits.allow(waiting(1)) { _ in true })
    limits.setShare(nil, of: batch, sending: 1)
    limits.set(endMs: 900, bytes: nil)
    limits.setEnds([batch: 400])
    #expect(limits.allow(waiting(1)) { $0 >= 400 })
    #expect(!limits.allow(waiting(1)) { $0 >= 401 }, "the batch ends earlier than the run")
    limits.setEnds([:])
    #expect(limits.hasAnyEnd && limits.allow(waiting(1)) { $0 >= 401 })
  }
}
