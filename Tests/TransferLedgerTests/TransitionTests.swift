import TransferModel
import Testing

@testable import TransferLedger

/// Every named transition from every state, compared with a golden table, so that a new transition is a visible change.
@Suite struct TransitionTests {
  /// State, then: claim, plan, startFinishing, resumeSending, completeFile, releaseFile, failFile, markUnknown,
  /// supersede, retryFiles. `+` applied, `=state` lost to it, `-` lost (no row of this run), `!` lease lost,
  /// `0` none taken.
  static let golden = """
    settling    0 =settling =settling =settling =settling =settling =settling =settling ! 0
    pending     + =pending =pending =pending =pending =pending =pending =pending ! 0
    waiting     0 =pending =pending =pending =pending =pending =pending =pending ! 0
    active      0 + =active =active =active + + + + 0
    planned     0 =active =active =active =active + + + + 0
    in_flight   0 =active =active =active =active =active =active =active refused 0
    sent        0 =active + =active + + + + + 0
    finishing   0 =finishing =finishing + + + + + + 0
    done        0 =done =done =done =done =done =done =done ! 0
    paused      0 =paused =paused =paused =paused =paused =paused =paused ! 0
    failed      0 =failed =failed =failed =failed =failed =failed =failed ! +
    cancelled   0 =cancelled =cancelled =cancelled =cancelled =cancelled =cancelled =cancelled ! +
    unknown     0 =unknown =unknown =unknown =unknown =unknown =unknown =unknown ! +
    superseded  0 =superseded =superseded =superseded =superseded =superseded =superseded =superseded ! 0
    foreign     ! - - - - - - - ! 0
    """

