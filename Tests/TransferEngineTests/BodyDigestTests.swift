import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// Bytes that are digested on other threads, in the order in which they came.
@Suite struct BodyDigestTests {
  private static let pieces = (0..<40).map { n in [UInt8](repeating: UInt8(n), count: 100_000 + n) }
  private static let wanted = RunningDigest.of(pieces.flatMap { $0 }, .sha256)

  private func add(_ digest: BodyDigest) {
    for piece in Self.pieces { piece.withUnsafeBytes { digest.add($0) } }
  }

  @Test func theOrderIsKeptOnOtherThreads() throws {
    let pool = try PreparingPool(threadCount: 3)
    for _ in 0..<20 {
      let digest = BodyDigest(.sha256) { pool.wait($0, then: {}) }
      add(digest)
      #expect(digest.finish() == Self.wanted)
    }
    pool.stop()
  }

  /// 4 MB arrive while no thread has time: less than that waits, and one order is enough.
  @Test func bytesThatNobodyDigestsAreDigestedByTheirThread() {
    let orders = Lock(0)
    let digest = BodyDigest(.sha256) { _ in orders.withLock { $0 += 1 } }
    add(digest)
    #expect(digest.finish() == Self.wanted)
    #expect((1...8).contains(orders.withLock { $0 }))
  }

  @Test func aLateOrderChangesNothing() {
    let late = Lock<[@Sendable () -> Void]>([])
    let digest = BodyDigest(.sha256) { order in late.withLock { $0.append(order) } }
    add(digest)
    #expect(digest.finish() == Self.wanted)
    for order in late.withLock({ $0 }) { order() }
    #expect(digest.finish() == Self.wanted)
  }
}
