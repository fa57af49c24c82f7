import Testing
import TransferModel

@testable import TransferLedger

/// Upload sessions that no longer belong to a transfer.
@Suite struct AbandonedSessionTests {
  /// Files a (active), b (failed, its session kept), c (failed, its session given up), d (paused), each with a session.
  private func scene() throws -> (LedgerFixture, RunID) {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    for name in ["a", "b", "c", "d"] { _ = try f.add(name, size: 20, to: batch) }
    let run = try f.startRun()
    try f.ledger.write { tx in
      for _ in 0..<4 {
        let file = try tx.claimAndPlan(run)
        let session = try tx.intendSession(file.id, run)
        _ = try tx.openSession(session, run, remoteID: "up\(file.id)", expiresAtMs: nil)
      }
      let chunk = try tx.beginChunks(FileID(rawValue: 2), run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      for (id, keeps) in [(Int64(2), true), (3, false)] {
        _ = try tx.failFile(FileID(rawValue: id), run, code: .http5xx, message: "no", keepsSession: keeps)
      }
      _ = try tx.control(.pause(now: true), .files([FileID(rawValue: 4)]))
      _ = try tx.releaseFile(FileID(rawValue: 4), run, notBeforeMs: nil, code: nil, isFailure: false)
    }
    return (f, run)
  }

  private func abandonedSessions(_ f: LedgerFixture, _ filter: RowFilter = RowFilter()) throws -> [AbandonedSessionRow]
  {
    try f.ledger.read { try $0.abandonedSessions(filter, after: 0, limit: 100) }
  }

  @Test func onlySessionsOfFilesAtRestAndThoseThatWaitForTheirEndAreListed() throws {
    let (f, _) = try scene()
    let rows = try abandonedSessions(f)
    #expect(rows.map(\.file.rawValue) == [2, 3])
    #expect(rows.map { $0.abortAfterMs != nil } == [false, true])
    #expect(rows.map(\.bytesAcked) == [10, 0])
    #expect(try abandonedSessions(f, .files([FileID(rawValue: 3)])).map(\.file.rawValue) == [3])
    var only = RowFilter()
    only.sessions = [rows[0].id.rawValue...rows[0].id.rawValue]
    #expect(try abandonedSessions(f, only) == [rows[0]])
    only.sessions = [1_000...2_000]
    #expect(try abandonedSessions(f, only) == [])
    #expect(try f.texts("SELECT state FROM file WHERE id = 4") == ["paused"])
  }

  /// They are on the server all the same: an empty list of abandoned sessions does not mean that nothing is left there.
  @Test func sessionsOfFilesThatHaveNotEndedAreCounted() throws {
    let (f, _) = try scene()
    #expect(try f.ledger.read { try $0.sessionsInUse(RowFilter()) } == 2, "of the active and of the paused file")
    #expect(try f.ledger.read { try $0.sessionsInUse(.files([FileID(rawValue: 4)])) } == 1)
    #expect(try f.ledger.read { try $0.sessionsInUse(.files([FileID(rawValue: 2)])) } == 0)
    var only = RowFilter()
    only.sessions = [1_000...2_000]
    #expect(try f.ledger.read { try $0.sessionsInUse(only) } == 0)
  }

  private static var lostAnswer: AttemptResult {
    var lost = result(.retry)
    lost.mayHaveArrived = true
    return lost
  }

  private static var listAnswer: AttemptResult {
    var listed = ok
    listed.httpStatus = 200
    return listed
  }

  /// Files whose first request lost its answer: a list of sessions was requested for b, but not for the others.
  @Test func creationsThatLostTheirAnswerAreCounted() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    for name in ["a", "b", "c"] { _ = try f.add(name, size: 20, to: batch) }
    let run = try f.startRun()
    let (lost, listed) = (Self.lostAnswer, Self.listAnswer)
    try f.ledger.write { tx in
      for n in 0..<3 {
        let file = try tx.claimAndPlan(run).id
        let session = try tx.intendSession(file, run)
        if n < 2 {
          let create = try tx.beginAttempt(file, run, .create, session: session, isRepeatable: true)
          _ = try tx.closeAttempt(create, run, lost)
        } else {
          let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
          _ = try tx.closeAttempt(chunk.attempt, run, lost)
          _ = try tx.releaseChunk(chunk.id, chunk.attempt)
        }
        if n == 1 {
          let probe = try tx.beginAttempt(file, run, .probe, session: session, isRepeatable: true)
          _ = try tx.closeAttempt(probe, run, listed)
        }
      }
    }
    f.clock.advance(ms: 10)
    try f.ledger.write { tx in
      for session in [1, 2, 3] as [Int64] {
        _ = try tx.openSession(SessionID(rawValue: session), run, remoteID: "u\(session)", expiresAtMs: nil)
      }
      let chunk = try tx.beginChunks(FileID(rawValue: 1), run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, lost)
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
    }
    #expect(try f.ledger.read { try $0.lostCreations(RowFilter()) } == 2)
    #expect(try f.ledger.read { try $0.lostCreations(.files([FileID(rawValue: 2)])) } == 0)
  }