  /// A run that resumes after a suspension does not end an attempt that another run began.
  @Test func anAttemptIsEndedByItsOwnRun() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 10, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      let other = RunID(rawValue: run.rawValue + 1)
      #expect(try tx.closeAttempt(chunk.attempt, other, acked(10)) == .lost(to: nil))
      #expect(try tx.closeAttempt(chunk.attempt, run, acked(10)).isApplied)
    }
  }

  @Test(arguments: golden.split(separator: "\n").map(String.init))
  func fileTransitions(line: String) throws {
    let f = try LedgerFixture()
    let state = String(line.prefix { $0 != " " })
    let (file, run) = try Self.file(in: state, f)
    let outcomes = try Self.events.map { event in
      let probe: @Sendable (LedgerTransaction) throws -> String = { tx in throw Rollback(try event(tx, file, run)) }
      do {
        return try f.ledger.write(probe)
      } catch let error as TransferError {
        if error.kind == .leaseLost { return "!" }
        return error.cause.contains("open attempt") ? "refused" : error.cause
      }
    }
    let padding = String(repeating: " ", count: 12 - state.count)
    #expect(state + padding + outcomes.joined(separator: " ") == line)
    if state == "foreign" { return }
    #expect(try f.findings() == [])
  }

  private struct Rollback: Error, CustomStringConvertible {
    let description: String
    init(_ outcome: String) { description = outcome }
  }

  /// The conditions for the row in a transition of one chunk, one session, or one file that an engine holds are written
  /// only in ``RowGuard``, and a single statement closes attempts.
  @Test func theGuardOfARowStandsOnce() throws {
    let texts = try SourceStatement.all().map { $0.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    #expect(texts.count { $0.contains("{guard}") } >= 18)
    for text in texts where text.hasPrefix("UPDATE") && !text.contains("{guard}") {
      let isOfOneRow = text.contains("WHERE id = ?")
      #expect(!(isOfOneRow && text.contains("chunk SET state")), "\(text)")
      #expect(!(isOfOneRow && text.contains("session SET state")), "\(text)")
      #expect(!(isOfOneRow && text.contains("state IN ('active', 'finishing')")), "\(text)")
    }
    #expect(texts.filter { $0.contains("attempt SET outcome") }.count == 1)
  }

  private typealias Event = @Sendable (LedgerTransaction, FileID, RunID) throws -> String
  private static let events: [Event] = [
    { tx, file, run in try tx.claimFiles(run, limit: 1).isEmpty ? "0" : "+" },
    { tx, file, run in text(try tx.plan(file, run, ChunkLayout(whole: 10))) },
    { tx, file, run in text(try tx.startFinishing(file, run)) },
    { tx, file, run in text(try tx.resumeSending(file, run)) },
    { tx, file, run in text(try tx.completeFile(file, run, proof)) },
    { tx, file, run in text(try tx.releaseFile(file, run, notBeforeMs: nil, code: .netReset, isFailure: true)) },
    { tx, file, run in text(try tx.failFile(file, run, code: .http403, message: "m", keepsSession: false)) },
    { tx, file, run in text(try tx.markUnknown(file, run, code: .protoLostAnswer, message: "m")) },
    { tx, file, run in
      let next = LedgerFixture.source("a", version: 2).identity
      return try tx.supersede(file, run, by: next, notBeforeMs: nil) == file ? "same" : "+"
    },
    { tx, file, run in try tx.retryFiles(.files([file]), startsOver: false).changed.isEmpty ? "0" : "+" },
  ]

  private static func text(_ result: TransitionResult) -> String {
    switch result {
    case .applied: "+"
    case .lost(let state): state.map { "=" + $0 } ?? "-"
    }
  }

  /// Makes a file in a state through legal transitions; returns it and the run that holds it (or would).
  static func file(in state: String, _ f: LedgerFixture) throws -> (FileID, RunID) {
    let file = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    switch state {
    case "pending": break
    case "settling":
      let arrow = try f.texts("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'file_arrow'")
      try f.shell("DROP TRIGGER file_arrow; UPDATE file SET state = 'settling'; \(arrow[0])")
    case "waiting": try f.shell("UPDATE file SET not_before = 1 << 60")
    case "paused": try f.shell("UPDATE file SET state = 'paused'")
    case "cancelled": try f.shell("UPDATE file SET state = 'cancelled', live = NULL, finished_at = 1")
    default: try f.ledger.write { try advance($0, file, run, to: state) }
    }
    return (file, state == "foreign" ? RunID(rawValue: 99) : run)
  }

  private static func advance(_ tx: LedgerTransaction, _ file: FileID, _ run: RunID, to state: String) throws {
    _ = try tx.claimFiles(run, limit: 1)
    if state == "active" { return }
    _ = try tx.plan(file, run, ChunkLayout(whole: 10))
    switch state {
    case "planned", "foreign": break
    case "in_flight": _ = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)
    case "failed": _ = try tx.failFile(file, run, code: .http403, message: "m", keepsSession: false)
    case "unknown":
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: false)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(file, run, code: .protoLostAnswer, message: "m")
    case "superseded":
      _ = try tx.supersede(file, run, by: LedgerFixture.source("a", version: 2).identity, notBeforeMs: 1 << 60)
    default:
      try tx.sendAll(file, run)
      if state == "finishing" { _ = try tx.startFinishing(file, run) }
      if state == "done" { _ = try tx.completeFile(file, run, proof) }
    }
  }

  @Test func chunkTransitionsNeedTheirOpenOrClosedAttempt() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 50, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run).id
      let chunks = try tx.beginChunks(file, run, limit: 5, isRepeatable: true)
      for chunk in chunks { #expect(try tx.releaseChunk(chunk.id, chunk.attempt) == .lost(to: "in_flight")) }
      for chunk in chunks {
        _ = try tx.closeAttempt(chunk.attempt, run, chunk.facts.seq == 0 ? acked(10) : result(.retry))
      }
      #expect(try tx.closeAttempt(chunks[0].attempt, run, ok) == .lost(to: "ok"))
      #expect(try tx.storeChunk(chunks[0].id, chunks[0].attempt, part) == .applied)
      #expect(try tx.storeChunk(chunks[0].id, chunks[0].attempt, part) == .lost(to: "done"))
      #expect(try tx.retryChunk(chunks[1].id, chunks[1].attempt, notBeforeMs: 1 << 60) == .applied)
      #expect(try tx.retryChunk(chunks[1].id, chunks[1].attempt, notBeforeMs: 9) == .lost(to: "waiting"))
      #expect(try tx.releaseChunk(chunks[2].id, chunks[2].attempt) == .applied)
      #expect(try tx.releaseChunk(chunks[2].id, chunks[2].attempt) == .lost(to: "pending"))
      #expect(try tx.failChunk(chunks[3].id, chunks[3].attempt) == .applied)
      #expect(try tx.failChunk(chunks[3].id, chunks[3].attempt) == .lost(to: "failed"))
      #expect(try tx.chunkUnknown(chunks[4].id, chunks[4].attempt) == .applied)
      #expect(try tx.chunkUnknown(chunks[4].id, chunks[4].attempt) == .lost(to: "unknown"))
      #expect(try tx.storeChunk(ChunkID(rawValue: 77), chunks[0].attempt, part) == .lost(to: nil))
    }
    #expect(try f.texts("SELECT state FROM chunk ORDER BY seq") == ["done", "waiting", "pending", "failed", "unknown"])
    #expect(try f.findings() == [])
  }

  /// Only into shorter chunks, and only while nothing is stored, no request is running and no upload is open.
  @Test func aFileOfWhichNothingIsStoredMayBeCutAnew() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", size: 50, to: f.makeBatch())
    let run = try f.startRun()
    let (shorter, longer) = (ChunkLayout(size: 50, chunkSize: 8), ChunkLayout(size: 50, chunkSize: 25))
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run, chunkSize: 20).id
      #expect(try tx.recut(file, run, longer) == .lost(to: "active"))
      let session = try tx.intendSession(file, run)
      _ = try tx.openSession(session, run, remoteID: "u", expiresAtMs: nil)
      let lost = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      #expect(try tx.recut(file, run, shorter) == .lost(to: "active"), "a request is running")
      var result = result(.retry)
      result.bytesTransferred = 20
      _ = try tx.closeAttempt(lost.attempt, run, result)
      _ = try tx.retryChunk(lost.id, lost.attempt, notBeforeMs: 1 << 60)
      let rest = try tx.beginChunks(file, run, limit: 2, isRepeatable: true)
      _ = try tx.closeAttempt(rest[0].attempt, run, TransferLedgerTests.result(.interrupted))
      _ = try tx.releaseChunk(rest[0].id, rest[0].attempt)
      _ = try tx.closeAttempt(rest[1].attempt, run, acked(10))
      _ = try tx.storeChunk(rest[1].id, rest[1].attempt, part)
      try tx.giveUpSession(file, run)
      #expect(try tx.recut(file, run, shorter) == .lost(to: "active"), "one waits, and the last is stored")
      _ = try tx.resetChunks(file, run)
      #expect(try tx.recut(file, RunID(rawValue: 9), shorter) == .lost(to: nil))
      #expect(try tx.recut(file, run, shorter) == .applied)
      let chunks = try tx.beginChunks(file, run, limit: 9, isRepeatable: true)
      #expect(chunks.map(\.facts.range) == (0..<7).map(shorter.range))
      #expect(chunks[0].id == lost.id)
      _ = try tx.closeAttempt(chunks[0].attempt, run, acked(8))
      _ = try tx.storeChunk(chunks[0].id, chunks[0].attempt, part)
      for chunk in chunks.dropFirst() {
        _ = try tx.closeAttempt(chunk.attempt, run, TransferLedgerTests.result(.retry))
        _ = try tx.releaseChunk(chunk.id, chunk.attempt)
      }
      #expect(
        try tx.recut(file, run, ChunkLayout(size: 50, chunkSize: 5)) == .lost(to: "active"), "some of it is stored")
    }
    // 20 bytes of the first chunk were sent, and 10 of the third were acknowledged; these chunks are 8 bytes long now.
    #expect(try f.findings() == [])
  }

  @Test func aSessionEndsOnceAndStaysEnded() throws {
    let f = try LedgerFixture()
    _ = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run).id
      let session = try tx.intendSession(file, run)
      #expect(try tx.openSession(session, RunID(rawValue: 9), remoteID: "u", expiresAtMs: nil) == .lost(to: "intended"))
      #expect(try tx.openSession(session, run, remoteID: "u", expiresAtMs: nil) == .applied)
      #expect(try tx.openSession(session, run, remoteID: "v", expiresAtMs: nil) == .lost(to: "open"))
      #expect(try tx.endSession(session, .gone) == .applied)
      #expect(try tx.endSession(session, .gone) == .applied)
      #expect(try tx.endSession(session, .completed) == .lost(to: "gone"))
    }
  }

  @Test func aRunThatLostItsLeaseIsStopped() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let file = try f.add("a", to: batch)
    let old = try f.startRun()
    let chunk = try f.ledger.write { tx in
      _ = try tx.claimAndPlan(old)
      return try tx.beginChunks(file, old, limit: 1, isRepeatable: true)[0]
    }
    let new = try f.startRun()
    #expect(try f.ledger.write { try $0.heartbeat(old) } == .lost(to: "crashed"))
    #expect(throws: TransferError.self) { try f.ledger.write { try $0.claimFiles(old, limit: 1) } }
    _ = try f.ledger.write { try $0.recover(new) }
    #expect(try f.ledger.write { try $0.closeAttempt(chunk.attempt, old, ok) } == .lost(to: "crashed"))
    #expect(try f.ledger.write { try $0.storeChunk(chunk.id, chunk.attempt, part) } == .lost(to: "pending"))
    #expect(try f.ledger.write { try $0.endRun(new, how: "done") } == .applied)
    #expect(try f.ledger.write { try $0.endRun(new, how: "done") } == .lost(to: "done"))
  }
}
