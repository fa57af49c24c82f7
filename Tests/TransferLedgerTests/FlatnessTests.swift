import CSQLite
import Testing
import TransferModel

@testable import TransferLedger

/// Work on the same rows takes the same number of steps of SQLite's virtual machine in a ledger with ten times the
/// history. A plan that says SEARCH may still read everything; the number of steps reveals it.
@Suite struct FlatnessTests {
  @Test func theSameWorkTakesTheSameStepsHoweverMuchHistoryThereIs() throws {
    let (few, many) = (try Self.steps(history: 30), try Self.steps(history: 300))
    #expect(few.count > 60)
    for (text, steps) in many {
      let before = few[text] ?? 0
      #expect(steps <= before + before / 2 + 100, "\(before) steps became \(steps): \(text)")
    }
  }

  /// The steps of every statement of a typical day, next to `history` files in each state at rest.
  private static func steps(history: Int) throws -> [String: Int] {
    let f = try LedgerFixture()
    try fill(f, history)
    _ = try counted(f)
    try live(f)
    var sum = try counted(f)
    // Opening a ledger is work, too.
    try f.restart()
    sum.merge(try counted(f), uniquingKeysWith: +)
    return sum
  }

  /// The steps since the last call, for the statements of both connections.
  private static func counted(_ f: LedgerFixture) throws -> [String: Int] {
    var sum = try f.ledger.write { tx in Self.counted(tx.db) }
    sum.merge(try f.ledger.read { Self.counted($0.db) }, uniquingKeysWith: +)
    return sum
  }

  private static func counted(_ db: Connection) -> [String: Int] {
    var sum: [String: Int] = [:]
    var next = sqlite3_next_stmt(db.db, nil)
    while let statement = next {
      let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
      sum[String(cString: sqlite3_sql(statement)), default: 0] += Int(steps)
      next = sqlite3_next_stmt(db.db, statement)
    }
    return sum
  }

  /// Adds files that are done, failed with a part on the server, cancelled, unknown, paused, hidden, or in a long
  /// backoff, each with its chunks, attempts, session and events.
  private static func fill(_ f: LedgerFixture, _ count: Int) throws {
    let batch = try f.makeBatch("put:history", priority: 0)
    let run = try f.startRun()
    let names = (0..<count * 6).map { "h\($0)" }
    try f.ledger.write { tx in
      for name in names { _ = try tx.admit(LedgerFixture.source(name, size: 20), to: batch) }
    }
    try f.ledger.write { tx in
      let ids = try tx.claimFiles(run, limit: names.count).map(\.id)
      for (i, id) in ids.enumerated() { try past(tx, run, id, i % 6) }
    }
    _ = try f.ledger.control(.pause(now: false), .files((try files(f, "pending")).suffix(count)))
    _ = try f.ledger.control(.cancel, .files((try files(f, "unknown")).suffix(count / 2)))
    _ = try f.ledger.control(.clean(failed: false), .files((try files(f, "cancelled")).suffix(count / 4)))
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    try f.ledger.write { tx in
      for _ in 0..<count { _ = try tx.endRun(try tx.beginRun(LedgerFixture.newRun), how: "done") }
    }
  }

  private static func files(_ f: LedgerFixture, _ state: String) throws -> [FileID] {
    try f.texts("SELECT id FROM file WHERE state = '\(state)' ORDER BY id").compactMap(Int64.init).map(
      FileID.init(rawValue:))
  }

