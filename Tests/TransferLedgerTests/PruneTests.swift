import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// A prune deletes history; receipts, the sums of what was deleted, and the log stay.
@Suite struct PruneTests {
  let f: LedgerFixture
  static let day: Int64 = 86_400_000

  init() throws { f = try LedgerFixture() }

  /// Prunes what ended more than `days` ago.
  func prune(days: Int64 = 1) throws -> PruneOutcome {
    try f.ledger.prune(before: f.clock.wallMs - days * Self.day)
  }

  private func counts() throws -> [String] {
    try ["file", "receipt", "chunk", "attempt", "session", "sent_body"].map {
      try f.texts("SELECT count(*) FROM \($0)")[0]
    }
  }

  @Test func theRequestsOfDoneFilesGoAndTheirReceiptsStay() throws {
    try LogTests.send(f, 12)
    #expect(try counts() == ["12", "12", "12", "13", "0", "0"])
    f.clock.advance(ms: 2 * Self.day)
    let told = try f.ledger.pruneOutcome(before: f.clock.wallMs - Self.day)
    let outcome = try prune()
    #expect(told.pruned == outcome.pruned && told.bytesFreed == nil && told.kept == 0)
    #expect(outcome.pruned.histories == 12 && outcome.pruned.attempts == 13 && outcome.pruned.chunks == 12)
    #expect(try counts() == ["12", "12", "0", "0", "0", "0"])
    #expect(try f.findings() == [])
    #expect(try f.ledger.read { try $0.lossProof(RowFilter()) }.violations == [])
    #expect(try f.ledger.read { try $0.lossProof(RowFilter()) }.pruned == 12)
    #expect(try prune().pruned == PruneOutcome.Rows())
    #expect(try f.events(RowFilter()).filter { $0.hasPrefix("pruned") }.count == 1)
  }

