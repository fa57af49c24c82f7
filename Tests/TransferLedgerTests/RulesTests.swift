import TransferModel
import Testing

@testable import TransferLedger

/// What the schema refuses from any program: each line is run as the `sqlite3` shell would.
@Suite struct RulesTests {
  /// A download of which nothing is known yet, in a separate batch.
  static let download = """
    INSERT INTO batch (uid, direction, destination_id, protocol, destination, settings, labels, priority, created_at)
    SELECT x'00000000000070008000000000000001', 'download', destination_id, 'get', destination, settings, labels, 0, 0
    FROM batch WHERE id = 1;
    INSERT INTO event (at, verb, batch_id, detail) SELECT 0, 'added', id, destination FROM batch WHERE direction = 'download';
    """ + fileOfDownload
  static let fileOfDownload = """
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, is_download, mode, state, priority, created_at)
    SELECT x'00000000000070008000000000000001', max(id), 1, 1, 1, x'2F61', randomblob(9), 1, 0, 'pending', 0, 0 FROM batch
    """

  /// A file that another engine sent, as a merge records it: inserted in its final state.
  private static let merged = """
    BEGIN;
    INSERT INTO origin_store (id, uid, host, merged_at) VALUES (1, randomblob(16), 'there', 0);
    INSERT INTO destination (place, origin_id) SELECT place, 1 FROM destination WHERE id = 1;
    INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how, origin_id)
    VALUES (x'00000000000070008000000000000007', '[]', '', 'there', '', 1, 0, 0, 0, 'done', 1);
    INSERT INTO batch (uid, destination_id, protocol, destination, settings, labels, priority, created_at, origin_id)
    SELECT x'00000000000070008000000000000007', (SELECT max(id) FROM destination), protocol, destination, settings, labels, 0, 0, 1
    FROM batch WHERE id = 1;
    INSERT INTO event (at, verb, batch_id, detail) SELECT 0, 'added', max(id), destination FROM batch;
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode,
      state, priority, created_at, started_at, finished_at, chunk_size, chunk_count)
    SELECT x'00000000000070008000000000000007', max(id), destination_id, 1, 1, x'2F61', x'61', 5, 0, 0, 0, 0, 0,
      'done', 0, 0, 0, 0, 5, 1 FROM batch;
    INSERT INTO session (file_id, run_id, state, remote_id, intended_at, opened_at, ended_at)
    SELECT max(id), (SELECT max(id) FROM engine_run), 'completed', 'there', 0, 0, 0 FROM file;
    INSERT INTO chunk (file_id, seq, offset, length, state, etag, confirmation, done_attempt)
    SELECT max(id), 0, 0, 5, 'done', '', 'none', (SELECT max(id) + 1 FROM attempt) FROM file;
    INSERT INTO attempt (uid, file_id, chunk_id, session_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at)
    SELECT x'00000000000070008000000000000007', max(id), (SELECT max(id) FROM chunk), (SELECT max(id) FROM session),
      (SELECT max(id) FROM engine_run), 'part', 1, 1, 0, 'ok', 0 FROM file;
    INSERT INTO receipt (file_id, size, attempt_id, confirmation, etag, version_id, request_id, server_date, location, recorded_at)
    SELECT max(id), 5, (SELECT max(id) FROM attempt), 'none', '', '', '', '', '', 0 FROM file;
    COMMIT
    """

  /// Each of these rows is refused if it has no origin.
  @Test func onlyWhatIsMergedBeginsEnded() throws {
    let f = try LedgerFixture()
    try Self.fill(f)
    try f.shell("UPDATE attempt SET outcome = 'interrupted', ended_at = started_at WHERE outcome = 'open'")
    try f.shell("UPDATE chunk SET state = 'pending' WHERE state = 'in_flight'")
    try f.shell(Self.merged)
    try f.logTheRest()
    let merged = try f.findings()
    #expect(merged == [])
    let own = "(SELECT max(id) FROM file WHERE batch_id = 1)"
    for sql in [
      """
      INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode,
        state, priority, created_at, started_at, finished_at)
      SELECT uid, 1, 1, 1, 1, path, x'6262', size, mtime_ns, ctime_ns, inode, device, mode, 'done', 0, 0, 0, 0 FROM file WHERE id = 1
      """,
      """
      INSERT INTO session (file_id, run_id, state, intended_at, ended_at) SELECT \(own), 2, 'gone', 0, 0
      """,
      """
      INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at)
      SELECT zeroblob(16), \(own), 2, 'probe', 9, 1, 0, 'ok', 0
      """,
      """
      INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how)
      VALUES (randomblob(16), '[]', '', '', '', 1, 0, 0, 0, 'done')
      """,
      """
      INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, origin_id)
      VALUES (randomblob(16), '[]', '', '', '', 1, 0, 0, 1)
      """,
      // Merged rows cannot have open attempts either.
      """
      INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
      SELECT zeroblob(16), max(id), 2, 'probe', 9, 1, 0, 'open' FROM file
      """,
      "INSERT INTO session (file_id, run_id, state, intended_at, remote_id, opened_at) SELECT max(id), 2, 'open', 0, 'x', 0 FROM file",
    ] {
      #expect(throws: SQLiteError.self, "\(sql)") { try f.shell(sql) }
    }
    #expect(try f.findings() == [])
  }

