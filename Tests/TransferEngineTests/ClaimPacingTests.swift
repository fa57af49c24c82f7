import Testing

@testable import TransferEngine

@Suite struct ClaimPacingTests {
  @Test func oneClaimAtATime() {
    var claims = ClaimPacing()
    #expect(claims.isDue(nowMs: 0, full: []))
    claims.began(full: [])
    #expect(!claims.isDue(nowMs: 1 << 40, full: []))
    claims.ended(found: 3, nowMs: 10)
    #expect(claims.isDue(nowMs: 10, full: []))
    claims.began(full: [])
    claims.failed()
    #expect(claims.isDue(nowMs: 10, full: []))
  }

  @Test func aClaimThatFoundNothingHoldsUntilItsTime() {
    var claims = ClaimPacing()
    claims.began(full: [])
    claims.ended(found: 0, nowMs: 1_000)
    #expect(!claims.isDue(nowMs: 1_499, full: []) && claims.isDue(nowMs: 1_500, full: []))
    claims.wake(atMs: 1_200)
    claims.wake(atMs: 9_000)
    #expect(claims.nextMs == 1_200)
  }

  @Test func itHoldsNoLongerWhenAHostHasRoomThatHadNone() {
    var claims = ClaimPacing()
    claims.began(full: ["a", "b"])
    claims.ended(found: 0, nowMs: 0)
    #expect(!claims.isDue(nowMs: 1, full: ["a", "b", "c"]))
    #expect(claims.isDue(nowMs: 1, full: ["a"]))
  }
}
