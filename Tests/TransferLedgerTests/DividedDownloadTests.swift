import Testing
import TransferModel

@testable import TransferLedger

/// A download may be divided after the answer that brought its beginning, while its session is open.
@Suite struct DividedDownloadTests {
  private let f: LedgerFixture
  init() throws { f = try LedgerFixture() }

  /// A file of one chunk, of which the first `bytes` arrived.
  private func begun(_ bytes: Int64, _ run: RunID) throws -> FileID {
    let (file, session, attempt) = try f.beginDownload(run)
    return try f.ledger.write { tx in
      _ = try tx.closeAttempt(attempt, run, acked(bytes))
      _ = try tx.openSession(session, run, remoteID: "v", expiresAtMs: nil)
      #expect(try tx.learnSize(file, run, 50).isApplied)
      #expect(try tx.plan(file, run, ChunkLayout(whole: 50)).isApplied)
      #expect(try tx.storeBeginning(file, run, by: attempt, bytes: bytes, nil).isApplied)
      return file
    }
  }

  @Test func theBeginningStaysInTheFirstChunk() throws {
    let run = try f.startRun()
    let file = try begun(7, run)
    let layout = ChunkLayout(size: 50, chunkSize: 16)
    #expect(try f.ledger.write { try $0.recut(file, run, layout) } == .applied)
    let chunks = try f.ledger.write { try $0.beginChunks(file, run, limit: 9, isRepeatable: true) }
    #expect(chunks.map(\.facts.range) == (0..<4).map(layout.range))
    #expect(chunks.map(\.facts.acked) == [7, 0, 0, 0])
    #expect(try f.findings() == [])
  }

  /// Otherwise a chunk would be stored completely and not done.
  @Test func theFirstChunkMustBeLongerThanWhatIsStored() throws {
    let run = try f.startRun()
    let file = try begun(16, run)
    let layout = ChunkLayout(size: 50, chunkSize: 16)
    #expect(try f.ledger.write { try $0.recut(file, run, layout) } == .lost(to: "active"))
    #expect(throws: (any Error).self) {
      try f.shell("UPDATE file SET chunk_size = 16, chunk_count = 4, first_chunk_size = 50")
    }
    #expect(try f.findings() == [])
  }

  /// A kill cuts off no more than the ranges: each of them once counted as the whole file.
  @Test func rangesThatWereCutOffAreNotCountedAsTheWholeFile() throws {
    let run = try f.startRun()
    let file = try begun(7, run)
    #expect(try f.ledger.write { try $0.recut(file, run, ChunkLayout(size: 50, chunkSize: 16)) } == .applied)
    _ = try f.ledger.write { try $0.beginChunks(file, run, limit: 1, isRepeatable: true) }
    #expect(try mostOfAll() == ["50"], "it may be a request of the first layout")
    _ = try f.ledger.write { try $0.beginChunks(file, run, limit: 9, isRepeatable: true) }
    #expect(try mostOfAll() == ["50"])
    #expect(try f.texts("SELECT count(*), max(bytes_transferred_at_most) FROM v_cut_off") == ["4 16"])
    try f.restart()
    let next = try f.startRun()
    #expect(try f.ledger.write { try $0.recover(next) }.crashedAttempts == 4)
    #expect(try mostOfAll() == ["50"])
    #expect(try f.findings() == [])
  }

  private func mostOfAll() throws -> [String] { try f.texts("SELECT sum(bytes_transferred_at_most) FROM v_cut_off") }
}