  private static func past(_ tx: LedgerTransaction, _ run: RunID, _ id: FileID, _ kind: Int) throws {
    _ = try tx.plan(id, run, ChunkLayout(size: 20, chunkSize: 10))
    let session = try tx.intendSession(id, run)
    _ = try tx.openSession(session, run, remoteID: "past\(id)", expiresAtMs: nil)
    switch kind {
    case 0, 1:
      try tx.sendAll(id, run)
      _ = try tx.completeFile(id, run, proof)
    case 2, 3:
      let chunk = try tx.beginChunks(id, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.fatal))
      _ = try tx.failChunk(chunk.id, chunk.attempt)
      _ = try tx.failFile(id, run, code: .http403, message: "no", keepsSession: kind == 2)
    case 4:
      let chunk = try tx.beginChunks(id, run, limit: 1, isRepeatable: false)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(id, run, code: .protoLostAnswer, message: "lost")
    default: _ = try tx.releaseFile(id, run, notBeforeMs: 1 << 60, code: .http5xx, isFailure: true)
    }
  }

  /// The work of one day by an engine and a person.
  private static func live(_ f: LedgerFixture) throws {
    let mark = try f.ledger.read { try $0.addedMark() }
    let target = f.target("put:today")
    let page = f.page((0..<12).map { "t\($0)" })
    let admitted = try f.ledger.write { try $0.admit(page, to: target) }
    let batch = try #require(admitted.batch)
    let again = f.target("put:today")
    _ = try f.ledger.write { try $0.admit(page, to: again) }
    let added = AddedFiles(since: mark, batch: batch, files: admitted.files)
    _ = try f.ledger.read { try $0.totals(of: added, nowMs: 0) }
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.recover(run) }
    let files = try f.ledger.write { try $0.claimFiles(run, limit: 8) }.map(\.id)
    try f.ledger.write { tx in try work(tx, run, files) }
    try people(f, run, batch)
    try f.ledger.read { reader in
      _ = try (reader.controlState(nowMs: 5), reader.nextDueMs(), reader.isAnythingLeft(), reader.changeMark())
      _ = try (reader.hasReadyFiles(without: [batch]), reader.batchSettings(batch), reader.newestNumbers())
      _ = try (reader.firstSettlingFile(), reader.removals(ofJob: "today", keptSinceMs: 0))
    }
    _ = try f.ledger.write { (try $0.heartbeat(run), try $0.endRun(run, how: "done")) }
    let next = try f.startRun()
    _ = try f.ledger.write { (try $0.recover(next), try $0.endRun(next, how: "done")) }
  }

  private static func work(_ tx: LedgerTransaction, _ run: RunID, _ files: [FileID]) throws {
    for id in files.prefix(6) { _ = try tx.plan(id, run, ChunkLayout(size: 10, chunkSize: 5)) }
    for id in files.prefix(5) {
      let create = try tx.beginAttempt(id, run, .create, session: try tx.intendSession(id, run), isRepeatable: true)
      _ = try tx.closeAttempt(create, run, ok)
    }
    try tx.sendAll(files[0], run)
    _ = try tx.startFinishing(files[0], run)
    _ = try tx.completeFile(files[0], run, proof)
    let chunks = try tx.beginChunks(files[1], run, limit: 2, isRepeatable: true)
    for chunk in chunks { _ = try tx.closeAttempt(chunk.attempt, run, result(.retry)) }
    _ = try tx.retryChunk(chunks[0].id, chunks[0].attempt, notBeforeMs: tx.wallMs)
    _ = try tx.advanceChunk(chunks[1].id, chunks[1].attempt, acked: 2)
    _ = try tx.releaseFile(files[1], run, notBeforeMs: tx.wallMs, code: nil, isFailure: false)
    _ = try tx.failFile(files[2], run, code: .http403, message: "no", keepsSession: false)
    _ = try tx.markUnknown(files[3], run, code: .protoLostAnswer, message: "lost")
    let identity = SourceIdentity(size: 11, mtimeNs: 2, ctimeNs: 2, inode: 9, device: 3)
    _ = try tx.supersede(files[4], run, by: identity, notBeforeMs: nil)
    _ = try tx.knownSessions(["past3", "nobody's"])
    _ = try tx.claimAborts(run, limit: 2)
    _ = try tx.claimFiles(run, limit: 1)
  }

  private static func people(_ f: LedgerFixture, _ run: RunID, _ batch: BatchID) throws {
    var change = BatchChange()
    (change.priority, change.deadlineMs) = (3, .to(5))
    _ = try f.ledger.changeBatches(.batch(batch), change)
    _ = try f.markOverdue(batch)
    for verb in [
      ControlVerb.pause(now: true), .resume, .cancel, .retry(startsOver: false), .retry(startsOver: true),
      .clean(failed: true),
      .remove,
    ] {
      _ = try f.ledger.control(verb, .batch(batch))
    }
    let sessions = try f.texts("SELECT max(id) FROM session").compactMap(Int64.init).map(SessionID.init(rawValue:))
    _ = try f.ledger.write { try $0.giveUpAbandonedSessions(sessions) }
  }
}
