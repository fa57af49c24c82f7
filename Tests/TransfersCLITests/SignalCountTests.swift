import Glibc
import Testing

@testable import TransfersCLI

/// Counts how often a stop was requested.
@Suite struct SignalCountTests {
  @Test func theSameSignalAtOnceCountsOnce() {
    var received = SignalCount()
    let heard = [(SIGTERM, 1_000), (SIGTERM, 1_001), (SIGTERM, 1_099), (SIGTERM, 1_100), (SIGTERM, 1_150)].map {
      received.add($0.0, nowMs: Int64($0.1))
    }
    #expect(heard == [true, false, false, true, false])
    #expect((received.count, received.last) == (2, SIGTERM))
  }

  @Test func anotherSignalCountsToo() {
    var received = SignalCount()
    #expect(received.add(SIGINT, nowMs: 5) && received.add(SIGTERM, nowMs: 5) && received.add(SIGINT, nowMs: 6))
    #expect(received.count == 3)
  }
}
