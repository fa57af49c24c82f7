import Testing
import TransferModel

@testable import TransferLedger

/// History rewritten by another program: refused while the schema is in force, and found by a named rule if the
/// schema's defences were dropped.
@Suite struct RewriteTests {
  /// Files: 1 done in two chunks, 2 active, 4 failed, 5 unknown, 7 done in one chunk, 8 the next generation of 7, also
  /// done.
  static let rewrites = [
    // batches and destinations
    ("I01", "DELETE FROM batch WHERE id = 1"),
    ("I39", "UPDATE batch SET destination = 'put:elsewhere' WHERE id = 1"),
    ("I39", "UPDATE batch SET settings = '{\"destination\":\"put:elsewhere\"}' WHERE id = 1"),
    ("I40", "UPDATE batch SET destination_id = 2 WHERE id = 1"),
    ("I41", "UPDATE batch SET id = 9 WHERE id = 2"),
    ("I39", "UPDATE batch SET created_at = created_at - 86400000 WHERE id = 1"),
    ("I42", "UPDATE store_meta SET uid = zeroblob(16)"),
    (
      "I66",
      """
      UPDATE store_meta SET uid = CAST(
        substr(uid, 1, 7) || iif(substr(uid, 8, 1) = x'00', x'01', x'00') || substr(uid, 9) AS BLOB)
      """
    ),
    ("I51", "UPDATE batch SET name = 'another' WHERE id = 1"), ("I51", "UPDATE batch SET job = 'another' WHERE id = 1"),
    // Before anything was summed.
    ("I63", "DELETE FROM file_sum; UPDATE file SET finished_at = finished_at + 1 WHERE id = 1"),
    ("I01", "DELETE FROM destination WHERE id = 1"),
    // files
    ("I01", "DELETE FROM file WHERE id = 1"),
    (
      "I41",
      """
      DELETE FROM receipt WHERE file_id = 1; DELETE FROM attempt WHERE file_id = 1; DELETE FROM chunk WHERE file_id = 1;
      DELETE FROM file_sum; DELETE FROM attempt_sum; DELETE FROM file WHERE id = 1
      """
    ),
    ("I03", "UPDATE file SET size = size + 1 WHERE id = 1"),
    ("I07", "UPDATE file SET state = 'superseded', live = NULL WHERE id = 1"),
    ("I29", "UPDATE file SET generation = 4 WHERE id = 8"),
    ("I29", "UPDATE file SET key = x'7A7A' WHERE id = 8"),
    ("I42", "UPDATE file SET created_at = created_at - 86400000 WHERE id = 1"),
    ("I40", "UPDATE file SET batch_id = 2, destination_id = 1 WHERE id = 1"),
    ("I23", "UPDATE file SET finished_at = started_at - 1 WHERE id = 1"),
    ("I37", "UPDATE file SET finished_at = finished_at + 1 WHERE id = 1"),
    (
      "I42",
      "INSERT OR REPLACE INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode, state, cause, message, priority, not_before, failures, run_id, chunk_size, chunk_count, created_at, started_at, finished_at, requested_action, hidden, staged, holds, first_chunk_size, boot) SELECT id, zeroblob(16), batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode, state, cause, message, priority, not_before, failures, run_id, chunk_size, chunk_count, created_at, started_at, finished_at, requested_action, hidden, staged, holds, first_chunk_size, boot FROM file WHERE id = 1"
    ),
    // chunks: evidence of done files
    ("I03", "DELETE FROM chunk WHERE id = 1"),
    ("I45", "UPDATE chunk SET digest = 'crc32c:00000009' WHERE file_id = 7"),
    ("I09", "UPDATE chunk SET done_attempt = 2 WHERE id = 1"),
    (
      "I06",
      "UPDATE chunk SET state = 'pending', etag = NULL, digest = NULL, confirmation = NULL, done_attempt = NULL WHERE id = 1"
    ),
    ("I04", "UPDATE OR REPLACE chunk SET offset = 11 WHERE id = 2"),
    ("I65", "UPDATE chunk SET acked = 1 WHERE id = 1"), ("I65", "UPDATE chunk SET failures = 1 WHERE id = 1"),
    // attempts
    ("I09", "DELETE FROM attempt WHERE id = 2"), ("I16", "UPDATE attempt SET n = 2 WHERE id = 1"),
    ("I09", "UPDATE attempt SET outcome = 'retry' WHERE id = 1"),
    ("I17", "UPDATE attempt SET bytes_acked = bytes_acked + 1 WHERE id = 1"),
    ("I38", "UPDATE attempt SET bytes_transferred = bytes_transferred + 1 WHERE id = 1"),
    ("I38", "UPDATE attempt SET ended_at = ended_at + 1000 WHERE id = 1"),
    ("I42", "UPDATE attempt SET started_at = started_at - 1000 WHERE id = 1"),
    ("I43", "UPDATE attempt SET run_id = 1 WHERE id = 2"),
    ("I44", "UPDATE attempt SET session_id = 1 WHERE id = 1"),
    // receipts
    ("I07", "DELETE FROM receipt WHERE file_id = 1"),
    ("I08", "UPDATE receipt SET digest = 'crc32c:00000008' WHERE file_id = 1"),
    ("I45", "UPDATE receipt SET digest = 'crc32c:00000009', remote_digest = 'crc32c:00000009' WHERE file_id = 7"),
    ("I37", "UPDATE receipt SET confirmation = 'none', digest = NULL, remote_digest = NULL WHERE file_id = 1"),
    // events, runs, sessions
    ("I41", "DELETE FROM event WHERE id = 2"),
    ("I50", "UPDATE event_range SET last_file = last_file + 3"),
    (
      "I50",
      """
      INSERT INTO event_range SELECT min(event_id), 2, 4 FROM event_range;
      INSERT INTO event_range SELECT min(event_id), 3, 3 FROM event_range
      """
    ),
    ("I50", "UPDATE event SET batch_id = 1 WHERE verb = 'seen'"),
    ("I50", "UPDATE event SET part_of = 1 WHERE verb = 'seen'"),
    ("I39", "UPDATE event SET verb = 'seen' WHERE verb = 'added' AND batch_id = 1"),
    ("I01", "DELETE FROM engine_run WHERE id = 1; DELETE FROM engine_run WHERE id = 2"),
    ("I42", "UPDATE engine_run SET started_at = started_at - 1000 WHERE id = 2"),
    ("I64", "UPDATE engine_run SET ended_at = ended_at + 1 WHERE id = 1"),
    ("I41", "DELETE FROM session WHERE id = 1"),
    ("I28", "UPDATE session SET state = 'intended', ended_at = NULL, file_id = 1 WHERE id = 2"),
  ]