  @Test func nothingIsDeletedByReplacingIt() throws {
    let f = try LedgerFixture()
    try Self.fill(f)
    try Self.addUp(f)
    let shell = try Connection(path: f.path, access: .readWrite)
    let tables = [
      "store_meta", "error_code", "view_doc", "engine_run", "destination", "batch", "file", "session", "chunk",
      "attempt", "receipt", "event", "sighting", "content", "sent_body", "origin_store", "log_group", "job_state",
      "job_quota", "job_destination", "source_folder", "doubt", "host_state",
    ]
    func content() throws -> [[String]] {
      try tables.map { table in try f.texts("SELECT * FROM \(table)") }
    }
    let before = try content()
    for sql in RefusedStatements.replacing {
      let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
      #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
    }
    #expect(try content() == before)
    let findings = try f.findings()
    #expect(findings == [])
  }

  @Test func theShellCannotBreakTheRules() throws {
    let f = try LedgerFixture()
    try Self.fill(f)
    try Self.addUp(f)
    let shell = try Connection(path: f.path, access: .readWrite)
    for sql in RefusedStatements.wrong {
      // A statement that matches no row proves nothing: only a refusal counts.
      let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
      #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
    }
    // Where several statements are joined, those before the refused one are legal.
    try f.logTheRest()
    let findings = try f.findings()
    #expect(findings == [])
  }

  /// With any one of the triggers dropped, at least one of the statements passes: each is needed and tested.
  @Test func everyTriggerIsNeeded() throws {
    let f = try LedgerFixture()
    try Self.fill(f)
    try Self.addUp(f)
    let shell = try Connection(path: f.path, access: .readWrite)
    let triggers = try shell.rowsOnce(
      """
      SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%RAISE(%' AND name NOT LIKE 'prune%'
        AND name NOT LIKE 'series%' AND name NOT LIKE 'segment%'
        AND tbl_name NOT IN ('look', 'removal', 'scan', 'absent_source', 'callback', 'outbox', 'delivery', 'callback_loss')
      """
    ) { (name: $0.text(0), sql: $0.text(1)) }
    // The triggers left out are tested on separate ledgers: `PruneTests.everyTriggerIsNeeded`,
    // `RemovalTests.everyTriggerIsNeeded`, `CallbackTests.everyTriggerIsNeeded`, `SegmentTests.everyTriggerIsNeeded`.
    #expect(triggers.count > 30)
    let statements = RefusedStatements.wrong + RefusedStatements.replacing
    let refusals = try statements.map { (sql: $0, why: try Self.refusal(of: $0, by: shell)) }
    for trigger in triggers {
      // Without a trigger, only what it refused can pass: the other statements need not be compiled again.
      let own = refusals.filter { trigger.sql.contains("'\($0.why ?? "")'") }
      try shell.execute("BEGIN; DROP TRIGGER \(trigger.name)")
      let passed = try own.contains { try Self.refusal(of: $0.sql, by: shell) == nil }
      try shell.execute("ROLLBACK")
      #expect(passed, "\(trigger.name)")
    }
  }

  /// The error of the statement, whose changes are undone; nil if it passes.
  private static func refusal(of sql: String, by shell: Connection) throws -> String? {
    try shell.execute("SAVEPOINT one")
    defer { try? shell.execute("ROLLBACK TO one; RELEASE one") }
    do {
      try shell.execute(sql)
      return nil
    } catch {
      return error.message
    }
  }

