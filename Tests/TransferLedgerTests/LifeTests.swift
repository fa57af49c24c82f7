import TransferModel
import Testing

@testable import TransferLedger

/// The life of a file through the named transitions, and how the views show it.
@Suite struct LifeTests {
  @Test func aFileOfThreeChunksIsDone() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let id = try f.add("a", size: 25, to: batch)
    let run = try f.startRun()
    let claimed = try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      let session = try tx.intendSession(file.id, run)
      let create = try tx.beginAttempt(file.id, run, .create, session: session, isRepeatable: true)
      _ = try tx.closeAttempt(create, run, ok)
      #expect(try tx.openSession(session, run, remoteID: "up1", expiresAtMs: nil).isApplied)
      try tx.sendAll(file.id, run)
      #expect(try tx.startFinishing(file.id, run).isApplied)
      #expect(try tx.parts(of: file.id).map(\.length) == [10, 10, 5])
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
      #expect(try tx.endSession(session, .completed).isApplied)
      return file
    }
    #expect(claimed.id == id && claimed.identity.inode == UInt64.max && claimed.path == NameBytes("/src/a"))
    #expect(try f.findings() == [])
    let row = try f.texts(
      "SELECT state, attempts, bytes_acked, bytes_transferred, confirmed_by, digest, length(uid) FROM v_files")
    #expect(row == ["done 4 25 25 digest crc32c:00000007 36"])
    #expect(try f.texts("SELECT files, done, failed, bytes, bytes_done FROM v_batches") == ["1 1 0 25 25"])
    #expect(try f.texts("SELECT state, remote_id FROM session") == ["completed up1"])
    #expect(try f.ledger.read { try $0.workLeft() } == WorkLeft(ready: 0, waiting: 0, active: 0, aborts: 0))
  }

  @Test func aFileFoundAtTheServerIsDoneByTheVerifyThatFoundIt() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry, mayHaveArrived: true))
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
      let verify = try tx.beginAttempt(file.id, run, .verify, session: nil, isRepeatable: true)
      #expect(throws: (any Error).self) { try tx.confirmChunks(file.id, run, by: verify, .size, etag: "e") }
      _ = try tx.closeAttempt(verify, run, ok)
      #expect(try tx.confirmChunks(file.id, run, by: verify, .size, etag: "e").isApplied)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
    #expect(try f.findings() == [])
    #expect(try f.texts("SELECT state, attempts, bytes_acked FROM v_files") == ["done 2 10"])
  }

  @Test func claimsFollowPriorityAndThenAdmission() throws {
    let f = try LedgerFixture()
    let low = try f.makeBatch("put:a")
    let high = try f.makeBatch("put:b", priority: 5)
    let a = try f.add("a", to: low)
    let b = try f.add("b", to: low)
    let c = try f.add("c", to: high)
    let run = try f.startRun()
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 2).map(\.id) } == [c, a])
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 2).map(\.id) } == [b])
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 2).map(\.id) } == [])
  }

  @Test func whatWaitsIsClaimedWhenItsTimeHasCome() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    let due = f.clock.wallMs + 500
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      #expect(try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: due).isApplied)
      #expect(try tx.beginChunks(file.id, run, limit: 9, isRepeatable: true).map(\.facts.seq) == [1])
    }
    #expect(try f.ledger.read { try $0.nextDueMs() } == due)
    f.clock.advance(ms: 500)
    let again = try f.ledger.write { try $0.beginChunks(FileID(rawValue: 1), run, limit: 9, isRepeatable: true) }
    #expect(again.map(\.facts.seq) == [0] && again[0].facts.failures == 1)
    #expect(try f.texts("SELECT n FROM attempt WHERE chunk_id = 1 ORDER BY id") == ["1", "2"])
    #expect(try f.ledger.read { try $0.nextDueMs() } == nil)
  }

  /// Files of some sizes in one batch; those of the others are claimed in the order of work.
  @Test func filesOfSizesThatAreLeftOutAreNotClaimed() throws {
    let f = try LedgerFixture()
    let (batch, other) = (try f.makeBatch(), try f.makeBatch(priority: -1))
    let files = try [10, 30, 20, 40].map { try f.add("s\($0)", size: $0, to: batch) }
    let free = try f.add("other", size: 30, to: other)
    let run = try f.startRun()
    let leftOut: [BatchID: ClosedRange<Int64>] = [batch: 20...30]
    #expect(try f.ledger.read { try $0.hasReadyFiles(without: [other], leftOut: leftOut) })
    let long = try f.ledger.read { try $0.readyFiles(of: batch, sizes: 20...30, limit: 9) }
    #expect(long.map(\.id) == [files[1], files[2]] && long.map(\.size) == [30, 20])
    let claimed = try f.ledger.write { try $0.claimFiles(run, limit: 9, leftOut: leftOut) }.map(\.id)
    #expect(claimed == [files[0], files[3], free])
    #expect(try !f.ledger.read { try $0.hasReadyFiles(without: [other], leftOut: leftOut) })
    #expect(try f.ledger.read { try $0.hasReadyFiles(without: [other]) })
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9) }.map(\.id) == [files[1], files[2]])
  }

  @Test func readyFilesOfABatchArePostponedPartByPart() throws {
    let f = try LedgerFixture()
    let (batch, other) = (try f.makeBatch(), try f.makeBatch())
    for name in ["a", "b", "c"] { _ = try f.add(name, to: batch) }
    let free = try f.add("d", to: other)
    let run = try f.startRun()
    let due = f.clock.wallMs + 500
    let counts = try f.ledger.write { tx in
      try (0..<3).map { _ in try tx.postponeFiles(run, until: [batch: due], limit: 2) }
    }
    #expect(counts == [2, 1, 0])
    #expect(try f.ledger.read { try $0.readyBatches(among: [batch, other]) } == [other])
    #expect(try f.ledger.read { try $0.nextDueMs() } == due)
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9).map(\.id) } == [free])
    f.clock.advance(ms: 500)
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9).count } == 3)
    #expect(try f.findings() == [])
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    #expect(throws: TransferError.self) {
      try f.ledger.write { try $0.postponeFiles(run, until: [other: due], limit: 1) }
    }
  }

  /// Whatever batch a file is of, the most urgent ones are due first.
  @Test func postponedFilesAreDueInTheOrderOfWork() throws {
    let f = try LedgerFixture()
    let (usual, urgent) = (try f.makeBatch(), try f.makeBatch(priority: 5))
    let later = try ["a", "b"].map { try f.add($0, to: usual) }
    let first = try ["c", "d", "e"].map { try f.add($0, to: urgent) }
    let run = try f.startRun()
    let due = f.clock.wallMs + 500
    for number in 1...3 {
      #expect(
        try f.ledger.write {
          try $0.postponeFiles(run, until: [usual: due, urgent: due], number: Int64(number), limit: 2)
        } == (number < 3 ? 2 : 1))
    }
    f.clock.advance(ms: 500)
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9) }.isEmpty)
    var claimed: [[FileID]] = []
    for _ in 1...3 {
      f.clock.advance(ms: 1)
      claimed.append(try f.ledger.write { try $0.claimFiles(run, limit: 9).map(\.id) })
    }
    #expect(claimed == [[first[0], first[1]], [first[2], later[0]], [later[1]]])
    #expect(try f.findings() == [])
  }

  @Test func aRequeuedFileKeepsItsPlanSessionAndLostAnswer() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    let claimed = try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      let session = try tx.intendSession(file.id, run)
      _ = try tx.openSession(session, run, remoteID: "up", expiresAtMs: 5)
      try tx.sendAll(file.id, run)
      _ = try tx.startFinishing(file.id, run)
      let finish = try tx.beginAttempt(file.id, run, .finish, session: session, isRepeatable: true)
      #expect(try tx.releaseFile(file.id, run, notBeforeMs: nil, code: nil, isFailure: true) == .lost(to: "finishing"))
      _ = try tx.closeAttempt(finish, run, result(.retry, mayHaveArrived: true))
      #expect(try tx.releaseFile(file.id, run, notBeforeMs: nil, code: .netReset, isFailure: true).isApplied)
      return try tx.claimFiles(run, limit: 1)[0]
    }
    #expect(claimed.layout == ChunkLayout(size: 20, chunkSize: 10))
    #expect(claimed.session?.facts.remoteID == "up" && claimed.doneChunks == 2)
    #expect(claimed.lostAnswer == .finish && claimed.failures == 1)
    let settled = try f.ledger.write { tx in
      let finish = try tx.beginAttempt(claimed.id, run, .finish, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(finish, run, ok)
      _ = try tx.releaseFile(claimed.id, run, notBeforeMs: nil, code: nil, isFailure: false)
      return try tx.claimFiles(run, limit: 1)[0].lostAnswer
    }
    #expect(settled == nil)
  }

  @Test func anEmptyFileHasOneEmptyChunk() throws {
    let f = try LedgerFixture()
    _ = try f.add("empty", size: 0, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimFiles(run, limit: 1)[0]
      #expect(try tx.plan(file.id, run, ChunkLayout(whole: 0)).isApplied)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
    #expect(try f.findings() == [])
  }

  @Test func lostChunksAreSentAgain() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 30, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run).id
      try tx.sendAll(file, run)
      _ = try tx.startFinishing(file, run)
      #expect(try tx.disownChunks(file, run, seqs: [1, 7]) == 1)
      #expect(try tx.completeFile(file, run, proof) == .lost(to: "active"))
      try tx.sendAll(file, run)
      #expect(try tx.resetChunks(file, run) == 3)
      try tx.sendAll(file, run)
      #expect(try tx.completeFile(file, run, proof).isApplied)
    }
    #expect(try f.findings() == [])
    #expect(try f.texts("SELECT attempts, losses FROM v_chunks ORDER BY seq") == ["2 1", "3 2", "2 1"])
  }

  @Test func aFailedFileIsRetriedWithWhatTheServerHas() throws {
    let f = try LedgerFixture()
    let id = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run).id
      let session = try tx.intendSession(file, run)
      _ = try tx.openSession(session, run, remoteID: "up", expiresAtMs: nil)
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      #expect(try tx.failFile(file, run, code: .http403, message: "no", keepsSession: true) == .lost(to: "active"))
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      #expect(try tx.failFile(file, run, code: .http403, message: "no", keepsSession: true).isApplied)
    }
    #expect(try f.texts("SELECT state FROM chunk ORDER BY seq") == ["done", "failed"])
    #expect(try f.ledger.write { try $0.retryFiles(.states([.cancelled]), startsOver: false) }.changed.isEmpty)
    #expect(try f.ledger.write { try $0.retryFiles(.files([id]), startsOver: false) }.changed == [id])
    let again = try f.ledger.write { try $0.claimFiles(run, limit: 1)[0] }
    #expect(again.doneChunks == 1 && again.session?.facts.remoteID == "up")
    #expect(try f.findings() == [])
  }

  @Test func aSupersededFileLeavesAnAbortAndANextGeneration() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    let next = try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run).id
      let session = try tx.intendSession(file, run)
      _ = try tx.openSession(session, run, remoteID: "up", expiresAtMs: nil)
      return try tx.supersede(
        file, run, by: LedgerFixture.source("a", size: 5, version: 2).identity, notBeforeMs: nil)
    }
    let work = try f.ledger.write { try $0.claimAborts(run, limit: 5) }
    #expect(work.map(\.remoteID) == ["up"] && work[0].key == NameBytes("a"))
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 5) } == [])
    try f.ledger.write { tx in
      var failed = result(.retry)
      failed.backoffMs = 300
      _ = try tx.closeAttempt(try #require(work[0].attempt), run, failed)
    }
    #expect(try f.ledger.read { try $0.nextDueMs() } == f.clock.wallMs + 300)
    f.clock.advance(ms: 300)
    try f.ledger.write { tx in
      let again = try tx.claimAborts(run, limit: 5)[0]
      _ = try tx.closeAttempt(try #require(again.attempt), run, ok)
      #expect(try tx.endSession(again.session, .aborted).isApplied)
      #expect(try tx.claimFiles(run, limit: 5).map(\.id) == [next])
    }
    #expect(try f.ledger.read { try $0.workLeft() } == WorkLeft(ready: 0, waiting: 0, active: 1, aborts: 0))
    #expect(try f.texts("SELECT generation, state FROM v_files") == ["1 superseded", "2 active"])
    #expect(try f.findings() == [])
  }

  @Test func sendingALostChunkAgainIsNoProgress() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    for round in 1...3 {
      try f.ledger.write { tx in
        let file = try #require(try tx.claimFiles(run, limit: 1).first)
        #expect(file.failures == round - 1)
        if file.layout == nil { _ = try tx.plan(file.id, run, ChunkLayout(size: 10, chunkSize: 10)) }
        _ = try tx.disownChunks(file.id, run, seqs: [0])
        try tx.sendAll(file.id, run)
        _ = try tx.releaseFile(file.id, run, notBeforeMs: nil, code: .protoOffset, isFailure: true)
      }
    }
    #expect(try f.texts("SELECT failures FROM file") == ["3"])
  }
}
