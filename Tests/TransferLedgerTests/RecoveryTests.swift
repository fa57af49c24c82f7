import TransferModel
import Testing

@testable import TransferLedger

/// What the next engine finds after a crash, in every open state.
@Suite struct RecoveryTests {
  @Test func repeatableWorkGoesOnAndTheRestIsUnknown() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    for name in ["claimed", "sending", "finishing", "posted", "merged"] { _ = try f.add(name, size: 20, to: batch) }
    let dead = try f.startRun()
    try f.ledger.write { tx in
      let ids = try tx.claimFiles(dead, limit: 9).map(\.id)
      for id in ids.dropFirst() { _ = try tx.plan(id, dead, ChunkLayout(size: 20, chunkSize: 10)) }
      _ = try tx.intendSession(ids[1], dead)
      _ = try tx.beginChunks(ids[1], dead, limit: 2, isRepeatable: true)
      try tx.sendAll(ids[2], dead)
      _ = try tx.startFinishing(ids[2], dead)
      _ = try tx.beginAttempt(ids[2], dead, .finish, session: nil, isRepeatable: true)
      _ = try tx.beginChunks(ids[3], dead, limit: 1, isRepeatable: false)
      try tx.sendAll(ids[4], dead)
      _ = try tx.startFinishing(ids[4], dead)
      _ = try tx.beginAttempt(ids[4], dead, .finish, session: nil, isRepeatable: false)
    }
    try f.restart()
    let run = try f.startRun()
    #expect(try f.texts("SELECT how FROM v_runs ORDER BY id") == ["crashed", "-"])
    let recovery = try f.ledger.write { try $0.recover(run) }
    #expect(recovery == Recovery(crashedAttempts: 5, requeuedFiles: 3, unknownFiles: 2))
    #expect(
      try f.texts("SELECT state FROM file ORDER BY id") == ["pending", "pending", "pending", "unknown", "unknown"])
    #expect(
      try f.texts("SELECT state FROM chunk WHERE file_id IN (2, 4) ORDER BY id") == [
        "pending", "pending", "unknown", "pending",
      ])
    #expect(
      try f.texts("SELECT DISTINCT outcome, error_code FROM attempt WHERE ended_at IS NOT NULL AND outcome <> 'ok'")
        == ["crashed engine.crashed"])
    #expect(try f.texts("SELECT count(*) FROM v_events WHERE verb = 'recovered'") == ["3"])
    #expect(try f.findings() == [])
    #expect(
      try f.ledger.write { try $0.recover(run) } == Recovery(crashedAttempts: 0, requeuedFiles: 0, unknownFiles: 0))
    let claimed = try f.ledger.write { try $0.claimFiles(run, limit: 9) }
    #expect(claimed.map(\.lostAnswer) == [nil, .part, .finish])
    #expect(claimed.map { $0.session != nil } == [false, true, false])
  }

  /// Until the next run begins, days may pass in which nothing was in flight: a request from after the last heartbeat,
  /// the heartbeat itself, or a session that was opened after it may be the last sign of life.
  @Test(arguments: [(-1_000, -1_000, 0), (500, -1_000, 500), (500, 900, 900)] as [(Int64, Int64, Int64)])
  func aCrashedRequestEndsWithTheLastSignOfItsEngine(_ attempt: Int64, _ session: Int64, _ expected: Int64) throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    for name in ["a", "b"] { _ = try f.add(name, size: 20, to: batch) }
    let dead = try f.startRun()
    let files = try f.ledger.write { tx in
      let files = try tx.claimFiles(dead, limit: 2).map(\.id)
      for file in files { _ = try tx.plan(file, dead, ChunkLayout(whole: 20)) }
      return files
    }
    let intended = try f.ledger.write { tx in
      let session = try tx.intendSession(files[0], dead)
      _ = try tx.beginChunks(files[0], dead, limit: 1, isRepeatable: true)
      return session
    }
    let beat = f.clock.wallMs + 1_000
    for moment in Set([attempt, session, 0]).sorted() {
      f.clock.advance(ms: beat + moment - f.clock.wallMs)
      _ = try f.ledger.write { tx in
        if moment == 0 { _ = try tx.heartbeat(dead) }
        if moment == session { _ = try tx.openSession(intended, dead, remoteID: "up", expiresAtMs: nil) }
        if moment == attempt { _ = try tx.beginChunks(files[1], dead, limit: 1, isRepeatable: true) }
      }
    }
    f.clock.advance(ms: 86_400_000)
    try f.restart()
    let run = try f.startRun()
    #expect(try f.ledger.write { try $0.recover(run) }.crashedAttempts == 2)
    #expect(try f.texts("SELECT DISTINCT ended_at - \(beat), outcome FROM attempt") == ["\(expected) crashed"])
    #expect(try f.findings() == [])
  }

  /// An unrepeatable request that opened its session can be queried instead of becoming unknown.
  @Test func anUnrepeatableRequestThatOpenedItsSessionIsAskedAbout() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    for name in ["asked", "not asked"] { _ = try f.add(name, size: 20, to: batch) }
    let dead = try f.startRun()
    try f.ledger.write { tx in
      for (n, file) in try tx.claimFiles(dead, limit: 2).map(\.id).enumerated() {
        _ = try tx.plan(file, dead, ChunkLayout(whole: 20))
        let session = try tx.intendSession(file, dead)
        let attempt = try tx.beginChunks(file, dead, limit: 1, isRepeatable: false)[0].attempt
        #expect(try tx.askAbout(attempt, of: session, dead) == .lost(to: "intended"))
        _ = try tx.openSession(session, dead, remoteID: "u\(n)", expiresAtMs: nil)
        if n == 0 { #expect(try tx.askAbout(attempt, of: session, dead).isApplied) }
      }
    }
    try f.restart()
    let run = try f.startRun()
    #expect(
      try f.ledger.write { try $0.recover(run) } == Recovery(crashedAttempts: 2, requeuedFiles: 1, unknownFiles: 1))
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["pending", "unknown"])
    #expect(try f.texts("SELECT state, uncertain FROM chunk ORDER BY id") == ["pending 1", "unknown 1"])
    let claimed = try f.ledger.write { try $0.claimFiles(run, limit: 2) }
    #expect(claimed.map { $0.session?.facts.remoteID } == ["u0"])
    #expect(claimed.map { $0.session?.facts.mayHoldBytes } == [true])
    #expect(claimed.map(\.lostAnswer) == [.part])
    #expect(try f.findings() == [])
  }

  @Test func anAbortThatWasCutOffIsTriedAtOnce() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", to: f.makeBatch())
    let dead = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(dead).id
      _ = try tx.openSession(try tx.intendSession(file, dead), dead, remoteID: "up", expiresAtMs: nil)
      _ = try tx.failFile(file, dead, code: .http403, message: "no", keepsSession: false)
      #expect(try tx.claimAborts(dead, limit: 1).count == 1)
    }
    try f.restart()
    let run = try f.startRun()
    #expect(try f.ledger.write { try $0.recover(run) }.crashedAttempts == 1)
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 1) }.map(\.remoteID) == ["up"])
    #expect(try f.texts("SELECT state FROM file") == ["failed"])
  }

  @Test func theSuccessOfOneChunkDoesNotHideTheLostAnswerOfAnother() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let dead = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(dead)
      let chunks = try tx.beginChunks(file.id, dead, limit: 2, isRepeatable: true)
      _ = try tx.closeAttempt(chunks[1].attempt, dead, acked(10))
      let part = PartReceipt(seq: 0, length: 0, etag: "e", digest: nil, confirmation: .none)
      _ = try tx.storeChunk(chunks[1].id, chunks[1].attempt, part)
    }
    try f.restart()
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.recover(run) }
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 1) }.map(\.lostAnswer) == [.part])
  }

  @Test func aLostCreateIsLookedForOnceMoreWhenItsFileIsComplete() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let dead = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(dead).id
      _ = try tx.beginAttempt(file, dead, .create, session: try tx.intendSession(file, dead), isRepeatable: true)
    }
    try f.restart()
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.recover(run) }
    try f.ledger.write { tx in
      let file = try #require(try tx.claimFiles(run, limit: 1).first)
      let session = try #require(file.session?.id)
      let create = try tx.beginAttempt(file.id, run, .create, session: session, isRepeatable: true)
      _ = try tx.closeAttempt(create, run, ok)
      _ = try tx.openSession(session, run, remoteID: "second", expiresAtMs: nil)
      try tx.sendAll(file.id, run)
      #expect(try tx.endSession(session, .completed).isApplied)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
      #expect(try tx.claimAborts(run, limit: 9).isEmpty, "the server needs a moment to list it")
    }
    f.clock.advance(ms: LedgerTransaction.lostCreateDelayMs)
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 9) }.map(\.remoteID) == [nil])
    #expect(try f.ledger.write { try $0.knownSessions(["first", "second"]) } == ["second"])
    #expect(try f.findings() == [])
  }

  @Test func aChunkThatFailedBeforeTheEngineDiedIsSentAgainWithItsFile() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 20, to: f.makeBatch())
    let dead = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(dead)
      let chunk = try tx.beginChunks(file.id, dead, limit: 2, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, dead, result(.fatal))
      #expect(try tx.failChunk(chunk.id, chunk.attempt).isApplied)
    }
    try f.restart()
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.recover(run) }
    #expect(try f.texts("SELECT state FROM chunk ORDER BY id") == ["pending", "pending"])
    #expect(try f.findings() == [])
  }

  /// The first run used a clock that was 30 days ahead.
  @Test func whatIsDueFurtherAheadThanAnyWaitIsDueNow() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["far", "near", "chunk"].map { try f.add($0, size: 20, to: batch) }
    let (month, hour): (Int64, Int64) = (f.clock.wallMs + 30 * 86_400_000, f.clock.wallMs + 3_600_000)
    let run = try f.startRun()
    try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(run) }
      let chunk = try tx.beginChunks(files[2], run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: month)
      for (file, dueMs) in zip(files, [month, hour, month]) {
        let session = try tx.intendSession(file, run)
        _ = try tx.openSession(session, run, remoteID: "up\(file)", expiresAtMs: nil)
        _ = try tx.releaseFile(file, run, notBeforeMs: dueMs, code: nil, isFailure: true)
      }
      _ = try tx.endRun(run, how: "done")
    }
    let next = try f.startRun()
    _ = try f.ledger.write { try $0.recover(next) }
    #expect(try f.texts("SELECT not_before FROM file ORDER BY id") == ["-", "\(hour)", "-"])
    #expect(try f.texts("SELECT count(*) FROM chunk WHERE state = 'waiting'") == ["0"])
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'clock'") == [
        "2 files, 1 chunks were due later than the longest wait: the clock was moved, they are due now"
      ])
    _ = try f.ledger.write { try $0.recover(next) }
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'clock'") == ["1"])
  }

  /// The previous run was on a host whose clock is an hour ahead. A retry is due as long after the start of this run as
  /// it was after the end of that one.
  @Test func waitsOfAClockThatIsAheadAreShortened() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["file", "chunk"].map { try f.add($0, size: 20, to: batch) }
    let nowMs = f.clock.wallMs
    f.clock.advance(ms: 3_600_000)
    let run = try f.startRun()
    let dueMs = f.clock.wallMs + 20_000
    try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(run) }
      let chunk = try tx.beginChunks(files[1], run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: dueMs)
      for file in files {
        let session = try tx.intendSession(file, run)
        _ = try tx.openSession(session, run, remoteID: "up\(file)", expiresAtMs: nil)
        _ = try tx.releaseFile(file, run, notBeforeMs: dueMs, code: nil, isFailure: true)
      }
      _ = try tx.endRun(run, how: "done")
    }
    f.clock.advance(ms: -3_600_000)
    let due = "SELECT not_before FROM file UNION ALL SELECT not_before FROM chunk WHERE state = 'waiting'"
    let next = try f.startRun()
    #expect(try f.texts(due) == [String](repeating: "\(nowMs + 20_000)", count: 3))
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'clock'") == [
        "the clock is 3600000 ms behind that of the previous run: 2 files, 1 chunks are due that much earlier"
      ])
    // The clock of the next run agrees with that of this one.
    _ = try f.ledger.write { try $0.endRun(next, how: "done") }
    f.clock.advance(ms: 1_000)
    _ = try f.startRun()
    #expect(try f.texts(due) == [String](repeating: "\(nowMs + 20_000)", count: 3))
  }

  /// A failure of the network, and one of the server.
  @Test func afterASleepOnlyWaitsOfTheNetworkAreOver() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let codes: [ErrorCode] = [.netReset, .http503, .netTimeout]
    let files = try codes.map { try f.add($0.rawValue, size: 20, to: batch) }
    let run = try f.startRun()
    let dueMs = f.clock.wallMs + 20_000
    let due = "SELECT coalesce(not_before, 0) > 0 FROM file UNION ALL SELECT state = 'waiting' FROM chunk WHERE seq = 0"
    let ended: [FileID?] = try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(run) }
      for (file, code) in zip(files, codes) {
        let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
        var failed = result(.retry)
        failed.code = code
        _ = try tx.closeAttempt(chunk.attempt, run, failed)
        _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: dueMs)
        _ = try tx.releaseFile(file, run, notBeforeMs: dueMs, code: nil, isFailure: true)
      }
      let first = try tx.endNetworkWaits(run, after: nil, limit: 1)
      return [first?.file, try tx.endNetworkWaits(run, after: first, limit: 5)?.file]
    }
    #expect(ended == [files[0], nil])
    #expect(try f.texts(due) == ["0", "1", "0", "0", "1", "0"])
  }

  @Test func aRunKeepsBothClocks() throws {
    let f = try LedgerFixture()
    let run = try f.ledger.startRun(NewRun(argv: [], version: "", host: "h", bootID: "b", pid: 1, bootMs: 500))
    let beatMs = f.clock.wallMs + 30 * 86_400_000
    _ = try f.ledger.write { try $0.heartbeat(run, civilMs: beatMs, bootMs: 5_500) }
    #expect(
      try f.texts("SELECT heartbeat_at - started_at, heartbeat_boot_ms - started_boot_ms FROM v_runs") == [
        "2592000000 5000"
      ])
  }
}
