import Testing
import TransferModel

@testable import TransferLedger

/// The clock of a machine on which each transaction takes `stepMs`.
private final class SlowClock: TransferClock {
  private let now = Lock<Int64>(1_700_000_000_000)
  let stepMs: Int64
  init(stepMs: Int64) { self.stepMs = stepMs }
  var wallMs: Int64 { now.withLock { $0 } }
  /// Read before and after the work of each transaction.
  var bootMs: Int64 {
    now.withLock {
      $0 += stepMs
      return $0
    }
  }
}

@Suite struct SliceSizeTests {
  /// Microseconds for each row, and the resulting size.
  @Test(arguments: [(0, 2_000), (10, 2_000), (100, 250), (1_000, 25), (10_000, 8), (1_000_000, 8)])
  func transactionsGetAsLongAsTheyMayBe(microseconds: Int, size: Int) {
    var slice = SliceSize()
    for _ in 0..<12 { slice.took(Int64(slice.count * microseconds / 1_000), for: slice.count) }
    #expect(slice.count == size)
  }

  /// After a transaction that takes too long, the next one is smaller; sizes never more than double.
  @Test func oneThatWasSlowMakesTheNextSmall() {
    var slice = SliceSize()
    for _ in 0..<9 { slice.took(1, for: slice.count) }
    #expect(slice.count == 2_000)
    slice.took(200, for: 2_000)
    #expect(slice.count == 250)
    slice.took(0, for: 250)
    #expect(slice.count == 500)
  }

  @Test(arguments: [
    (0, [100, 300, 700, 1_200]), (50, [100, 150, 175] + Array(stride(from: 187, to: 1_200, by: 8)) + [1_200]),
  ])
  func aVerbMeasuresItsTransactions(stepMs: Int, seen: [Int]) throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    _ = try f.ledger.write { tx in
      for i in 0..<1_200 { _ = try tx.admit(LedgerFixture.source("f\(i)"), to: batch) }
    }
    let slow = try Ledger.open(at: f.path, mode: .existing, clock: SlowClock(stepMs: Int64(stepMs)))
    defer { slow.close() }
    var counts: [Int] = []
    let outcome = try slow.control(.pause(now: false), .batch(batch)) {
      if let count = try? f.texts("SELECT count(*) FROM file WHERE state = 'paused'").first {
        counts.append(Int(count) ?? -1)
      }
    }
    #expect(outcome.changed.count == 1_200)
    #expect(Array(counts.prefix(4)) == Array(seen.prefix(4)) && counts.last == 1_200)
    #expect(counts.count == seen.count)
  }
}
