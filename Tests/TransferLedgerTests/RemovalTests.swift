import TransferModel
import Testing

@testable import TransferLedger

/// What is done with a source begins with the receipt of its file, and not before.
@Suite struct RemovalTests {
  private let f: LedgerFixture
  private let run: RunID

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  private func batch(_ place: String, removes: Bool) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    if removes { settings.after = SourceRemoval(.delete, base: "/src") }
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place))
    }
  }

  private func finish() throws {
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
  }

  private func due() throws -> [FileID] {
    try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9).map(\.file) }
  }

  private func end(_ file: FileID, _ end: RemovalEnd) throws {
    try f.ledger.write { try $0.endRemovals([(file, end)], verb: "source-deleted") }
  }

  @Test func itBeginsWithTheReceipt() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    #expect(throws: (any Error).self) { try f.shell("INSERT INTO removal (file_id, recorded_at) VALUES (1, 0)") }
    #expect(try due().isEmpty)
    try finish()
    #expect(try due() == [a])
    #expect(try f.findings() == [])
  }

  @Test func whereSourcesAreKeptNothingBegins() throws {
    _ = try f.add("a", to: batch("put:one", removes: false))
    try finish()
    #expect(try due().isEmpty)
  }

  @Test func aPathThatAnotherBatchStillNeedsIsNotDue() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    let b = try f.add("a", to: batch("put:two", removes: false))
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(b, run, code: .http403, message: "no", keepsSession: false)
    }
    #expect(try due().isEmpty)
    _ = try f.ledger.write { try $0.retryFiles(RowFilter(), startsOver: false) }
    try finish()
    #expect(try due() == [a])
  }

  /// Its content is at the destination no more: only the source has it.
  @Test func whatWasReplacedAtTheDestinationIsKept() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    _ = try f.add("a", size: 20, to: batch("put:one", removes: false))
    try finish()
    let due = try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }
    #expect(due.map(\.file) == [a] && due.allSatisfy(\.isLost), "\(due)")
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
  }

  @Test func itIsDoneOnlyAfterItWasBegun() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    #expect(throws: (any Error).self) { try end(a, .done) }
    #expect(try f.ledger.write { try $0.beginRemovals([a]) } == [a])
    try end(a, .done)
    try end(a, .kept(.sourceChanged, "late"))
    #expect(try f.texts("SELECT state, attempts, cause FROM removal") == ["done 1 -"])
    #expect(try f.texts("SELECT verb FROM event WHERE verb LIKE 'source%'") == ["source-deleted"])
    #expect(throws: (any Error).self) { try f.shell("UPDATE removal SET state = 'pending', ended_at = NULL") }
    #expect(throws: (any Error).self) { try f.shell("DELETE FROM removal") }
    #expect(try f.findings() == [])
  }

  @Test func afterTenTriesItHasFailed() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    for _ in 1...LedgerTransaction.removalsAtMost {
      #expect(try due() == [a])
      _ = try f.ledger.write { try $0.beginRemovals([a]) }
      try end(a, .failed(.sourceDenied, "no"))
    }
    #expect(try due().isEmpty)
    #expect(try f.texts("SELECT state, attempts, cause FROM removal") == ["failed 10 source.denied"])
    let kept = try f.texts("SELECT count(*) FROM event WHERE verb = 'source-kept'")
    #expect(kept == ["2"], "when the reason is new, and at the end")
    #expect(try f.ledger.read { try $0.removalsLeft() } == (0, 1))
  }

  /// Looks, removals and scans of ``sourcesOfEachKind()``: what no program may do to them.
  private static let refused = [
    "INSERT INTO look VALUES (1, 1, 0, 1, NULL)", "INSERT INTO look VALUES (3, 1, 0, 1, NULL)",
    "UPDATE look SET file_id = 3", "INSERT OR REPLACE INTO look VALUES (2, 1, 0, 1, NULL)",
    "INSERT INTO removal (file_id, recorded_at) VALUES (2, 0)",
    "INSERT OR REPLACE INTO removal (file_id, recorded_at) VALUES (1, 0)",
    "INSERT INTO removal (file_id, state, attempts, recorded_at, ended_at) VALUES (3, 'done', 1, 0, 0)",
    "UPDATE removal SET recorded_at = 1", "UPDATE removal SET file_id = 3",
    "UPDATE removal SET state = 'done', attempts = 1, ended_at = 0", "DELETE FROM removal",
    "INSERT OR REPLACE INTO scan SELECT id, 'other', place, sources, completed_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM scan",
    "INSERT OR REPLACE INTO scan SELECT NULL, job, place, sources, completed_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM scan",
    "UPDATE scan SET job = 'other'", "UPDATE scan SET id = 7",
  ]

  /// File 1 is done and its source due for removal, 2 settles, 3 is pending; one scan.
  private func sourcesOfEachKind() throws {
    _ = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    var settings = BatchSettings(destination: "put:two")
    settings.settleMs = 60_000
    let batch = NewBatch(settings: settings, protocolName: "put", destination: "put:two")
    let target = AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
    var page = AdmissionPage()
    let identity = SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 5, device: 3, boot: 7)
    Array("/src/b".utf8).withUnsafeBytes { path in
      Array("b".utf8).withUnsafeBytes { page.append(path: path, key: $0, identity, mode: 0) }
    }
    _ = try f.ledger.write { [page, target] tx in try tx.admit(page, to: target) }
    _ = try f.add("c", to: f.makeBatch())
    let sources = ScannedSources(from: ["/src"], list: nil, rules: [])
    let scan = ScanRow(job: "nightly", place: "put:one", sources: sources, tookMs: 5, counts: SourceCounts())
    try f.ledger.write { try $0.noteScan(scan) }
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["done", "settling", "pending"])
  }

  @Test func theShellCannotBreakTheRules() throws {
    try sourcesOfEachKind()
    let shell = try Connection(path: f.path, access: .readWrite)
    for sql in Self.refused {
      let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
      #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
    }
    #expect(try f.findings() == [])
  }

  /// Without any one of the triggers at least one of the statements would pass.
  @Test func everyTriggerIsNeeded() throws {
    try sourcesOfEachKind()
    let shell = try Connection(path: f.path, access: .readWrite)
    let triggers = try shell.rowsOnce(
      """
      SELECT name FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%RAISE(%' AND tbl_name IN ('look', 'removal', 'scan')
      """
    ) { $0.text(0) }
    #expect(triggers.count == 7)
    for trigger in triggers {
      try shell.execute("BEGIN; DROP TRIGGER \(trigger)")
      let passed = Self.refused.contains { sql in
        try? shell.execute("SAVEPOINT one")
        defer { try? shell.execute("ROLLBACK TO one; RELEASE one") }
        return (try? shell.execute(sql)) != nil
      }
      try shell.execute("ROLLBACK")
      #expect(passed, "\(trigger)")
    }
  }

  @Test func theLastScanIsOneRow() throws {
    var counts = SourceCounts()
    for n in 1...3 {
      (counts.added, counts.unchanged) = (0, n)
      let scan = ScanRow(
        job: "nightly", place: "put:one", sources: ScannedSources(from: ["/src"], list: nil, rules: []), tookMs: 5,
        counts: counts)
      try f.ledger.write { try $0.noteScan(scan) }
      f.clock.advance(ms: 1_000)
    }
    let scans = try f.ledger.read { try $0.scans(ofJob: "nightly") }
    #expect(scans.count == 1 && scans[0].counts.unchanged == 3 && scans[0].sources.from == ["/src"])
    #expect(scans[0].completedMs == f.clock.wallMs - 1_000)
    #expect(try f.ledger.read { try $0.scans(ofJob: "other") }.isEmpty)
  }
}