  static func fixture() throws -> LedgerFixture {
    let f = try LedgerFixture()
    let (second, run) = (
      try {
        try RulesTests.fill(f); return try f.makeBatch("put:elsewhere")
      }(), RunID(rawValue: 2)
    )
    try f.shell("UPDATE file SET state = 'paused' WHERE state = 'pending'")
    for version in [Int64(1), 2] {
      _ = try f.admit("one", version: version, to: second)
      try f.ledger.write { tx in
        let file = try tx.claimAndPlan(run)
        try tx.sendAll(file.id, run)
        _ = try tx.completeFile(file.id, run, proof)
        try tx.recordEvent("seen", batch: nil, file: file.id, detail: "")
      }
    }
    // No file is being sent any more, and everything that can be summed is.
    try f.shell(
      """
      UPDATE attempt SET outcome = 'interrupted', ended_at = started_at WHERE outcome = 'open';
      UPDATE chunk SET state = 'pending' WHERE state = 'in_flight'
      """)
    try RulesTests.addUp(f)
    #expect(try f.findings() == [])
    return f
  }

  @Test func historyIsNotRewrittenWhileTheSchemaIsInForce() throws {
    let f = try Self.fixture()
    let shell = try Connection(path: f.path, access: .readWrite)
    for (_, sql) in Self.rewrites {
      try shell.execute("SAVEPOINT one")
      let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
      #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
      try shell.execute("ROLLBACK TO one; RELEASE one")
    }
  }

