import Testing
import TransferModel

@testable import TransferLedger

/// Each rule of `store check` finds a violation that was planted with the schema's own defences disabled.
@Suite struct InvariantTests {
  static let planted = [
    ("I01", "UPDATE attempt SET session_id = 99 WHERE id = 1"),
    ("I53", "INSERT INTO prune VALUES (1, 1, 1, 1); INSERT INTO pruned_range VALUES ('attempt', 1, 1, 1)"),
    ("I54", "INSERT INTO pruned_file VALUES (3, 1, 1, 0, 0)"),
    ("I03", "UPDATE chunk SET length = 9 WHERE id = 1"),
    ("I04", "UPDATE chunk SET offset = 11 WHERE id = 2"),
    ("I05", "UPDATE chunk SET seq = 5 WHERE id = 2"),
    ("I06", "UPDATE chunk SET state = 'pending' WHERE id = 1"),
    ("I07", "DELETE FROM receipt"),
    ("I08", "UPDATE receipt SET remote_digest = 'crc32c:00000008'"),
    ("I08", "UPDATE receipt SET digest = 'sha256:00', remote_digest = 'sha256:00', sha256 = 'sha256:01'"),
    ("I55", "INSERT INTO removal (file_id, inode, recorded_at) VALUES (2, 1, 0)"),
    ("I56", "UPDATE batch SET after = 'delete'"),
    (
      "I58",
      "INSERT INTO removal (file_id, inode, recorded_at) VALUES (1, 1, 0); UPDATE file SET hidden = 1 WHERE id = 1"
    ),
    (
      "I62",
      """
      INSERT INTO series (destination_id, key, number, path, start, size, digest, head, mtime_ns, ctime_ns, inode, device,
        boot, began_at, grown_at) VALUES (1, x'61', 1, x'61', 0, 5, 'sha256:0', 'sha256:0', 1, 1, 1, 1, 1, 1, 1)
      """
    ),
    ("I63", "UPDATE file SET finished_at = finished_at + 1 WHERE id = 1"),
    ("I64", "UPDATE engine_run SET ended_at = ended_at + 1 WHERE ended_at IS NOT NULL"),
    ("I65", "UPDATE chunk SET acked = 1 WHERE state = 'done'"),
    ("I57", "INSERT INTO look (file_id, boot, since_ms, due_ms) VALUES (3, 1, 0, 1)"),
    ("I60", "INSERT INTO callback (batch_id, event, kind, target, secret) VALUES (1, 'done', 'exec', 'true', '')"),
    (
      "I61",
      """
      INSERT INTO callback (batch_id, event, kind, target, secret) VALUES (1, 'failed', 'exec', 'true', '');
      INSERT INTO outbox (callback_id, file_id, state) VALUES (1, 1, 'delivering')
      """
    ),
    ("I36", "UPDATE receipt SET note = 'seen', confirmation = 'none'"),
    ("I47", "UPDATE receipt SET size = size + 1"),
    ("I47", "UPDATE receipt SET attempt_id = (SELECT max(id) FROM attempt)"),
    ("I49", "UPDATE file SET is_download = 1 WHERE id = 3"), ("I49", "UPDATE batch SET direction = 'download'"),
    (
      "I48",
      """
      INSERT INTO receipt (file_id, n, finding, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
        recorded_at) SELECT file_id, 3, 'lost', attempt_id, 'none', '', '', '', '', '', 0 FROM receipt WHERE file_id = 1
      """
    ),
    ("I09", "UPDATE attempt SET outcome = 'retry' WHERE chunk_id = 1"),
    (
      "I10",
      """
      INSERT INTO attempt (uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, ended_at, outcome,
        bytes_acked)
      SELECT zeroblob(16), 1, 1, 2, 'part', 2, 1, 0, 0, 'ok', length FROM chunk WHERE id = 1
      """
    ),
    (
      "I11",
      """
      INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, ended_at, outcome)
      VALUES (zeroblob(16), 1, 2, 'finish', 1, 1, 0, 0, 'ok'), (zeroblob(16), 1, 2, 'finish', 2, 1, 0, 0, 'ok')
      """
    ),
    (
      "I12",
      """
      INSERT INTO attempt (uid, file_id, session_id, run_id, operation, n, is_repeatable, started_at, ended_at, outcome)
      VALUES (zeroblob(16), 2, 1, 2, 'create', 1, 1, 0, 0, 'ok'), (zeroblob(16), 2, 1, 2, 'create', 2, 1, 0, 0, 'ok')
      """
    ),
    ("I13", "UPDATE attempt SET run_id = 1 WHERE outcome = 'open'"),
    ("I14", "UPDATE attempt SET ended_at = 1 << 60 WHERE outcome = 'open'"),
    ("I15", "UPDATE chunk SET state = 'pending' WHERE state = 'in_flight'"),
    ("I16", "UPDATE attempt SET n = 2 WHERE chunk_id = 1"),
    ("I17", "UPDATE attempt SET bytes_acked = 11, bytes_transferred = 11 WHERE chunk_id = 1"),
    ("I18", "UPDATE file SET state = 'pending', run_id = NULL WHERE id = 2"),
    ("I19", "UPDATE attempt SET outcome = 'crashed' WHERE chunk_id = 1"),
    ("I20", "UPDATE file SET key = (SELECT key FROM file WHERE id = 3) WHERE id = 2"),
    (
      "I21",
      """
      UPDATE session SET state = 'open', remote_id = 'http://h/upload', opened_at = 0, abort_after = NULL;
      INSERT INTO session (file_id, run_id, state, remote_id, intended_at, opened_at)
      VALUES (3, 2, 'open', 'http://h/upload', 0, 0)
      """
    ),
    ("I22", "UPDATE attempt SET outcome = 'fatal', may_have_arrived = 0 WHERE outcome = 'unknown'"),
    ("I23", "UPDATE attempt SET ended_at = started_at - 1 WHERE chunk_id = 1"),
    ("I25", "UPDATE batch SET protocol = 's3'"),
    ("I26", "UPDATE attempt SET bytes_transferred = 25 WHERE chunk_id = 1"),
    ("I27", "UPDATE receipt SET location = 'https://u:p@host/x'"),
    ("I27", "UPDATE batch SET settings = '{\"destination\":\"https://h/?X-Amz-Signature=1\"}'"),
    ("I28", "UPDATE session SET file_id = 1"),
    ("I29", "UPDATE file SET key = (SELECT key FROM file WHERE id = 1) WHERE id = 4"),
    ("I30", "UPDATE file SET run_id = 1 WHERE id = 2"),
    ("I28", "UPDATE file SET state = 'cancelled' WHERE id = 2"),
    ("I31", "UPDATE file SET state = 'pending' WHERE id = 5"),
    ("I32", "UPDATE file SET requested_action = 'pause' WHERE id = 3"),
    ("I37", "INSERT INTO file_sum VALUES (1, 0, 1, 19, 0, 0, 0, '[]')"),
    (
      "I38",
      """
      INSERT INTO attempt_sum (batch_id, block, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at,
        last_at, errors, latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff)
      VALUES (1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}', x'', x'', 0, 0, 0, 0, '{}')
      """
    ),
    ("I39", "UPDATE batch SET destination = 'put:elsewhere'"),
    (
      "I40",
      "INSERT INTO destination (id, place) VALUES (2, 'put:elsewhere'); UPDATE file SET destination_id = 2 WHERE id = 3"
    ),
    ("I41", "DELETE FROM session WHERE id = 1"), ("I42", "UPDATE attempt SET started_at = started_at - 1 WHERE id = 1"),
    ("I43", "UPDATE attempt SET run_id = 1 WHERE id = 2"),
    (
      "I44",
      """
      UPDATE attempt SET session_id = 1 WHERE id = 1
      """
    ),
    ("I45", "UPDATE file SET chunk_count = 1 WHERE id = 1; UPDATE chunk SET digest = 'crc32c:00000009' WHERE id = 1"),
    ("I46", "SELECT 1"),
    ("I33", "UPDATE file SET hidden = 1 WHERE id = 3"),
    ("I50", "UPDATE event_range SET last_file = 7"),
    ("I50", "UPDATE event SET batch_id = NULL WHERE verb = 'looked at'"),
    ("I50", "INSERT INTO event_range VALUES (2, 2, 4); INSERT INTO event_range VALUES (2, 3, 3)"),
    ("I50", "UPDATE event SET part_of = 1 WHERE id = 2"), ("I50", "UPDATE event SET part_of = id"),
    ("I35", "UPDATE chunk SET acked = 5 WHERE file_id = 5"),
    ("I34", "UPDATE file SET uid = x'00' WHERE id = 3"), ("I34", "UPDATE session SET notes = '{'"),
    ("I34", "UPDATE attempt SET reply_excerpt = zeroblob(4097)"),
    ("I34", "UPDATE chunk SET remote = '[]' WHERE id = 1"),
  ]