  /// Some servers derive the name of an upload from that of its file, and give it again after a failure or for the next
  /// version: an abort of the earlier upload would remove what the later one has stored.
  @Test(arguments: [false, true]) func anUploadWhoseNameWasGivenAgainIsNotAborted(isCompleted: Bool) throws {
    let f = try LedgerFixture()
    let file = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "up", expiresAtMs: nil)
      try tx.giveUpSession(file, run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "up", expiresAtMs: nil)
      guard isCompleted else { return }
      try tx.sendAll(file, run)
      _ = try tx.completeFile(file, run, proof)
    }
    #expect(try f.findings() == [])
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 10) }.isEmpty)
    #expect(try f.texts("SELECT state FROM session ORDER BY id") == ["gone", isCompleted ? "completed" : "open"])
    #expect(try f.findings() == [])
  }

  @Test func nothingIsAbortedWhileItsNameMayBeGivenAgain() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    let next = try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "up", expiresAtMs: nil)
      try tx.giveUpSession(file, run)
      return try tx.intendSession(file, run)
    }
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 10) }.isEmpty)
    _ = try f.ledger.write { try $0.openSession(next, run, remoteID: "other", expiresAtMs: nil) }
    #expect(try f.ledger.write { try $0.claimAborts(run, limit: 10) }.map(\.remoteID) == ["up"])
  }

  @Test func whatIsGivenUpIsEndedByTheNextPassAndNothingElse() throws {
    let (f, run) = try scene()
    #expect(try f.ledger.write { try $0.giveUpAbandonedSessions(RowFilter()) } == 2)
    let works = try f.ledger.write { try $0.claimAborts(run, limit: 10) }
    #expect(Set(works.compactMap(\.remoteID)) == ["upf2", "upf3"])
    #expect(try f.findings() == [])
    try f.ledger.write { tx in
      for work in works {
        _ = try tx.closeAttempt(try #require(work.attempt), run, result(.retry))
        _ = try tx.endSession(work.session, work.file.rawValue == 2 ? .aborted : .gone)
      }
    }
    #expect(try abandonedSessions(f) == [])
    #expect(try f.ledger.write { try $0.giveUpAbandonedSessions(RowFilter()) } == 0)
  }

  @Test func aFileWhoseSessionWasGivenUpBeginsAnewWhenItIsRetried() throws {
    let (f, run) = try scene()
    let filter = RowFilter.files([FileID(rawValue: 2)])
    try f.ledger.write { tx in
      _ = try tx.giveUpAbandonedSessions(filter)
      _ = try tx.retryFiles(filter, startsOver: false)
      let claimed = try tx.claimFiles(run, limit: 1)[0]
      #expect(claimed.id.rawValue == 2 && claimed.session == nil && claimed.doneChunks == 0 && claimed.doneBytes == 0)
    }
  }

  @Test func whatIsEndedIsWhatTheSessionHeldAndNotWhatItsSuccessorHolds() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      for (round, url) in ["old", "new"].enumerated() {
        _ = round == 0 ? try tx.claimAndPlan(run) : try tx.claimFiles(run, limit: 1)[0]
        _ = try tx.beginOwnSession(file, run, remoteID: "mine\(round)", notes: ["mode": "concat"])
        let opening = ChunkOpening(prepares: true, probesUncertain: false)
        let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true, opening: opening)[0]
        _ = try tx.closeAttempt(chunk.attempt, run, ok)
        _ = try tx.prepareChunk(chunk.id, chunk.attempt, remote: ["url": url])
        guard round == 0 else { continue }
        try tx.giveUpSession(file, run)
        _ = try tx.resetChunks(file, run)
        _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false)
      }
      let works = try tx.claimAborts(run, limit: 9)
      #expect(works.map(\.remotes) == [[["url": "old"]]])
    }
  }

  @Test func theListIsReadFromTheIndexesOfLiveSessions() throws {
    let (f, _) = try scene()
    let plan = try f.texts("EXPLAIN QUERY PLAN " + "\(LedgerReader.abandonedSessions)".replacingFilter())
    #expect(plan.contains { $0.contains("session_live") } && plan.contains { $0.contains("session_abort") })
    #expect(!plan.contains { $0.contains("SCAN s") && !$0.contains("USING") }, "\(plan)")
  }
}

extension String {
  fileprivate func replacingFilter() -> String {
    split(separator: "{files}", omittingEmptySubsequences: false).joined(separator: "f.id BETWEEN 0 AND 99")
  }
}