  /// Legal forms of the same statements pass: the rules refuse only what is wrong.
  @Test func theShellMayDoWhatIsLegal() throws {
    let f = try LedgerFixture()
    try Self.fill(f)
    try f.shell("UPDATE file SET state = 'paused' WHERE id = 3; UPDATE file SET state = 'pending' WHERE id = 3")
    try f.shell(
      "UPDATE file SET requested_action = 'pause-now' WHERE id = 2; UPDATE file SET requested_action = NULL WHERE id = 2"
    )
    try f.shell(
      """
      INSERT INTO file (uid, batch_id, destination_id, generation, path, key, mode, state, cause, priority, created_at,
        finished_at) SELECT uid, batch_id, destination_id, 2, path, key, 0, 'failed', 'net.reset', 0, created_at, 0
        FROM file WHERE id = 3;
      UPDATE file SET staged = 'copy' WHERE id = 3; UPDATE session SET notes = '{}' WHERE file_id = 2;
      """)
    try f.shell("UPDATE file SET hidden = 1 WHERE id IN (1, 4); UPDATE batch SET rate = 1, workers = 1, hidden = 1")
    try f.shell(
      """
      UPDATE attempt SET outcome = 'interrupted', ended_at = started_at WHERE outcome = 'open';
      UPDATE chunk SET state = 'pending' WHERE state = 'in_flight';
      UPDATE file SET state = 'pending', run_id = NULL WHERE id = 2;
      """)
    // A download whose file is not here yet, a later finding about an object, and rows of another ledger with their own
    // keys and names.
    try f.shell(
      """
      \(Self.download);
      INSERT INTO receipt (file_id, n, finding, size, attempt_id, confirmation, etag, version_id, request_id, server_date,
        location, recorded_at)
      SELECT file_id, 2, 'lost', NULL, attempt_id, 'none', '', '', '', '', '', 0 FROM receipt WHERE file_id = 1;
      INSERT INTO origin_store (uid, host, merged_at) VALUES (randomblob(16), 'there', 0);
      INSERT INTO destination (place, origin_id) SELECT place, 1 FROM destination WHERE id = 1;
      INSERT INTO event (at, verb, detail, origin_id, origin_event) VALUES (0, 'added', '', 1, 1);
      INSERT INTO event (at, verb, batch_id, detail) VALUES (0, 'told', 1, '');
      INSERT INTO event_range SELECT max(id), 1, 2 FROM event; INSERT INTO event_range SELECT max(id), 4, 4 FROM event;
      INSERT INTO event (at, verb, batch_id, detail, part_of) SELECT 0, verb, 1, detail, max(id) FROM event;
      INSERT INTO event_range SELECT max(id), 5, 6 FROM event;
      """)
    try f.logTheRest()
    let findings = try f.findings()
    #expect(findings == [])
  }

  static func fill(_ f: LedgerFixture) throws {
    let batch = try f.makeBatch()
    for name in ["done", "active", "pending", "failed", "unknown", "sent"] { _ = try f.add(name, size: 20, to: batch) }
    let dead = try f.startRun()
    _ = try f.ledger.write { try $0.endRun(dead, how: "done") }
    let run = try f.startRun()
    try f.ledger.write { try $0.noteHost("http://h:80", requestsAtOnce: 8, run) }
    try f.shell("UPDATE file SET state = 'paused' WHERE id = 3")
    try f.ledger.write { tx in
      try tx.recordEvent("looked at", batch: nil, file: FileID(rawValue: 1), detail: "")
      let ids = try tx.claimFiles(run, limit: 9).map(\.id)
      for id in ids { _ = try tx.plan(id, run, ChunkLayout(size: 20, chunkSize: 10)) }
      try tx.sendAll(ids[0], run)
      let digest = Digest(.sha256, [UInt8](repeating: 0, count: 32))
      _ = try tx.completeFile(ids[0], run, proof, content: digest)
      _ = try tx.intendSession(ids[1], run)
      var moved = LedgerFixture.source("active", size: 20).identity
      moved.ctimeNs = 9
      _ = try tx.sight(ids[1], run, as: moved)
      _ = try tx.beginChunks(ids[1], run, limit: 1, isRepeatable: true)
      _ = try tx.failFile(ids[2], run, code: .http403, message: "no", keepsSession: false)
      let posted = try tx.beginChunks(ids[3], run, limit: 1, isRepeatable: false)[0]
      var lost = result(.unknown, mayHaveArrived: true)
      lost.sent = SentContent.Piece(range: posted.facts.range, digest: Digest(crc32c: 9))
      _ = try tx.closeAttempt(posted.attempt, run, lost)
      _ = try tx.chunkUnknown(posted.id, posted.attempt)
      _ = try tx.markUnknown(ids[3], run, code: .protoLostAnswer, message: "lost")
      try tx.sendAll(ids[4], run)
      _ = try tx.endSession(try tx.intendSession(ids[4], run), .aborted)
      _ = try tx.closeAttempt(try tx.beginAttempt(ids[1], run, .probe, session: nil, isRepeatable: true), run, ok)
    }
    try f.shell("UPDATE file SET state = 'pending' WHERE id = 3")
    try f.shell("INSERT INTO job_state VALUES ('nightly', 0, 1, 'ok', NULL, 1, 1)")
    try f.shell(
      """
      INSERT INTO job_quota (job, bytes, period, after_event) SELECT 'nightly', 10, 'day', max(id) FROM event;
      INSERT INTO job_destination SELECT 'nightly', 'put:one', x'', 'put:one', max(id) FROM event;
      INSERT INTO job_destination SELECT 'nightly', 'put:two', x'', 'put:two', max(id) FROM event;
      INSERT INTO source_folder VALUES (1, x'2F61', 1, 1, 1, 1);
      INSERT INTO doubt (file_id, after_event) SELECT 4, max(id) FROM event;
      """)
  }

  /// Writes sums as a run does, although there are only a few rows.
  static func addUp(_ f: LedgerFixture) throws {
    try f.ledger.write { tx in
      try tx.addUpDone(1, 0)
      for row in try LedgerReader(db: tx.db).attemptSumRows(of: 0) { try row.insert(into: tx.db) }
    }
    try f.shell(
      """
      \(download);
      INSERT INTO listed_file SELECT 2, max(id) FROM file;
      INSERT INTO origin_store (uid, host, merged_at) VALUES (randomblob(16), 'there', 0)
      """)
    try f.logTheRest()
  }
}