  @Test func whatIsPushedAgainIsUnchangedAndNumbersGoOn() throws {
    try LogTests.send(f, 3)
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    let batch = try f.makeBatch()
    #expect(try f.admit("f1", to: batch) == .unchanged(FileID(rawValue: 2)))
    guard case .added(let next, _) = try f.admit("f1", version: 2, to: batch) else { throw Surprise("not added") }
    #expect(next.rawValue == 4)
    #expect(try f.texts("SELECT generation FROM file WHERE id = 4") == ["2"])
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      _ = try tx.completeFile(file.id, run, proof)
    }
    #expect(try f.texts("SELECT id FROM attempt") == ["5"])
    #expect(try f.findings() == [])
  }

  /// Files that may still be resumed, in every such state, and a file that ended too recently.
  @Test func whatMayGoOnIsNotTouched() throws {
    let batch = try f.makeBatch()
    for name in ["failed", "paused", "unknown", "open", "waiting", "active"] { _ = try f.add(name, to: batch) }
    let run = try f.startRun()
    try f.ledger.write { tx in
      for n in 0..<3 {
        let file = try tx.claimAndPlan(run).id
        let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: n != 2)[0]
        _ = try tx.closeAttempt(chunk.attempt, run, result(n == 2 ? .unknown : .fatal, mayHaveArrived: n == 2))
        switch n {
        case 0:
          _ = try tx.failFile(file, run, code: .http413, message: "no", keepsSession: false)
        default: _ = try tx.releaseChunk(chunk.id, chunk.attempt)
        }
      }
    }
    let before = try counts()
    f.clock.advance(ms: 100 * Self.day)
    #expect(try prune().pruned == PruneOutcome.Rows())
    #expect(try counts() == before)
    try LogTests.send(f, 1)
    #expect(try prune().pruned == PruneOutcome.Rows())
  }

  @Test func aReplacedGenerationGoesWholeAndTheNewestStays() throws {
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    for version in 2...4 {
      f.clock.advance(ms: 10)
      _ = try f.admit("a", version: Int64(version), to: batch)
    }
    #expect(
      try f.texts("SELECT generation, state FROM file") == [
        "1 superseded", "2 superseded", "3 superseded", "4 pending",
      ])
    f.clock.advance(ms: 2 * Self.day)
    #expect(try prune().pruned.files == 3)
    #expect(try f.texts("SELECT generation, state FROM file") == ["4 pending"])
    #expect(try f.findings() == [])
    guard case .added(let id, _) = try f.admit("a", version: 9, to: batch) else { throw Surprise("not added") }
    #expect(id.rawValue == 5)
    #expect(try f.texts("SELECT generation FROM file WHERE id = 5") == ["5"])
    #expect(try f.ledger.read { try $0.firstPruned(.files([2...2])) }?.id == "f2")
    #expect(try f.ledger.read { try $0.firstPruned(.files([4...4])) } == nil)
  }

  /// Seals and receipts that were issued before a prune still verify, and so do later ones.
  /// A killed run ended with the newest thing that it recorded, which is pruned here.
  @Test func aKilledRunKeepsItsEnd() throws {
    _ = try f.add("a", to: f.makeBatch())
    let dead = try f.startRun()
    f.clock.advance(ms: 1_500)
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(dead).id
      _ = try tx.beginChunks(file, dead, limit: 1, isRepeatable: true)
    }
    f.clock.advance(ms: 60_000)
    try f.restart()
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.recover(run)
      guard let file = try tx.claimFiles(run, limit: 1).first?.id else { throw Surprise("a") }
      try tx.sendAll(file, run)
      _ = try tx.completeFile(file, run, proof)
      _ = try tx.endRun(run, how: "done")
    }
    func ends() throws -> [Int64] { try f.ledger.read { try $0.runLives(TimeSpan(.min, .max)) }.map(\.lastMs) }
    let before = try ends()
    f.clock.advance(ms: 2 * Self.day)
    #expect(try prune().pruned.histories == 1)
    #expect(try ends() == before && before[1] - before[0] == 60_000)
  }

  @Test func theLogGoesOnToVerify() throws {
    try LogTests.sendCredited(f)
    try LogTests.send(f, 5)
    let prover = try f.ledger.logProver(withReceipts: true)
    let before = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 9, by: prover) }.receipts
    f.clock.advance(ms: 2 * Self.day)
    #expect(try prune().pruned.attempts == 8)
    #expect(try f.ledger.compare(seal: prover.seal.note).findings == [])
    let again = try #require(try f.ledger.logProver(sealedAs: prover.seal.note).prover)
    let after = try f.ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 9, by: again) }.receipts
    #expect(before.count == 6 && before.map(\.proof) == after.map(\.proof) && before.map(\.leaf) == after.map(\.leaf))
    let later = try f.ledger.logProver(withReceipts: true)
    #expect(try f.ledger.consistency(from: prover.seal.note, to: later).proof != nil)
  }

  // MARK: - Changes by other programs

  @Test(arguments: [
    "DELETE FROM attempt WHERE id = 2", "DELETE FROM chunk WHERE id = 2", "DELETE FROM file WHERE id = 2",
    "DELETE FROM pruned_sum", "DELETE FROM pruned_range", "DELETE FROM pruned_file", "DELETE FROM prune",
    "UPDATE pruned_sum SET ok = ok + 1", "UPDATE pruned_range SET last_id = last_id + 1",
    "UPDATE pruned_file SET attempts = 9", "UPDATE prune SET before_at = 0",
    // A range must belong to the newest prune and name only files that have ended; the shell cannot extend an earlier
    // prune.
    "INSERT INTO pruned_range VALUES ('attempt', 14, 14, 1)", "INSERT INTO pruned_range VALUES ('history', 13, 13, 1)",
    "INSERT INTO prune (event_id, at, before_at) VALUES (1, 1, 1)",
  ])
  func theShellIsRefused(_ sql: String) throws {
    try LogTests.send(f, 12)
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    let file = try f.add("later", to: try f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      try tx.sendAll(file, run)
    }
    #expect(file.rawValue == 13)
    guard sql.hasPrefix("DELETE FROM attempt") || sql.contains("chunk") || sql.contains("FROM file") else {
      #expect(throws: SQLiteError.self) { try f.shell(sql) }
      return
    }
    #expect(throws: SQLiteError.self) { try f.shell(sql.replacing("id = 2", with: "id >= 13")) }
  }

  /// With any one of the triggers dropped, at least one of the statements passes.
  @Test func everyTriggerIsNeeded() throws {
    try LogTests.send(f, 12)
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    try LogTests.send(f, 3, as: "g")
    _ = try f.add("later", to: try f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.intendSession(file.id, run)
      _ = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)
    }
    let statements = [
      "INSERT INTO prune (event_id, at, before_at) VALUES (1, 1, 1)", "UPDATE prune SET before_at = 0",
      "DELETE FROM prune",
      "INSERT INTO pruned_range VALUES ('attempt', 1, 1, 1)", "INSERT INTO pruned_range VALUES ('history', 16, 16, 1)",
      "INSERT INTO pruned_range VALUES ('attempt', 14, 14, 1)", "INSERT INTO pruned_range VALUES ('chunk', 13, 13, 1)",
      "INSERT INTO pruned_range VALUES ('session', 1, 1, 1)", "INSERT INTO pruned_range VALUES ('history', 5, 6, 1)",
      "UPDATE pruned_range SET last_id = last_id + 1", "DELETE FROM pruned_range",
      "INSERT INTO pruned_file VALUES (13, 1, 1, 0, 0)", "UPDATE pruned_file SET attempts = 9",
      "DELETE FROM pruned_file",
      "UPDATE pruned_sum SET ok = ok + 1", "DELETE FROM pruned_sum",
      """
      INSERT OR REPLACE INTO pruned_sum SELECT id, prune_id, batch_id, run_id, quarter, files, ok, retry, fatal, unknown,
        interrupted, crashed, 0, 0, 0, first_at, last_at, errors, latencies, active, 0, 0, 0, 0, backoff, connects,
        first_bytes, statuses, versions, after_end FROM pruned_sum
      """,
    ]
    let shell = try Connection(path: f.path, access: .readWrite)
    let triggers = try shell.rowsOnce(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'prune%'"
    ) { $0.text(0) }
    #expect(triggers.count == 16)
    for trigger in ["none_of_them"] + triggers {
      try shell.execute("BEGIN; DROP TRIGGER IF EXISTS \(trigger)")
      let passed = statements.filter { sql in
        _ = try? shell.execute("SAVEPOINT one")
        defer { try? shell.execute("ROLLBACK TO one; RELEASE one") }
        return (try? shell.execute(sql)) != nil
      }
      try shell.execute("ROLLBACK")
      #expect(passed.isEmpty == (trigger == "none_of_them"), "\(trigger): \(passed)")
    }
  }

  /// A prune that never happened is recorded by hand, and the rows that it names are deleted.
  @Test func aPruneFromTheShellIsFound() throws {
    try LogTests.send(f, 12)
    f.clock.advance(ms: 2 * Self.day)
    try f.shell(
      """
      PRAGMA foreign_keys = OFF;
      INSERT INTO event (at, verb, detail) VALUES (\(f.clock.wallMs), 'pruned', 'history');
      INSERT INTO prune (event_id, at, before_at) SELECT id, at, at FROM event WHERE verb = 'pruned';
      INSERT INTO pruned_range VALUES ('history', 2, 2, 1);
      INSERT INTO pruned_file VALUES (2, 1, 10, 0, 0);
      INSERT INTO pruned_range VALUES ('attempt', 3, 3, 1);
      DELETE FROM attempt WHERE id = 3
      """)
    let findings = try f.findings()
    #expect(findings.contains { $0.hasPrefix("I51") && $0.contains("prune 1 is not in the log") })
    #expect(findings.contains { $0.hasPrefix("I53") && $0.hasSuffix("prune 1") })
  }

  /// Even in a ledger from which a prune deleted much.
  @Test(arguments: ["attempt", "file", "chunk", "pruned_sum", "prune", "pruned_file", "pruned_range"])
  func whatIsTakenAwayByHandIsFound(_ table: String) throws {
    try LogTests.send(f, 12)
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    try LogTests.send(f, 13, as: "g")
    #expect(try f.findings() == [])
    let db = try Connection(path: f.path, access: .readWrite)
    try db.execute("PRAGMA foreign_keys=OFF")
    for name in try db.rowsOnce("SELECT name FROM sqlite_schema WHERE type = 'trigger'", row: { $0.text(0) }) {
      try db.execute("DROP TRIGGER \(name)")
    }
    let row = table.hasPrefix("prune") ? "1" : "id IN (SELECT min(id) FROM \(table) WHERE id > 12)"
    try db.execute("DELETE FROM \(table) WHERE \(row)")
    #expect(try f.findings().contains { !$0.hasPrefix("I46") && !$0.hasPrefix("I01") }, "\(table)")
  }

  @Test func aPrunedLedgerIsNotTakenForACopy() throws {
    try LogTests.send(f, 4)
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    #expect(try f.texts("SELECT count(*) FROM attempt") == ["0"])
    try f.restart()
    #expect(f.ledger.copyFinding == nil)
  }

  @Test func aTimeThatIsToComeIsRefused() throws {
    #expect(throws: TransferError.self) { try f.ledger.prune(before: f.clock.wallMs + 1) }
    #expect(throws: TransferError.self) { try f.ledger.pruneOutcome(before: f.clock.wallMs + 1) }
  }

  /// A prune keeps what it did before a crash, and the next prune does the rest. Between any two transactions the
  /// ledger is sound, and its reports are the same.
  @Test func whatDiesInBetweenGoesOn() throws {
    try LogTests.send(f, 9)
    f.clock.advance(ms: 2 * Self.day)
    let figures = try PrunedFigures(f, RowFilter())
    let beforeMs = f.clock.wallMs - Self.day
    for first in [1, 4, 7] as [Int64] {
      _ = try f.ledger.writeUnreferenced {
        try $0.prune([first, first + 1].map { FileID(rawValue: $0) }, before: beforeMs, partOf: nil)
      }
      try f.restart()
      #expect(try f.findings() == [])
      #expect(try PrunedFigures(f, RowFilter()) == figures)
    }
    #expect(try prune().pruned.histories == 3)
    #expect(try f.findings() == [])
    #expect(try PrunedFigures(f, RowFilter()) == figures)
  }

  /// A failed transaction deletes nothing.
  @Test func aTransactionThatFailsDeletesNothing() throws {
    try LogTests.send(f, 5)
    f.clock.advance(ms: 2 * Self.day)
    let (before, beforeMs) = (try counts(), f.clock.wallMs - Self.day)
    #expect(throws: (any Error).self) {
      try f.ledger.writeUnreferenced { tx in
        _ = try tx.prune((1...5).map { FileID(rawValue: $0) }, before: beforeMs, partOf: nil)
        throw Surprise("no")
      }
    }
    #expect(try counts() == before)
    #expect(try f.findings() == [])
    // The next transaction checks foreign keys again.
    #expect(try f.ledger.write { try $0.db.first("PRAGMA foreign_keys") { $0.int(0) } } == 1)
  }
}

extension RowFilter {
  fileprivate static func files(_ ranges: [ClosedRange<Int64>]) -> RowFilter {
    var filter = RowFilter()
    filter.files = ranges
    return filter
  }
}
