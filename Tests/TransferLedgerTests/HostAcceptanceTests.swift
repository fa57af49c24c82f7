import Testing
import TransferModel

@testable import TransferLedger

/// What `report hosts` says a server accepted, according to receipts and requests.
@Suite struct HostAcceptanceTests {
  private func rows(_ f: LedgerFixture, _ filter: RowFilter = RowFilter()) throws -> [String] {
    try f.ledger.read { try $0.hostAcceptance(filter) }.map { "\($0.host) \($0.accepted) \($0.times)" }
  }

  @Test func theServerComparedChecksums() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 3)
    #expect(try rows(f) == ["put:there checksum:crc32c 3"])
    let row = try #require(try f.ledger.read { try $0.hostAcceptance(RowFilter()) }.first)
    #expect(row.lastMs == f.clock.wallMs && row.firstMs == row.lastMs - 20)
    #expect(try rows(f, .files([FileID(rawValue: 2)])) == ["put:there checksum:crc32c 1"])
    #expect(try rows(f, .files([])) == [])
  }

  /// A tus server compares each body with the digest sent with it, and names none.
  @Test func aServerThatNamesNoDigestComparedOursToo() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      let own = FileProof(confirmation: .digest, digest: Digest(crc32c: 7))
      _ = try tx.completeFile(file.id, run, FileReceipt(own, location: "put:there/a"))
    }
    #expect(try rows(f) == ["put:there checksum:crc32c 1"])
  }

  /// The first request of the file is repeated from the beginning: nothing was resumed. Its chunk is stored by two.
  @Test func aChunkOfTwoRequestsIsAResumption() throws {
    let f = try LedgerFixture()
    try LogTests.send(f, 1)
    #expect(try !rows(f).contains { $0.contains("resumption") })
    let file = try f.add("long", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let first = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      var cut = result(.retry)
      (cut.bytesTransferred, cut.bytesAcked) = (6, 4)
      _ = try tx.closeAttempt(first.attempt, run, cut)
      _ = try tx.advanceChunk(first.id, first.attempt, acked: 4)
      let second = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(second.attempt, run, acked(6))
      _ = try tx.storeChunk(second.id, second.attempt, part)
    }
    #expect(try rows(f) == ["put:there checksum:crc32c 1", "put:there resumption 1"])
  }
}
