import Glibc
import Testing

@testable import TransfersCLI

/// Counts how often a stop was requested.
@Suite struct SignalWishesTests {
  @Test func theSameSignalAtOnceIsOneWish() {
    var wishes = SignalWishes()
    let heard = [(SIGTERM, 1_000), (SIGTERM, 1_001), (SIGTERM, 1_099), (SIGTERM, 1_100), (SIGTERM, 1_150)].map {
      wishes.add($0.0, nowMs: Int64($0.1))
    }
    #expect(heard == [true, false, false, true, false])
    #expect((wishes.count, wishes.last) == (2, SIGTERM))
  }

  @Test func anotherSignalIsAnotherWish() {
    var wishes = SignalWishes()
    #expect(wishes.add(SIGINT, nowMs: 5) && wishes.add(SIGTERM, nowMs: 5) && wishes.add(SIGINT, nowMs: 6))
    #expect(wishes.count == 3)
  }
}
