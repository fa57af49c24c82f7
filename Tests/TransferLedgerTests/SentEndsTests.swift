import Testing
import TransferModel

@testable import TransferLedger

/// How far the bodies of an upload were sent, as a later claim learns it.
@Suite struct SentEndsTests {
  /// Sends the first of four chunks of ten bytes, and does with its attempt what the test says.
  private func claimedAfter(
    _ end: @escaping @Sendable (LedgerTransaction, ClaimedChunk, FileID, RunID) throws -> Void
  ) throws -> [Int: Int64] {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 35, to: f.makeBatch())
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.claimAndPlan(run) }
    try f.ledger.write { tx in
      let session = try tx.intendSession(file, run)
      _ = try tx.openSession(session, run, remoteID: "http://h/1", expiresAtMs: nil)
      try end(tx, try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0], file, run)
    }
    try f.restart()
    let next = try f.startRun()
    return try f.ledger.write { tx in
      _ = try tx.recover(next)
      return try tx.claimFiles(next, limit: 1)[0].sentEnds
    }
  }

  @Test func aBodyCountsAsFarAsItWasRead() throws {
    let ends = try claimedAfter { tx, chunk, _, run in
      var lost = result(.retry, mayHaveArrived: true)
      lost.bytesTransferred = 2
      lost.sent = SentContent.Piece(range: ByteRange(offset: 0, length: 3), digest: Digest(crc32c: 7))
      _ = try tx.closeAttempt(chunk.attempt, run, lost)
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
    }
    #expect(ends == [0: 3])
  }

  @Test func thatOfAKilledEngineCountsToItsEnd() throws {
    let ends = try claimedAfter { _, _, _, _ in }
    #expect(ends == [0: 10])
  }

  @Test func oneThatWasNeverSentDoesNotCount() throws {
    let ends = try claimedAfter { tx, chunk, _, run in
      _ = try tx.closeAttempt(chunk.attempt, run, result(.interrupted))
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
    }
    #expect(ends == [:])
  }

  @Test func whatWasSentToAnotherSessionDoesNotCount() throws {
    let ends = try claimedAfter { tx, chunk, file, run in
      var lost = result(.retry, mayHaveArrived: true)
      lost.bytesTransferred = 10
      _ = try tx.closeAttempt(chunk.attempt, run, lost)
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
      try tx.giveUpSession(file, run)
      _ = try tx.intendSession(file, run)
    }
    #expect(ends == [:])
  }
}
