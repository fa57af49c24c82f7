import Testing
import TransferModel

@testable import TransferLedger

/// How much work is left, for progress.
@Suite struct WorkSizeTests {
  @Test func chunksOfEarlierRunsCountAsAcknowledged() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let begun = try f.add("a", size: 25, to: batch)
    _ = try f.add("b", size: 7, to: batch)
    #expect(try f.ledger.read { try $0.workSize() } == WorkSize(files: 2, bytes: 32, bytesAcked: 0))
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      let chunks = try tx.beginChunks(file.id, run, limit: .max, isRepeatable: true)
      for chunk in chunks.suffix(2) {
        _ = try tx.closeAttempt(chunk.attempt, run, acked(chunk.facts.range.length))
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      }
      _ = try tx.closeAttempt(chunks[0].attempt, run, result(.retry))
      _ = try tx.releaseChunk(chunks[0].id, chunks[0].attempt)
      _ = try tx.releaseFile(file.id, run, notBeforeMs: nil, code: nil, isFailure: false)
    }
    #expect(try f.ledger.read { try $0.workSize() } == WorkSize(files: 2, bytes: 32, bytesAcked: 15))
    #expect(try f.ledger.write { try $0.workSize() } == WorkSize(files: 2, bytes: 32, bytesAcked: 15))
    let claimed = try f.ledger.write { tx in try tx.claimFiles(run, limit: 1) }
    #expect(claimed.map(\.id) == [begun] && claimed.map(\.doneBytes) == [15] && claimed.map(\.doneChunks) == [2])
  }

  @Test func theMarkMovesWithFilesAndWithWhatPeopleDo() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let first = try f.ledger.read { try $0.changeMark() }
    _ = try f.add("a", to: batch)
    let second = try f.ledger.read { try $0.changeMark() }
    #expect(first != second)
    let run = try f.startRun()
    _ = try f.ledger.write { tx in try tx.claimAndPlan(run) }
    #expect(try f.ledger.read { try $0.changeMark() } == second, "the engine's own work is not a change by others")
    try f.ledger.write { tx in try tx.recordEvent("paused", batch: batch, file: nil, detail: "") }
    #expect(try f.ledger.read { try $0.changeMark() } != second)
  }
}
