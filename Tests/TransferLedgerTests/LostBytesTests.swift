import Testing
import TransferModel

@testable import TransferLedger

/// What was lost with an upload on the server, or with a partial file, was transferred for nothing: it counts as stored
/// in no report.
@Suite struct LostBytesTests {
  private let f: LedgerFixture

  /// A file of 20 bytes, of which 10 were stored in an upload that was gone then.
  init() throws {
    f = try LedgerFixture()
    let file = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "gone", expiresAtMs: nil)
      let chunk = try #require(try tx.beginChunks(file, run, limit: 1, isRepeatable: true).first)
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      try tx.giveUpSession(file, run)
      _ = try tx.resetChunks(file, run)
      try tx.endAbort(try #require(try tx.claimAborts(run, limit: 1).first), run, ok, .aborted)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "next", expiresAtMs: nil)
      try tx.sendAll(file, run)
      _ = try tx.completeFile(file, run, proof)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  /// Everything, the batch, and a window: they are read in different ways.
  private static let filters: [RowFilter] = {
    var windowed = RowFilter()
    windowed.untilMs = .max
    return [RowFilter(), .batch(BatchID(rawValue: 1)), windowed]
  }()

  /// What histories of hosts, periods and batches count as stored.
  private func stored(_ filter: RowFilter) throws -> Set<Int64> {
    try f.ledger.read { reader in
      let flows =
        try reader.hosts(filter).map(\.flow) + reader.periods(.day, filter).map(\.flow)
        + reader.batchHistories(filter).map(\.flow)
      return Set(flows.map(\.bytesAcked))
    }
  }

  @Test func itCountsAsInTheReportOfWaste() throws {
    for filter in Self.filters {
      let waste = try f.ledger.read { try $0.waste(filter) }
      #expect([waste.bytesTransferred, waste.bytesAcked] == [30, 20])
      #expect(waste.causes.map(\.cause) == [.lost])
      #expect(try stored(filter) == [20])
      let acked = try f.ledger.read { reader in
        var sum: Int64 = 0
        try reader.attemptIntervals(filter) { sum += $0.bytesAcked }
        return sum
      }
      #expect(acked == 20, "throughput")
    }
  }

  @Test func aPruneChangesNothing() throws {
    f.clock.advance(ms: 2 * 86_400_000)
    let pruned = try f.ledger.prune(before: f.clock.wallMs).pruned
    #expect(pruned.attempts == 4, "three parts and the abort")
    for filter in Self.filters { #expect(try stored(filter) == [20]) }
    #expect(try f.findings() == [])
  }
}
