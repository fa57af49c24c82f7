/// Statements that the schema refuses from any program, in a ledger with the rows of ``RulesTests``.
enum RefusedStatements {
  static let wrong = [
    // the last run of the job was a success
    "INSERT OR REPLACE INTO job_state VALUES ('nightly', 0, 2, 'ok', NULL, 2, 9)", "UPDATE job_state SET job = 'other'",
    "UPDATE job_state SET failed_runs = 0", "DELETE FROM job_state", "UPDATE job_quota SET bytes = 1 << 40",
    "UPDATE job_quota SET job = 'other'", "DELETE FROM job_quota", "DELETE FROM job_destination",
    "UPDATE job_destination SET destination = 'put:three'", "DELETE FROM source_folder",
    "UPDATE source_folder SET path = x'2F62'", "DELETE FROM doubt", "UPDATE doubt SET after_event = 0",
    "UPDATE doubt SET is_decided = 1", "INSERT INTO doubt (file_id, after_event) SELECT 1, max(id) FROM event",
    "INSERT INTO doubt (file_id, after_event) VALUES (2, 0)", "INSERT INTO doubt SELECT 2, max(id), 1 FROM event",
    "DELETE FROM host_state",
    "DELETE FROM error_code WHERE code = 'http.403'", "UPDATE error_code SET hint = 'nothing'",
    "DELETE FROM view_doc", "UPDATE view_doc SET text = 'nothing'",
    "UPDATE job_state SET result = 'partial', message = 'no', succeeded_at = NULL",
    // files: 1 done, 2 active and planned with a chunk in flight, 3 pending, 4 failed, 5 unknown with a lost request
    "UPDATE file SET state = 'pending', finished_at = NULL WHERE id = 1",
    "UPDATE file SET state = 'failed', live = NULL, cause = 'net.reset' WHERE id = 1",
    "UPDATE file SET state = 'done', run_id = NULL, finished_at = 1 << 60 WHERE id = 2",
    "UPDATE file SET state = 'pending', run_id = NULL WHERE id = 2",
    "UPDATE file SET state = 'finishing' WHERE id = 2",
    "UPDATE file SET state = 'done', finished_at = 1 << 60, chunk_size = 1, chunk_count = 1 WHERE id = 3",
    "UPDATE file SET state = 'active' WHERE id = 3",
    "UPDATE file SET state = 'nonsense' WHERE id = 3",
    "UPDATE file SET state = 'failed', live = NULL, finished_at = 1 << 60 WHERE id = 3",
    "UPDATE file SET live = NULL WHERE id = 3",
    "UPDATE file SET size = 5 WHERE id = 3",
    "UPDATE file SET key = x'61' WHERE id = 3",
    "UPDATE file SET ctime_ns = 5 WHERE id = 3", "UPDATE file SET mtime_ns = 5 WHERE id = 6",
    "UPDATE chunk SET reused = 1 WHERE file_id = 1", "UPDATE chunk SET reused = 1 WHERE file_id = 2",
    "UPDATE file SET chunk_size = 5, chunk_count = 2 WHERE id = 2",
    "UPDATE file SET chunk_size = 5, chunk_count = 2, first_chunk_size = chunk_size WHERE id = 2",
    "UPDATE file SET first_chunk_size = 1 << 40 WHERE id = 2",
    "UPDATE chunk SET length = 5 WHERE file_id = 2",
    "UPDATE file SET not_before = 1 WHERE id = 2",
    "UPDATE file SET state = 'done', finished_at = 1 << 60 WHERE id = 5",
    "UPDATE file SET failures = -1 WHERE id = 3", "UPDATE file SET may_have_arrived = 1 WHERE id = 3",
    // all chunks of file 6 are done, but nothing confirms the whole file
    "UPDATE file SET state = 'done', run_id = NULL, finished_at = 1 << 60 WHERE id = 6",
    "UPDATE file SET mode = 5 WHERE id = 6",
    "UPDATE file SET path = x'2f62' WHERE id = 6",
    "UPDATE file SET requested_action = 'pause' WHERE id = 3", "UPDATE file SET requested_action = 'nap' WHERE id = 2",
    "UPDATE file SET hidden = 1 WHERE id = 2", "UPDATE file SET hidden = 0 WHERE id = 1",
    "UPDATE batch SET rate = 0", "UPDATE batch SET workers = 0", "UPDATE batch SET hidden = 2",
    "DELETE FROM store_meta",
    """
    INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how)
    VALUES (randomblob(16), '[]', '', '', '', 1, 0, 0, 0, 'done')
    """,
    "DELETE FROM file WHERE id = 3",
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode,
      device, mode, state, priority, created_at) SELECT uid, batch_id, destination_id, 2, 1, path, key, size, mtime_ns,
      ctime_ns, inode, device, mode, 'pending', 0, 0 FROM file WHERE id = 3
    """,
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode,
      device, mode, state, priority, created_at, run_id) SELECT uid, batch_id, destination_id, 1, 1, path, x'7A7A', size,
      mtime_ns, ctime_ns, inode, device, mode, 'active', 0, 0, 1 FROM file WHERE id = 3
    """,
    """
    REPLACE INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode,
      device, mode, state, priority, created_at) SELECT id, uid, batch_id, destination_id, 2, 1, path, key, size,
      mtime_ns, ctime_ns, inode, device, mode, 'pending', 0, 0 FROM file WHERE id = 1
    """,
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, path, key, mode, state, cause, priority, created_at,
      finished_at) SELECT uid, batch_id, destination_id, 3, path, key, 0, 'failed', 'net.reset', 0, 0, 0 FROM file WHERE id = 3
    """,
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, path, key, mode, state, cause, priority, created_at,
      finished_at) SELECT uid, batch_id, destination_id, 1, path, key, 0, 'failed', 'net.reset', 0, 0, 0 FROM file WHERE id = 3
    """,
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, path, key, mode, state, cause, priority, created_at,
      finished_at) SELECT uid, batch_id, destination_id, 2, path, x'', 0, 'failed', 'net.reset', 0, 0, 0 FROM file WHERE id = 3
    """,
    // each of them would delete the live generation 1
    """
    INSERT OR REPLACE INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns,
      inode, device, mode, state, priority, created_at) SELECT uid, batch_id, destination_id, 1, 1, path, key, size,
      mtime_ns, ctime_ns, inode, device, mode, 'pending', 0, 0 FROM file WHERE id = 1
    """,
    """
    INSERT OR REPLACE INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns,
      inode, device, mode, state, priority, created_at) SELECT uid, batch_id, destination_id, 2, 1, path, key, size,
      mtime_ns, ctime_ns, inode, device, mode, 'pending', 0, 0 FROM file WHERE id = 1
    """,
    // a file has the direction of its batch, and two downloads never write the same file
    """
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, is_download, mode, state, priority, created_at)
    SELECT uid, batch_id, destination_id, 1, 1, path, x'6E6577', 1, 0, 'pending', 0, 0 FROM file WHERE id = 1
    """,
    RulesTests.fileOfDownload,
    "UPDATE file SET staged = '../copy' WHERE id = 3", "UPDATE file SET staged = '' WHERE id = 3",
    "UPDATE session SET notes = '{' WHERE file_id = 2", "UPDATE session SET remotes = '[' WHERE file_id = 2",
    "UPDATE chunk SET remote = '{' WHERE file_id = 2",
    "UPDATE attempt SET reply_excerpt = zeroblob(4097) WHERE outcome = 'open'",
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome, reply_excerpt)
    VALUES (zeroblob(16), 2, 2, 'verify', 1, 1, 0, 'open', x'61')
    """,
    "UPDATE chunk SET state = 'pending' WHERE file_id = 2 AND state = 'in_flight'",
    "UPDATE chunk SET state = 'in_flight' WHERE file_id = 2 AND state = 'pending'",
    """
    UPDATE chunk SET state = 'done', etag = '', confirmation = 'none', done_attempt = 1
    WHERE file_id = 2 AND state = 'in_flight'
    """,
    """
    UPDATE chunk SET state = 'pending', etag = NULL, digest = NULL, confirmation = NULL, done_attempt = NULL
    WHERE file_id = 1
    """,
    "UPDATE chunk SET state = 'unknown' WHERE file_id = 2 AND state = 'pending'",
    "UPDATE chunk SET state = 'waiting' WHERE file_id = 2",
    "UPDATE chunk SET length = 3 WHERE file_id = 2",
    "INSERT INTO chunk (file_id, seq, offset, length, state) VALUES (2, 2, 20, 10, 'pending')",
    "INSERT INTO chunk (file_id, seq, offset, length, state) VALUES (3, 0, 0, 10, 'pending')",
    "REPLACE INTO chunk (file_id, seq, offset, length, state) VALUES (2, 0, 0, 10, 'pending')",
    "DELETE FROM chunk",
    "UPDATE attempt SET outcome = 'ok', ended_at = 1 << 60 WHERE outcome <> 'open'",
    "UPDATE attempt SET message = 'nicer' WHERE outcome <> 'open'",
    "UPDATE attempt SET outcome = 'ok' WHERE outcome = 'open'",
    "UPDATE attempt SET run_id = 2 WHERE outcome = 'open'",
    "UPDATE attempt SET outcome = 'ok', ended_at = 1 WHERE outcome = 'open'",
    "DELETE FROM attempt",
    """
    INSERT INTO attempt (uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, outcome)
    SELECT uid, file_id, chunk_id, run_id, operation, 9, 1, 0, 'open' FROM attempt WHERE outcome = 'open'
    """,
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
    VALUES (zeroblob(16), 3, 1, 'verify', 1, 1, 0, 'open')
    """,
    // A done file only accepts queries by a live run; a failed file accepts none.
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
    SELECT zeroblob(16), 1, max(id), 'finish', 9, 1, 0, 'open' FROM engine_run
    """,
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
    SELECT zeroblob(16), 4, max(id), 'verify', 9, 1, 0, 'open' FROM engine_run
    """,
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
    SELECT zeroblob(16), 1, min(id), 'verify', 9, 1, 0, 'open' FROM engine_run WHERE ended_at IS NOT NULL
    """,
    """
    INSERT INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at)
    VALUES (zeroblob(16), 2, 1, 'verify', 1, 1, 0, 'ok', 0)
    """,
    "UPDATE session SET state = 'completed', ended_at = 1",
    "UPDATE session SET state = 'open', opened_at = 1",
    "UPDATE session SET state = 'intended', ended_at = NULL WHERE state = 'aborted'", "UPDATE session SET file_id = 3",
    "INSERT INTO session (file_id, run_id, state, intended_at) VALUES (2, 1, 'intended', 0)",
    """
    INSERT INTO session (file_id, run_id, state, remote_id, intended_at, opened_at) VALUES (3, 1, 'open', 'u', 0, 0)
    """,
    "DELETE FROM session",
    "UPDATE receipt SET confirmation = 'none'",
    "DELETE FROM receipt",
    // a receipt requires a file that is being finished and a successful attempt of that file
    """
    INSERT INTO receipt (file_id, attempt_id, confirmation, etag, version_id, request_id, server_date, location, recorded_at)
    VALUES (3, 1, 'none', '', '', '', '', '', 0)
    """,
    """
    INSERT INTO receipt (file_id, attempt_id, confirmation, etag, version_id, request_id, server_date, location, recorded_at)
    VALUES (2, 1, 'none', '', '', '', '', '', 0)
    """,
    // later receipts are numbered in order, and only exist for done files
    """
    INSERT INTO receipt (file_id, n, finding, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
      recorded_at) VALUES (1, 3, 'lost', 1, 'none', '', '', '', '', '', 0)
    """,
    """
    INSERT INTO receipt (file_id, n, finding, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
      recorded_at) VALUES (2, 2, 'lost', 1, 'none', '', '', '', '', '', 0)
    """,
    """
    INSERT INTO receipt (file_id, n, finding, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
      recorded_at) VALUES (1, 2, NULL, 1, 'none', '', '', '', '', '', 0)
    """,
    // the statement of a person: only for unknown files, and only with what a person can know
    """
    INSERT INTO receipt (file_id, confirmation, etag, version_id, request_id, server_date, location, recorded_at, note)
    VALUES (2, 'none', '', '', '', '', '', 0, 'seen')
    """,
    """
    INSERT INTO receipt (file_id, confirmation, etag, version_id, request_id, server_date, location, recorded_at, note)
    VALUES (5, 'digest', '', '', '', '', '', 0, 'seen')
    """,
    "UPDATE file SET boot = 1 WHERE id = 1", "UPDATE file SET ctime_ns = 2 WHERE id = 1",
    "INSERT INTO sighting VALUES (3, 1, 1, 1, 1)", "UPDATE sighting SET file_id = 6", "DELETE FROM sighting",
    "INSERT INTO content VALUES (2, 'sha256:00', NULL)", "INSERT INTO content VALUES (2, 'sha256:00', 1)",
    "UPDATE content SET digest = 'sha256:01'", "DELETE FROM content",
    "INSERT INTO listed_file VALUES (2, 1)", "INSERT INTO listed_file SELECT 1, max(id) FROM file",
    "UPDATE listed_file SET file_id = 1", "DELETE FROM listed_file",
    "INSERT INTO sent_body VALUES (1, 0, 1, 'crc32c:00000000')", "UPDATE sent_body SET length = 1",
    "DELETE FROM sent_body",
    "UPDATE event SET detail = ''", "DELETE FROM event", "UPDATE event_range SET last_file = 9",
    "DELETE FROM event_range",
    "INSERT INTO event_range VALUES (1, 1, 1)", "INSERT INTO event_range SELECT max(id), 1, 1 FROM event",
    "INSERT OR REPLACE INTO event_range SELECT event_id, first_file, first_file FROM event_range",
    """
    INSERT INTO event (at, verb, batch_id, detail) VALUES (0, 'told', 1, ''); INSERT INTO event_range SELECT max(id), 6, 7 FROM event
    """,
    """
    INSERT INTO event (at, verb, detail) VALUES (0, 'told', ''); INSERT INTO event_range SELECT max(id), 1, 1 FROM event
    """,
    """
    INSERT INTO event (at, verb, batch_id, detail) VALUES (0, 'told', 1, ''); INSERT INTO event_range SELECT max(id), 2, 1 FROM event
    """,
    """
    INSERT INTO event (at, verb, batch_id, detail) VALUES (0, 'told', 1, '');
    INSERT INTO event_range SELECT max(id), 1, 4097 FROM event
    """,
    "INSERT INTO event (at, verb, detail, part_of) VALUES (0, 'told', '', 77)",
    "INSERT INTO event (at, verb, batch_id, detail, part_of) VALUES (0, 'told', 1, '', 1)",
    "INSERT INTO event (at, verb, batch_id, detail, part_of) SELECT 0, verb, NULL, detail, id FROM event WHERE verb = 'added'",
    "UPDATE batch SET settings = '{}'", "DELETE FROM batch",
    "INSERT INTO host_state VALUES ('http://other:80', 8, 1, 0)", "UPDATE host_state SET run_id = 1",
    "UPDATE host_state SET requests_at_once = 0",
    "UPDATE destination SET place = 'x'", "DELETE FROM destination", "DELETE FROM engine_run",
    "UPDATE engine_run SET how = 'done' WHERE ended_at IS NOT NULL", "UPDATE engine_run SET ended_at = 1 << 60",
    """
    INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at)
    VALUES (randomblob(16), '[]', '', '', '', 1, 0, 0)
    """,
    "UPDATE file SET state = 'paused' WHERE id = 5",
    "UPDATE session SET state = 'completed', remote_id = 'u', opened_at = 0, ended_at = 1 WHERE file_id = 2",
    "UPDATE session SET run_id = 1 WHERE file_id = 2",
    // the live generation would be deleted
    """
    UPDATE file SET live = NULL WHERE id = 1;
    INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode,
      device, mode, state, priority, created_at) SELECT uid, batch_id, destination_id, 2, 1, path, key, size, mtime_ns,
      ctime_ns, inode, device, mode, 'pending', 0, created_at FROM file WHERE id = 1;
    UPDATE OR REPLACE file SET live = 1 WHERE id = 1
    """,
    // only a listing has unchanged files, and only a copy partial files of its own
    "UPDATE session SET unchanged = 1 WHERE file_id = 2",
    "UPDATE file SET partial_of = zeroblob(16) WHERE is_download = 1",
  ]

  /// Statements that delete or rewrite rows without a DELETE. Each number or name that they use belongs to another row.
  static let replacing = [
    """
    INSERT OR REPLACE INTO store_meta (id, uid, schema_version, view_version, created_by, created_at)
    SELECT id, randomblob(16), schema_version, view_version, 'me', 0 FROM store_meta
    """,
    "UPDATE store_meta SET uid = randomblob(16)", "UPDATE store_meta SET created_at = 7",
    "INSERT OR REPLACE INTO error_code VALUES ('net.reset', 'engine', 'nothing')",
    "INSERT OR REPLACE INTO job_quota SELECT 'nightly', 1 << 40, 'day', NULL, max(id) FROM event",
    """
    INSERT OR REPLACE INTO job_destination
    SELECT job, place, prefix, 'put:three', (SELECT max(id) FROM event) FROM job_destination
    """,
    "INSERT OR REPLACE INTO source_folder SELECT batch_id, path, 2, 2, 2, 2 FROM source_folder",
    "INSERT OR REPLACE INTO host_state SELECT host, 1, (SELECT max(id) FROM engine_run), 0 FROM host_state",
    "INSERT OR REPLACE INTO view_doc SELECT view, \"column\", type, unit, 'nothing' FROM view_doc LIMIT 1",
    """
    INSERT OR REPLACE INTO engine_run (id, uid, argv, version, host, boot_id, pid, started_at, heartbeat_at)
    VALUES (1, randomblob(16), '[]', '', '', '', 1, 0, 0)
    """,
    """
    INSERT OR REPLACE INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at)
    SELECT uid, '[]', '', '', '', 1, 0, 0 FROM engine_run WHERE id = 1
    """,
    "UPDATE OR REPLACE engine_run SET id = 1 WHERE id = 2", "UPDATE OR REPLACE engine_run SET rowid = 1 WHERE id = 2",
    "UPDATE OR REPLACE engine_run SET uid = (SELECT uid FROM engine_run WHERE id = 1) WHERE id = 2",
    "UPDATE engine_run SET argv = '[]' WHERE id = 2", "UPDATE engine_run SET started_at = 7 WHERE id = 2",
    "INSERT OR REPLACE INTO destination (id, place) VALUES (1, 'put:elsewhere')",
    "INSERT OR REPLACE INTO destination (place) SELECT place FROM destination",
    """
    INSERT OR REPLACE INTO batch (id, uid, destination_id, protocol, destination, settings, labels, priority, created_at)
    SELECT id, randomblob(16), destination_id, protocol, destination, settings, labels, priority, created_at FROM batch
    """,
    """
    INSERT OR REPLACE INTO batch (uid, destination_id, protocol, destination, settings, labels, priority, created_at)
    SELECT uid, destination_id, protocol, destination, settings, labels, priority, created_at FROM batch
    """,
    "UPDATE OR REPLACE batch SET rowid = 9", "UPDATE batch SET name = 'another'",
    "INSERT OR REPLACE INTO event (id, at, verb, detail) SELECT id, 0, 'never', '' FROM event LIMIT 1",
    "UPDATE OR REPLACE file SET rowid = 1 WHERE id = 3", "UPDATE OR REPLACE file SET oid = 3 WHERE id = 1",
    "UPDATE file SET finished_at = 1 << 60 WHERE id = 1",
    "UPDATE file SET cause = 'net.reset', message = 'it was not me' WHERE id = 1",
    "UPDATE OR REPLACE chunk SET rowid = 1 WHERE id = 3",
    "UPDATE chunk SET digest = 'crc32c:00000009' WHERE file_id = 1",
    "UPDATE chunk SET confirmation = 'none' WHERE file_id = 1", "UPDATE chunk SET etag = 'x' WHERE file_id = 1",
    "UPDATE chunk SET done_attempt = 2 WHERE id = 1",
    "INSERT OR REPLACE INTO session (file_id, run_id, state, intended_at) VALUES (2, 2, 'intended', 0)",
    "UPDATE OR REPLACE session SET rowid = 1 WHERE id = 2", "UPDATE session SET ended_at = 7 WHERE state = 'aborted'",
    "UPDATE session SET notes = '{}' WHERE state = 'aborted'",
    "UPDATE OR REPLACE attempt SET rowid = 1 WHERE outcome = 'open'",
    """
    INSERT OR REPLACE INTO attempt (uid, file_id, run_id, operation, n, is_repeatable, started_at, outcome)
    VALUES (zeroblob(16), 2, 2, 'probe', 1, 1, 0, 'open')
    """,
    "INSERT OR REPLACE INTO receipt SELECT * FROM receipt",
    "INSERT OR REPLACE INTO sighting SELECT file_id, 0, 0, 0, 0 FROM sighting",
    "INSERT OR REPLACE INTO content SELECT file_id, 'sha256:01', NULL FROM content",
    "INSERT OR REPLACE INTO sent_body SELECT attempt_id, 0, 1, 'crc32c:00000000' FROM sent_body",
    "UPDATE file_sum SET bytes = 1", "UPDATE attempt_sum SET ok = 1",
    "INSERT OR REPLACE INTO origin_store (uid, host, merged_at) SELECT uid, '', 0 FROM origin_store",
    "UPDATE origin_store SET uid = zeroblob(16)", "DELETE FROM origin_store",
    "INSERT OR REPLACE INTO log_group SELECT first_leaf, leaves, x'0307', hashes FROM log_group",
    "UPDATE log_group SET entries = x'0307'", "DELETE FROM log_group",
    "INSERT INTO log_group VALUES (7777, 1, x'0301', zeroblob(32))",
  ]
}