  @Test(arguments: planted) func aPlantedViolationIsFound(rule: String, sql: String) throws {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    let shell = try Connection(path: f.path, access: .readWrite)
    for name in try shell.rowsOnce("SELECT name FROM sqlite_schema WHERE type = 'trigger'", row: { $0.text(0) }) {
      try shell.execute("DROP TRIGGER \(name)")
    }
    try shell.execute("PRAGMA ignore_check_constraints = ON; DROP INDEX file_live; DROP INDEX attempt_open")
    #expect(try f.findings().filter { !$0.hasPrefix("I46") } == [])
    try shell.execute(sql)
    // The damage may also violate a CHECK, which integrity_check reports; this rule must be among the findings.
    let found = try f.findings()
    #expect(found.contains { $0.hasPrefix(rule) })
    #expect(!found.contains { $0.contains("http://h/upload") }, "whoever knows the URL can continue the upload")
  }

  @Test func everyRuleHasItsPlantedViolation() {
    let rules = Set(LedgerReader.invariants.map { String($0.name.prefix(3)) })
    // I02 is SQLite's own check, covered by the test of a corrupt file.
    #expect(rules == Set(Self.planted.map(\.0)).union(["I02"]).subtracting(["I38", "I46"]))
    #expect(rules.count == LedgerReader.invariants.count)
  }
}