  @Test(arguments: rewrites) func aRewriteIsFound(rule: String, sql: String) throws {
    let f = try Self.fixture()
    let shell = try Connection(path: f.path, access: .readWrite)
    // The triggers are dropped and then restored, so that only the rows differ afterwards.
    try shell.execute("PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON; BEGIN")
    let guards = try shell.rowsOnce("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
      ($0.text(0), $0.text(1))
    }
    for (name, _) in guards { try shell.execute("DROP TRIGGER \(name)") }
    try shell.execute(sql)
    for (_, sql) in guards { try shell.execute(sql) }
    try shell.execute("COMMIT")
    let findings = try f.findings()
    #expect(findings.contains { $0.hasPrefix(rule) }, "\(findings)")
    #expect(!findings.contains { $0.hasPrefix("I46") })
  }

  @Test func rulesThatWereTakenAwayAreMissed() throws {
    let f = try Self.fixture()
    try f.shell("DROP TRIGGER receipt_stays")
    #expect(try f.findings() == ["\(LedgerReader.schemaRule): trigger receipt_stays is missing"])
    try f.shell(
      "CREATE TRIGGER receipt_stays BEFORE DELETE ON receipt WHEN 0 BEGIN SELECT RAISE(FAIL, 'history stays'); END")
    #expect(try f.findings() == ["\(LedgerReader.schemaRule): trigger receipt_stays was changed"])
  }

  /// Failures refer to the error codes, and readers rely on the descriptions.
  @Test func errorCodesAndDescriptionsThatWereChangedAreFound() throws {
    let f = try Self.fixture()
    let shell = try Connection(path: f.path, access: .readWrite)
    try shell.execute("BEGIN")
    let guards = try shell.rowsOnce(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('error_code', 'view_doc')"
    ) { ($0.text(0), $0.text(1)) }
    for (name, _) in guards { try shell.execute("DROP TRIGGER \(name)") }
    try shell.execute(
      """
      DELETE FROM error_code WHERE code = 'net.tls'; UPDATE error_code SET category = 'engine' WHERE code = 'net.dns';
      UPDATE view_doc SET text = 'nothing' WHERE view = 'v_errors' AND "column" = 'hint';
      """)
    for (_, sql) in guards { try shell.execute(sql) }
    try shell.execute("COMMIT")
    let found = [
      "description of v_errors.hint was changed", "error code net.dns was changed", "error code net.tls is missing",
    ]
    #expect(try f.findings() == found.map { "\(LedgerReader.schemaRule): \($0)" })
  }

  /// Objects that people add for themselves do no harm, unless they change rows.
  @Test func onlyTriggersOfOthersAreSuspicious() throws {
    let f = try Self.fixture()
    try f.shell("CREATE VIEW mine AS SELECT id FROM file; CREATE INDEX my_index ON event (at)")
    #expect(try f.findings() == [])
    try f.shell("CREATE TRIGGER theirs AFTER INSERT ON event BEGIN SELECT 1; END")
    #expect(try f.findings() == ["\(LedgerReader.schemaRule): trigger theirs is not part of this program"])
  }

  @Test func thereAreThirtyAndMoreOverEveryTable() {
    #expect(Self.rewrites.count >= 30)
    for table in ["batch", "destination", "file", "chunk", "attempt", "receipt", "event", "engine_run", "session"] {
      #expect(Self.rewrites.contains { $0.1.contains(" \(table) ") }, "\(table)")
    }
  }
}
