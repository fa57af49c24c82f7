import Testing
import TransferModel

@testable import TransferLedger

/// Chunks that the server holds in part, and the requests that precede their bodies.
@Suite struct PartialChunkTests {
  /// A claimed file of three chunks of ten bytes and one of five.
  private func fileInWork(_ f: LedgerFixture) throws -> (file: FileID, run: RunID) {
    let file = try f.add("a", size: 35, to: f.makeBatch())
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.claimAndPlan(run) }
    return (file, run)
  }

  private func chunks(_ f: LedgerFixture) throws -> [String] {
    try f.texts("SELECT state, acked, uncertain, losses FROM chunk ORDER BY seq")
  }

  private func begin(
    _ f: LedgerFixture, _ file: FileID, _ run: RunID, limit: Int = 1, _ opening: ChunkOpening = .none
  ) throws -> [ClaimedChunk] {
    try f.ledger.write { try $0.beginChunks(file, run, limit: limit, isRepeatable: true, opening: opening) }
  }

  @Test func anAdvancedChunkGoesOnWhereTheServerIs() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let chunk = try begin(f, file, run)[0]
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      #expect(
        try tx.advanceChunk(chunk.id, chunk.attempt, acked: 10) == .lost(to: "in_flight"), "it is the whole chunk")
      #expect(try tx.advanceChunk(chunk.id, chunk.attempt, acked: 4).isApplied)
      #expect(try tx.advanceChunk(chunk.id, chunk.attempt, acked: 6) == .lost(to: "pending"))
    }
    let again = try begin(f, file, run)[0]
    #expect(again.facts.seq == 0 && again.facts.acked == 4)
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(again.attempt, run, acked(6))
      #expect(try tx.storeChunk(again.id, again.attempt, part).isApplied)
    }
    #expect(try f.texts("SELECT bytes_acked FROM v_files") == ["10"])
    #expect(try f.findings() == [])
  }

  @Test func aChunkInDoubtIsRememberedAndAdopted() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let chunk = try begin(f, file, run)[0]
    try f.ledger.write { tx in
      #expect(try tx.doubtChunk(chunk.id, chunk.attempt, remote: ["md5": "x"]) == .lost(to: "in_flight"), "still open")
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      #expect(try tx.doubtChunk(chunk.id, chunk.attempt, remote: ["md5": "x"]).isApplied)
      #expect(try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: tx.wallMs + 1_000).isApplied)
      #expect(
        try tx.doubts(of: file) == [ChunkDoubt(seq: 0, length: 10, remote: ["md5": "x"], isBackingOff: true)])
      let probe = try tx.beginAttempt(file, run, .probe, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(probe, run, ok)
      #expect(try tx.adoptChunk(file, run, seq: 0, by: probe, part).isApplied)
      #expect(try tx.adoptChunk(file, run, seq: 0, by: probe, part) == .lost(to: "active"), "it is done")
      #expect(try tx.doubts(of: file).isEmpty)
    }
    #expect(try f.texts("SELECT state, uncertain, remote IS NULL FROM chunk WHERE seq = 0") == ["done 0 1"])
    #expect(try f.findings() == [])
  }

  @Test func whatWasLostIsKnownToTheNextClaim() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let chunk = try begin(f, file, run)[0]
    #expect(chunk.facts.losses == 0)
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      #expect(try tx.storeChunk(chunk.id, chunk.attempt, part).isApplied)
      #expect(try tx.resetChunks(file, run) == 1)
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: true)
      #expect(try tx.claimFiles(run, limit: 1)[0].hasLosses)
    }
    #expect(try begin(f, file, run, limit: 2).map(\.facts.losses) == [1, 0])
  }

  @Test func acknowledgedBytesOfAPartAreCountedAndKeptByTheNextClaim() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let chunk = try begin(f, file, run)[0]
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      _ = try tx.advanceChunk(chunk.id, chunk.attempt, acked: 7)
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: true)
      let claimed = try tx.claimFiles(run, limit: 1)[0]
      #expect(claimed.doneBytes == 7 && claimed.doneChunks == 0)
      #expect(try tx.workSize().bytesAcked == 7)
    }
  }

  @Test func whatGoesAheadOfABodyIsAskedOnceAndAfterADoubt() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let opening = ChunkOpening(prepares: true, probesUncertain: true)
    let first = try begin(f, file, run, opening)[0]
    #expect(first.operation == .prepare)
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(first.attempt, run, ok)
      #expect(try tx.prepareChunk(first.id, first.attempt, remote: ["url": "/p\"1"]).isApplied)
    }
    let sent = try begin(f, file, run, opening)[0]
    #expect(sent.operation == .part && sent.facts.remote == ["url": "/p\"1"])
    let now = f.clock.wallMs
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(sent.attempt, run, result(.retry, mayHaveArrived: true))
      #expect(try tx.retryChunk(sent.id, sent.attempt, notBeforeMs: now).isApplied)
    }
    let asked = try begin(f, file, run, opening)[0]
    #expect(asked.operation == .probe && asked.facts.isUncertain)
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(asked.attempt, run, ok)
      #expect(try tx.probeChunk(asked.id, asked.attempt, acked: 3).isApplied)
    }
    let last = try begin(f, file, run, opening)[0]
    #expect(last.operation == .part && last.facts.acked == 3 && !last.facts.isUncertain)
    #expect(try f.findings() == [])
  }

  /// A range of a chunk, or its beginning, is stored: what is missing is kept with it, and earlier failures no longer
  /// count.
  @Test func aStoredPieceIsProgress() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    let failed = try begin(f, file, run)[0]
    let now = f.clock.wallMs
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(failed.attempt, run, result(.retry))
      #expect(try tx.retryChunk(failed.id, failed.attempt, notBeforeMs: now).isApplied)
    }
    let sent = try begin(f, file, run)[0]
    #expect(sent.id == failed.id && sent.facts.failures == 1)
    try f.ledger.write { tx in
      #expect(try !tx.storePiece(sent.id, sent.attempt, remote: ["missing": "5+2"]).isApplied)
      _ = try tx.closeAttempt(sent.attempt, run, result(.retry))
      #expect(try tx.storePiece(sent.id, sent.attempt, remote: ["missing": "5+2"]).isApplied)
      #expect(try !tx.storePiece(sent.id, sent.attempt, remote: [:]).isApplied)
      // Only chunks of downloads take bytes from local files.
      #expect(try !tx.noteMissing(file, run, seq: 0, remote: ["missing": "5+2"]).isApplied)
    }
    let next = try begin(f, file, run)[0]
    #expect(next.id == sent.id && next.facts.failures == 0 && next.facts.remote == ["missing": "5+2"])
    #expect(try f.findings() == [])
  }

  @Test func aCrashLeavesADoubtAboutTheChunkThatWasSent() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    _ = try begin(f, file, run)
    try f.restart()
    let next = try f.startRun()
    _ = try f.ledger.write { try $0.recover(next) }
    #expect(try chunks(f) == ["pending 0 1 0", "pending 0 0 0", "pending 0 0 0", "pending 0 0 0"])
  }

  @Test(arguments: [
    (0, ["pending 0 0 1", "pending 0 0 1", "pending 0 0 0", "pending 0 0 0"]),
    (10, ["done 0 0 0", "pending 0 0 1", "pending 0 0 0", "pending 0 0 0"]),
    (19, ["done 0 0 0", "pending 9 0 1", "pending 0 0 0", "pending 0 0 0"]),
    (20, ["done 0 0 0", "done 0 0 0", "pending 0 0 0", "pending 0 0 0"]),
    (34, ["done 0 0 0", "done 0 0 0", "done 0 0 0", "pending 4 0 0"]),
    (35, ["done 0 0 0", "done 0 0 0", "done 0 0 0", "done 0 0 0"]),
  ])
  func anOffsetAlignsEveryChunk(offset: Int, rows: [String]) throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    try f.ledger.write { tx in
      for chunk in try tx.beginChunks(file, run, limit: 2, isRepeatable: true) {
        _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      }
      let probe = try tx.beginAttempt(file, run, .probe, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(probe, run, ok)
      try tx.alignChunks(file, run, by: probe, offset: Int64(offset))
    }
    #expect(try chunks(f) == rows)
    #expect(try f.texts("SELECT bytes_acked FROM v_files") == ["\(offset)"])
    #expect(try f.findings() == [])
  }

  @Test func aFileThatWasFinishingSendsAgainWhatTheServerLost() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    try f.ledger.write { tx in
      try tx.sendAll(file, run)
      _ = try tx.startFinishing(file, run)
      let probe = try tx.beginAttempt(file, run, .probe, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(probe, run, ok)
      try tx.alignChunks(file, run, by: probe, offset: 31)
    }
    #expect(try f.texts("SELECT state FROM file") == ["active"])
    #expect(try chunks(f).last == "pending 1 0 1")
  }

  @Test func progressAtTheServerForgetsTheFailuresOfTheFile() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    try f.ledger.write { tx in
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: .netReset, isFailure: true)
      _ = try tx.claimFiles(run, limit: 1)
      for offset in [Int64(0), 5] {
        let probe = try tx.beginAttempt(file, run, .probe, session: nil, isRepeatable: true)
        _ = try tx.closeAttempt(probe, run, ok)
        try tx.alignChunks(file, run, by: probe, offset: offset)
        #expect(try tx.claimedFailures(file) == (offset == 0 ? 1 : 0))
      }
    }
  }

  @Test func theNotesOfASessionAreThoseOfTheLastTransition() throws {
    let f = try LedgerFixture()
    let (file, run) = try fileInWork(f)
    try f.ledger.write { tx in
      let session = try tx.beginOwnSession(file, run, remoteID: "mine", notes: ["a": "1"])
      #expect(try tx.noteSession(session, run, ["a": "2", "b": "é\n"]).isApplied)
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false)
      let claimed = try tx.claimFiles(run, limit: 1)[0]
      #expect(claimed.session?.facts.remoteID == "mine")
      #expect(claimed.session?.facts.notes == ["a": "2", "b": "é\n"])
      #expect(try tx.endSession(session, .gone).isApplied)
      #expect(try tx.noteSession(session, run, [:]) == .lost(to: "gone"))
    }
  }

  @Test func theLastChunkMayHoldMoreThanTheOthers() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 35, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      #expect(try tx.plan(file, run, ChunkLayout(size: 35, chunkSize: 10, count: 3)).isApplied)
    }
    #expect(try f.texts("SELECT offset, length FROM chunk ORDER BY seq") == ["0 10", "10 10", "20 15"])
    #expect(try f.findings() == [])
    try f.ledger.write { tx in
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false)
      #expect(try tx.claimFiles(run, limit: 1)[0].layout == ChunkLayout(size: 35, chunkSize: 10, count: 3))
    }
  }

  @Test func noOtherProgramCanStoreAPartThatCannotBe() throws {
    let f = try LedgerFixture()
    _ = try fileInWork(f)
    #expect(throws: (any Error).self) { try f.shell("UPDATE chunk SET acked = 11 WHERE seq = 0") }
    #expect(throws: (any Error).self) { try f.shell("UPDATE chunk SET acked = -1 WHERE seq = 0") }
    #expect(throws: (any Error).self) { try f.shell("UPDATE session SET notes = 'x'; UPDATE chunk SET remote = 'x'") }
  }
}

extension LedgerTransaction {
  fileprivate func claimedFailures(_ file: FileID) throws -> Int? {
    try db.first("SELECT failures FROM file WHERE id = ?", .id(file)) { $0.int(0) }
  }
}
