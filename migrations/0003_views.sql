-- The public SQL interface, and what each of its columns means. Nothing but functions of the SQLite core is used, so
-- that every program can read it. path and key are bytes, as they are stored: a name need not be UTF-8, and SQL cannot
-- tell; CAST(path AS TEXT) shows them where they are.

CREATE VIEW v_meta AS
SELECT
  lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-' ||
    substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21, 12)) AS store_uid,
  schema_version,
  view_version,
  created_by,
  created_at
FROM store_meta;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_meta', 'store_uid', 'TEXT', 'uuid', 'Identifier of this ledger.'),
  ('v_meta', 'schema_version', 'INTEGER', '', 'Number of the newest migration.'),
  ('v_meta', 'view_version', 'INTEGER', '', 'Within one version no column of a view is renamed or removed.'),
  ('v_meta', 'created_by', 'TEXT', '', 'Program that made the ledger.'),
  ('v_meta', 'created_at', 'INTEGER', 'ms', 'When it was made.');

CREATE VIEW v_errors AS
SELECT
  code,
  blame,
  hint
FROM error_code;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_errors', 'code', 'TEXT', '', 'Name of the reason; never changes.'),
  ('v_errors', 'blame', 'TEXT', '', 'source, local, network, server, auth, policy or engine.'),
  ('v_errors', 'hint', 'TEXT', '', 'What to do about it.');

CREATE VIEW v_runs AS
SELECT
  id,
  lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-' ||
    substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21, 12)) AS uid,
  argv,
  version,
  host,
  boot_id,
  pid,
  started_at,
  started_boot_ms,
  heartbeat_at,
  heartbeat_boot_ms,
  processor_ms,
  ended_at,
  how
FROM engine_run;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_runs', 'id', 'INTEGER', '', 'Number of the run in this ledger.'),
  ('v_runs', 'uid', 'TEXT', 'uuid', 'Identifier of the run.'),
  ('v_runs', 'argv', 'TEXT', 'json', 'Command line, without secrets.'),
  ('v_runs', 'version', 'TEXT', '', 'Version of the program.'),
  ('v_runs', 'host', 'TEXT', '', 'Machine.'),
  ('v_runs', 'boot_id', 'TEXT', '', 'Identifier of the boot of the machine.'),
  ('v_runs', 'pid', 'INTEGER', '', 'Process.'),
  ('v_runs', 'started_at', 'INTEGER', 'ms', 'Start.'),
  ('v_runs', 'started_boot_ms', 'INTEGER', 'ms', 'Start by the boot clock of boot_id. It is never moved: heartbeat_at - started_at less the same of these is how far the wall clock was.'),
  ('v_runs', 'heartbeat_at', 'INTEGER', 'ms', 'Last sign of life.'),
  ('v_runs', 'heartbeat_boot_ms', 'INTEGER', 'ms', 'Last sign of life by the boot clock.'),
  ('v_runs', 'processor_ms', 'INTEGER', 'ms', 'For how long its process had used processors by then; NULL in runs of older programs.'),
  ('v_runs', 'ended_at', 'INTEGER', 'ms', 'End; NULL while it runs, or when it died and no other run followed.'),
  ('v_runs', 'how', 'TEXT', '', 'How it ended: done, drained, interrupted, recovered, crashed, failed: reason, …');

CREATE VIEW v_batches AS
SELECT
  b.id AS id,
  lower(substr(hex(b.uid), 1, 8) || '-' || substr(hex(b.uid), 9, 4) || '-' || substr(hex(b.uid), 13, 4) || '-' ||
    substr(hex(b.uid), 17, 4) || '-' || substr(hex(b.uid), 21, 12)) AS uid,
  b.name AS name,
  b.direction AS direction,
  b.job AS job,
  b.protocol AS protocol,
  b.destination AS destination,
  b.labels AS labels,
  b.priority AS priority,
  b.rate AS rate,
  b.workers AS workers,
  b.deadline_at AS deadline_at,
  b.hidden AS hidden,
  b.created_at AS created_at,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state <> 'superseded') AS files,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'done') AS done,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'failed') AS failed,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'unknown') AS unknown,
  (SELECT coalesce(sum(f.size), 0) FROM file f WHERE f.batch_id = b.id AND f.state <> 'superseded') AS bytes,
  (SELECT coalesce(sum(f.size), 0) FROM file f WHERE f.batch_id = b.id AND f.state = 'done') AS bytes_done
FROM batch b;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_batches', 'id', 'INTEGER', '', 'Number of the batch in this ledger.'),
  ('v_batches', 'uid', 'TEXT', 'uuid', 'Identifier of the batch.'),
  ('v_batches', 'name', 'TEXT', '', 'Name given by a person; NULL without.'),
  ('v_batches', 'direction', 'TEXT', '', 'upload or download.'),
  ('v_batches', 'job', 'TEXT', '', 'The configured job that made it; NULL for none.'),
  ('v_batches', 'protocol', 'TEXT', '', 's3, put, …'),
  ('v_batches', 'destination', 'TEXT', '', 'Where its files go, without secrets.'),
  ('v_batches', 'labels', 'TEXT', 'json', 'Labels given by a person.'),
  ('v_batches', 'priority', 'INTEGER', '', 'Higher values are sent first.'),
  ('v_batches', 'rate', 'INTEGER', 'bytes/s', 'Limit for all its requests together; NULL for none.'),
  ('v_batches', 'workers', 'INTEGER', '', 'Requests that it may have at a time; NULL for no limit of its own.'),
  ('v_batches', 'deadline_at', 'INTEGER', 'ms', 'After this time none of its files is begun; NULL for no deadline.'),
  ('v_batches', 'hidden', 'INTEGER', '1 or NULL', '1 when it was tidied away with all of its files.'),
  ('v_batches', 'created_at', 'INTEGER', 'ms', 'When it was recorded.'),
  ('v_batches', 'files', 'INTEGER', '', 'Its files; replaced generations do not count.'),
  ('v_batches', 'done', 'INTEGER', '', 'Files that the server confirmed.'),
  ('v_batches', 'failed', 'INTEGER', '', 'Files that were given up.'),
  ('v_batches', 'unknown', 'INTEGER', '', 'Files whose outcome cannot be known.'),
  ('v_batches', 'bytes', 'INTEGER', 'bytes', 'Size of its files.'),
  ('v_batches', 'bytes_done', 'INTEGER', 'bytes', 'Size of the files that the server confirmed.');

-- Bodies of which nobody knows how much was sent: their engine died, or they are being sent now. A body is not longer
-- than what was left of its chunk; a file that was cut anew since had longer ones.
CREATE VIEW v_cut_off AS
SELECT
  a.id AS attempt_id,
  a.file_id AS file_id,
  a.outcome AS outcome,
  a.bytes_transferred AS bytes_transferred,
  max(a.bytes_transferred, max(c.length, coalesce(f.first_chunk_size, 0)) - iif(c.losses > 0, 0, (SELECT coalesce(sum(e.bytes_acked), 0) FROM attempt e
    WHERE e.file_id = a.file_id AND e.operation = 'part' AND e.chunk_id = a.chunk_id AND e.n < a.n))) AS bytes_transferred_at_most
FROM attempt a
JOIN chunk c ON c.id = a.chunk_id
JOIN file f ON f.id = a.file_id
WHERE a.operation = 'part' AND (a.error_code = 'engine.orphaned' OR a.outcome = 'open');

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_cut_off', 'attempt_id', 'INTEGER', 'id', 'The attempt, as in v_attempts.'),
  ('v_cut_off', 'file_id', 'INTEGER', 'id', 'Its file.'),
  ('v_cut_off', 'outcome', 'TEXT', '', 'crashed, or open while it runs.'),
  ('v_cut_off', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes that it transferred at least: a later request found them at the server.'),
  ('v_cut_off', 'bytes_transferred_at_most', 'INTEGER', 'bytes', 'Body bytes that it may have transferred: what was left of its chunk.');

CREATE VIEW v_files AS
SELECT
  f.id AS id,
  lower(substr(hex(f.uid), 1, 8) || '-' || substr(hex(f.uid), 9, 4) || '-' || substr(hex(f.uid), 13, 4) || '-' ||
    substr(hex(f.uid), 17, 4) || '-' || substr(hex(f.uid), 21, 12)) AS uid,
  f.batch_id AS batch_id,
  f.generation AS generation,
  f.path AS path,
  d.place AS destination,
  f.key AS key,
  f.size AS size,
  f.mtime_ns AS mtime_ns,
  f.state AS state,
  f.cause AS cause,
  f.message AS message,
  f.wish AS wish,
  f.hidden AS hidden,
  coalesce(q.attempts, 0) + (SELECT count(*) FROM attempt a WHERE a.file_id = f.id) AS attempts,
  f.failures AS failures,
  f.not_before AS not_before,
  f.priority AS priority,
  f.properties AS properties,
  f.chunk_count AS chunks,
  iif(q.file_id IS NOT NULL, f.size,
    (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id)) AS bytes_acked,
  coalesce(q.bytes_reused, 0)
    + (SELECT coalesce(sum(c.length), 0) FROM chunk c WHERE c.file_id = f.id AND c.reused = 1) AS bytes_reused,
  coalesce(q.bytes_transferred, 0)
    + (SELECT coalesce(sum(a.bytes_transferred), 0) FROM attempt a WHERE a.file_id = f.id) AS bytes_transferred,
  coalesce(q.bytes_transferred + q.bytes_untold, 0)
    + (SELECT coalesce(sum(a.bytes_transferred), 0) FROM attempt a WHERE a.file_id = f.id)
    + (SELECT coalesce(sum(o.bytes_transferred_at_most - o.bytes_transferred), 0) FROM v_cut_off o WHERE o.file_id = f.id) AS bytes_transferred_at_most,
  r.confirmation AS confirmed_by,
  r.note AS proof_note,
  r.digest AS digest,
  r.remote_digest AS remote_digest,
  r.etag AS etag,
  r.version_id AS version_id,
  r.location AS location,
  r.request_id AS request_id,
  f.created_at AS created_at,
  f.started_at AS started_at,
  f.finished_at AS finished_at,
  iif(q.file_id IS NULL, NULL, (SELECT p.at FROM pruned_range g CROSS JOIN prune p ON p.id = g.prune_id
    WHERE g.kind = 'history' AND g.first_id <= f.id ORDER BY g.first_id DESC LIMIT 1)) AS pruned_at
FROM file f
JOIN destination d ON d.id = f.destination_id
LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
LEFT JOIN pruned_file q ON q.file_id = f.id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_files', 'id', 'INTEGER', '', 'Number of the file in this ledger.'),
  ('v_files', 'uid', 'TEXT', 'uuid', 'Identifier of this generation of the file; sent to servers that keep a token.'),
  ('v_files', 'batch_id', 'INTEGER', '', 'Its batch.'),
  ('v_files', 'generation', 'INTEGER', '', '1 for the first content that was sent to this key, 2 for the next, …'),
  ('v_files', 'path', 'BLOB', 'bytes of a name', 'Source path as the kernel knows it; not always UTF-8.'),
  ('v_files', 'destination', 'TEXT', '', 'The place that the key belongs to, without secrets.'),
  ('v_files', 'key', 'BLOB', 'bytes of a name', 'Remote key.'),
  ('v_files', 'size', 'INTEGER', 'bytes', 'Size of the source; NULL when it could not be looked at.'),
  ('v_files', 'mtime_ns', 'INTEGER', 'ns', 'Last change of the source; of a download, of the local file when it got its name.'),
  ('v_files', 'state', 'TEXT', '', 'settling, pending, active, finishing, done, paused, failed, cancelled, unknown or superseded.'),
  ('v_files', 'cause', 'TEXT', '', 'Error code of the last failure; see v_errors.'),
  ('v_files', 'message', 'TEXT', '', 'The last failure in words; may hold text of a server.'),
  ('v_files', 'wish', 'TEXT', '', 'What the engine that has it was asked to do: pause, pause-now, cancel or remove; pause also while it settles.'),
  ('v_files', 'hidden', 'INTEGER', '1 or NULL', '1 when it was tidied away; reports still count it.'),
  ('v_files', 'attempts', 'INTEGER', '', 'Requests made for it.'),
  ('v_files', 'failures', 'INTEGER', '', 'Attempts in a row that moved nothing.'),
  ('v_files', 'not_before', 'INTEGER', 'ms', 'Not tried again before this time.'),
  ('v_files', 'priority', 'INTEGER', '', 'Higher values are sent first.'),
  ('v_files', 'properties', 'TEXT', 'JSON object', 'What rules set for its object when it was recorded: content_type, storage_class, header.NAME, tag.NAME; NULL for nothing.'),
  ('v_files', 'chunks', 'INTEGER', '', 'Number of its chunks; NULL until it was planned.'),
  ('v_files', 'bytes_acked', 'INTEGER', 'bytes', 'Length of the parts that are stored: acknowledged by the server, or on the disk in a download.'),
  ('v_files', 'bytes_reused', 'INTEGER', 'bytes', 'Of bytes_acked: what was not fetched, because a local file still had it; 0 for an upload.'),
  ('v_files', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes of all its attempts, sent in an upload and received in a download, at least: of those in v_cut_off only what was found at the server.'),
  ('v_files', 'bytes_transferred_at_most', 'INTEGER', 'bytes', 'The same with all that its attempts in v_cut_off may have transferred.'),
  ('v_files', 'confirmed_by', 'TEXT', '', 'How it was confirmed: digest, etag, size or none.'),
  ('v_files', 'proof_note', 'TEXT', '', 'Why a person says that it is done; NULL where the server confirmed it.'),
  ('v_files', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent or received.'),
  ('v_files', 'remote_digest', 'TEXT', 'algorithm:hex', 'The same as the server reported it.'),
  ('v_files', 'etag', 'TEXT', '', 'ETag of the object.'),
  ('v_files', 'version_id', 'TEXT', '', 'Version of the object.'),
  ('v_files', 'location', 'TEXT', '', 'Where the object is, without secrets.'),
  ('v_files', 'request_id', 'TEXT', '', 'The server''s name for the confirming request.'),
  ('v_files', 'created_at', 'INTEGER', 'ms', 'When it was recorded.'),
  ('v_files', 'started_at', 'INTEGER', 'ms', 'When an engine first took it.'),
  ('v_files', 'finished_at', 'INTEGER', 'ms', 'When it came to rest: done, failed, cancelled or superseded.'),
  ('v_files', 'pruned_at', 'INTEGER', 'ms', 'When a prune deleted its attempts and sessions, and mostly its chunks; attempts and bytes still count them. NULL for never.');

CREATE VIEW v_chunks AS
SELECT
  c.id AS id,
  c.file_id AS file_id,
  c.seq AS seq,
  c.offset AS "offset",
  c.length AS length,
  c.state AS state,
  iif(c.state = 'done', c.length, c.acked) AS bytes_acked,
  (SELECT count(*) FROM attempt a WHERE a.file_id = c.file_id AND a.operation = 'part' AND a.chunk_id = c.id) AS attempts,
  c.failures AS failures,
  c.not_before AS not_before,
  c.digest AS digest,
  c.etag AS etag,
  c.confirmation AS confirmed_by,
  c.losses AS losses,
  c.reused AS reused
FROM chunk c;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_chunks', 'id', 'INTEGER', '', 'Number of the chunk in this ledger.'),
  ('v_chunks', 'file_id', 'INTEGER', '', 'Its file.'),
  ('v_chunks', 'seq', 'INTEGER', '', 'Position, from 0.'),
  ('v_chunks', 'offset', 'INTEGER', 'bytes', 'Start in the file.'),
  ('v_chunks', 'length', 'INTEGER', 'bytes', 'Length.'),
  ('v_chunks', 'state', 'TEXT', '', 'pending, in_flight, done, waiting, failed or unknown.'),
  ('v_chunks', 'bytes_acked', 'INTEGER', 'bytes', 'What is known to be stored of it: acknowledged by the server, or on the disk in a download; all of it when it is done.'),
  ('v_chunks', 'attempts', 'INTEGER', '', 'Requests made for it.'),
  ('v_chunks', 'failures', 'INTEGER', '', 'Attempts that moved nothing.'),
  ('v_chunks', 'not_before', 'INTEGER', 'ms', 'Not tried again before this time.'),
  ('v_chunks', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent.'),
  ('v_chunks', 'etag', 'TEXT', '', 'ETag of the part.'),
  ('v_chunks', 'confirmed_by', 'TEXT', '', 'How the server confirmed it: digest, etag, size or none.'),
  ('v_chunks', 'losses', 'INTEGER', '', 'How often the server lost it after it had acknowledged it.'),
  ('v_chunks', 'reused', 'INTEGER', '1 or NULL', '1 when its bytes were not fetched, because a local file still had them.');

CREATE VIEW v_attempts AS
SELECT
  a.id AS id,
  lower(substr(hex(a.uid), 1, 8) || '-' || substr(hex(a.uid), 9, 4) || '-' || substr(hex(a.uid), 13, 4) || '-' ||
    substr(hex(a.uid), 17, 4) || '-' || substr(hex(a.uid), 21, 12)) AS uid,
  a.file_id AS file_id,
  a.chunk_id AS chunk_id,
  a.session_id AS session_id,
  a.run_id AS run_id,
  a.operation AS operation,
  a.n AS n,
  a.started_at AS started_at,
  a.ended_at AS ended_at,
  a.outcome AS outcome,
  a.error_code AS error_code,
  a.message AS message,
  a.http_status AS http_status,
  a.curl_code AS curl_code,
  a.errno AS errno,
  a.bytes_transferred AS bytes_transferred,
  a.bytes_acked AS bytes_acked,
  a.dns_ms AS dns_ms,
  a.connect_ms AS connect_ms,
  a.tls_ms AS tls_ms,
  a.sent_ms AS sent_ms,
  a.first_byte_ms AS first_byte_ms,
  a.total_ms AS total_ms,
  a.held_ms AS held_ms,
  a.remote_ip AS remote_ip,
  a.http_version AS http_version,
  a.request_id AS request_id,
  a.retry_after_ms AS retry_after_ms,
  a.backoff_ms AS backoff_ms,
  a.is_repeatable AS is_repeatable,
  a.may_have_arrived AS may_have_arrived,
  a.reply_excerpt AS reply_excerpt,
  a.mirror AS mirror
FROM attempt a;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_attempts', 'id', 'INTEGER', '', 'Number of the attempt in this ledger.'),
  ('v_attempts', 'uid', 'TEXT', 'uuid', 'Identifier of the attempt.'),
  ('v_attempts', 'file_id', 'INTEGER', '', 'Its file.'),
  ('v_attempts', 'chunk_id', 'INTEGER', '', 'Its chunk; NULL for requests about the whole file.'),
  ('v_attempts', 'session_id', 'INTEGER', '', 'Upload session that it used.'),
  ('v_attempts', 'run_id', 'INTEGER', '', 'Run of the engine that made it.'),
  ('v_attempts', 'operation', 'TEXT', '', 'create, probe, prepare, part, finish, save, verify, abort or get.'),
  ('v_attempts', 'n', 'INTEGER', '', 'Count of this operation for this file or chunk, from 1.'),
  ('v_attempts', 'started_at', 'INTEGER', 'ms', 'Recorded before the request was sent.'),
  ('v_attempts', 'ended_at', 'INTEGER', 'ms', 'Recorded when its result was known; NULL while it is open.'),
  ('v_attempts', 'outcome', 'TEXT', '', 'open, ok, retry, fatal, unknown, interrupted or crashed.'),
  ('v_attempts', 'error_code', 'TEXT', '', 'Why it did not succeed; see v_errors.'),
  ('v_attempts', 'message', 'TEXT', '', 'The same in words; may hold text of a server.'),
  ('v_attempts', 'http_status', 'INTEGER', '', 'Status of the answer; NULL without one.'),
  ('v_attempts', 'curl_code', 'INTEGER', '', 'CURLcode; 0 when the transport succeeded.'),
  ('v_attempts', 'errno', 'INTEGER', '', 'Error number of the system call that failed.'),
  ('v_attempts', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes: of an upload, sent; of a download, received.'),
  ('v_attempts', 'bytes_acked', 'INTEGER', 'bytes', 'Those of them that count: the answer of the server acknowledged them, or a later request found them there; of a download, they are on the disk.'),
  ('v_attempts', 'dns_ms', 'INTEGER', 'ms', 'From the start to the address; NULL when it did not get there.'),
  ('v_attempts', 'connect_ms', 'INTEGER', 'ms', 'From the start to the connection.'),
  ('v_attempts', 'tls_ms', 'INTEGER', 'ms', 'From the start to the end of the TLS handshake.'),
  ('v_attempts', 'sent_ms', 'INTEGER', 'ms', 'From the start to the last byte of the body that was handed to the network; NULL without a body, and when it was not sent whole.'),
  ('v_attempts', 'first_byte_ms', 'INTEGER', 'ms', 'From the start to the first byte of the answer.'),
  ('v_attempts', 'total_ms', 'INTEGER', 'ms', 'From the start to the end.'),
  ('v_attempts', 'held_ms', 'INTEGER', 'ms', 'Of that: how long a rate limit of ours held the body back; NULL when none did.'),
  ('v_attempts', 'remote_ip', 'TEXT', '', 'Address of the server.'),
  ('v_attempts', 'http_version', 'TEXT', '', '1.1, 2, …'),
  ('v_attempts', 'request_id', 'TEXT', '', 'The server''s name for the request.'),
  ('v_attempts', 'retry_after_ms', 'INTEGER', 'ms', 'What the server asked to wait.'),
  ('v_attempts', 'backoff_ms', 'INTEGER', 'ms', 'The wait that was chosen before the next attempt.'),
  ('v_attempts', 'is_repeatable', 'INTEGER', '0 or 1', 'Sending it again is harmless.'),
  ('v_attempts', 'may_have_arrived', 'INTEGER', '0 or 1', 'It may have reached the server.'),
  ('v_attempts', 'reply_excerpt', 'BLOB', 'bytes of a text', 'The beginning of the body of the answer, without our secrets; not always UTF-8. NULL when there was none.'),
  ('v_attempts', 'mirror', 'TEXT', '', 'Host and port of the mirror that it was sent to; NULL for the server of its destination.');

CREATE VIEW v_events AS
SELECT
  id,
  at,
  verb,
  batch_id,
  part_of,
  (SELECT coalesce(sum(r.last_file - r.first_file + 1), 0) FROM event_range r WHERE r.event_id = event.id) AS files,
  detail
FROM event;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_events', 'id', 'INTEGER', '', 'Number of the event in this ledger.'),
  ('v_events', 'at', 'INTEGER', 'ms', 'When.'),
  ('v_events', 'verb', 'TEXT', '', 'What was done: added, asked, paused, resumed, cancelled, retried, resolved, removed, cleaned, set, recovered, slept, pruned, …'),
  ('v_events', 'batch_id', 'INTEGER', '', 'Its batch, when it is about one.'),
  ('v_events', 'part_of', 'INTEGER', 'id', 'The event that it goes on with, when a verb took several transactions; NULL in the first one.'),
  ('v_events', 'files', 'INTEGER', '', 'How many files it is about, as in v_event_ranges; 0 when it is about a batch or the ledger.'),
  ('v_events', 'detail', 'TEXT', '', 'One line for people.');

CREATE VIEW v_event_ranges AS
SELECT
  event_id,
  first_file,
  last_file
FROM event_range;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_event_ranges', 'event_id', 'INTEGER', 'id', 'The event, as in v_events.'),
  ('v_event_ranges', 'first_file', 'INTEGER', 'id', 'The first file of the range.'),
  ('v_event_ranges', 'last_file', 'INTEGER', 'id', 'The last file of the range. The event is about all files whose number is in it.');

CREATE VIEW v_receipts AS
SELECT
  file_id,
  n,
  coalesce(finding, 'stored') AS finding,
  size,
  attempt_id,
  confirmation AS confirmed_by,
  substr(digest, 1, instr(digest, ':') - 1) AS algorithm,
  digest,
  remote_digest,
  etag,
  version_id,
  request_id,
  server_date,
  location,
  note,
  recorded_at
FROM receipt;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_receipts', 'file_id', 'INTEGER', '', 'Its file.'),
  ('v_receipts', 'n', 'INTEGER', '', '1 for the proof with which the file was done; what was found later follows.'),
  ('v_receipts', 'finding', 'TEXT', '', 'stored; of the object found, lost or differs; of the local file of a download intact, changed or missing.'),
  ('v_receipts', 'size', 'INTEGER', 'bytes', 'Size of the object.'),
  ('v_receipts', 'attempt_id', 'INTEGER', '', 'The attempt whose answer says so; NULL for the word of a person, and for what was seen here.'),
  ('v_receipts', 'confirmed_by', 'TEXT', '', 'How it was confirmed: digest, etag, size or none.'),
  ('v_receipts', 'algorithm', 'TEXT', '', 'Algorithm of the digest.'),
  ('v_receipts', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent or received, or of what was found here.'),
  ('v_receipts', 'remote_digest', 'TEXT', 'algorithm:hex', 'The same as the server reported it.'),
  ('v_receipts', 'etag', 'TEXT', '', 'ETag of the object.'),
  ('v_receipts', 'version_id', 'TEXT', '', 'Version of the object.'),
  ('v_receipts', 'request_id', 'TEXT', '', 'The server''s name for the confirming request.'),
  ('v_receipts', 'server_date', 'TEXT', '', 'Date of the confirming answer, as the server wrote it.'),
  ('v_receipts', 'location', 'TEXT', '', 'Where the object is, without secrets.'),
  ('v_receipts', 'note', 'TEXT', '', 'Why a person says so; NULL where the server confirmed it.'),
  ('v_receipts', 'recorded_at', 'INTEGER', 'ms', 'When it was recorded.');

CREATE VIEW v_pruned AS
SELECT
  s.prune_id AS prune_id,
  p.at AS pruned_at,
  p.before_at AS before_at,
  s.batch_id AS batch_id,
  s.run_id AS run_id,
  s.quarter * 900000 AS from_at,
  s.files AS files,
  s.ok + s.retry + s.fatal + s.unknown + s.interrupted + s.crashed AS attempts,
  s.ok AS ok,
  s.retry AS retry,
  s.fatal AS fatal,
  s.unknown AS unknown,
  s.interrupted AS interrupted,
  s.crashed AS crashed,
  s.bytes_transferred AS bytes_transferred,
  s.bytes_acked AS bytes_acked,
  s.first_at AS first_at,
  s.last_at AS last_at,
  s.errors AS errors
FROM pruned_sum s
JOIN prune p ON p.id = s.prune_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_pruned', 'prune_id', 'INTEGER', '', 'Number of the prune, one transaction of a store prune.'),
  ('v_pruned', 'pruned_at', 'INTEGER', 'ms', 'When.'),
  ('v_pruned', 'before_at', 'INTEGER', 'ms', 'Only what came to rest before this time was pruned.'),
  ('v_pruned', 'batch_id', 'INTEGER', '', 'The batch whose attempts these were.'),
  ('v_pruned', 'run_id', 'INTEGER', '', 'The run that made them.'),
  ('v_pruned', 'from_at', 'INTEGER', 'ms', 'Beginning of the quarter of an hour in which they began.'),
  ('v_pruned', 'files', 'INTEGER', '', 'Files whose first attempt was one of them.'),
  ('v_pruned', 'attempts', 'INTEGER', '', 'Attempts that were deleted.'),
  ('v_pruned', 'ok', 'INTEGER', '', 'Of these: succeeded.'),
  ('v_pruned', 'retry', 'INTEGER', '', 'Of these: were to be repeated.'),
  ('v_pruned', 'fatal', 'INTEGER', '', 'Of these: failed for good.'),
  ('v_pruned', 'unknown', 'INTEGER', '', 'Of these: lost their answers.'),
  ('v_pruned', 'interrupted', 'INTEGER', '', 'Of these: were ended by us.'),
  ('v_pruned', 'crashed', 'INTEGER', '', 'Of these: were open when their engine died.'),
  ('v_pruned', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes of them.'),
  ('v_pruned', 'bytes_acked', 'INTEGER', 'bytes', 'Body bytes of them that are known to be stored.'),
  ('v_pruned', 'first_at', 'INTEGER', 'ms', 'Start of the first.'),
  ('v_pruned', 'last_at', 'INTEGER', 'ms', 'End of the last.'),
  ('v_pruned', 'errors', 'TEXT', 'json', 'By error code: how many, the newest of them, the first start, the last end.');

CREATE VIEW v_removals AS
SELECT
  m.file_id,
  f.batch_id,
  b.job,
  b.after AS action,
  f.path,
  iif(m.state = 'skipped' OR m.state = 'failed', 'kept', iif(m.state = 'pending', 'waiting', 'done')) AS state,
  m.attempts,
  m.failures,
  m.put_off_at,
  m.cause,
  m.message,
  m.recorded_at,
  m.ended_at
FROM removal m JOIN file f ON f.id = m.file_id JOIN batch b ON b.id = f.batch_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_removals', 'file_id', 'INTEGER', '', 'The file whose source is to be deleted or moved.'),
  ('v_removals', 'batch_id', 'INTEGER', '', 'Its batch.'),
  ('v_removals', 'job', 'TEXT', '', 'Its job; NULL for none.'),
  ('v_removals', 'action', 'TEXT', '', 'delete or move; NULL when the batch was told to keep what was left.'),
  ('v_removals', 'path', 'BLOB', 'bytes of a name', 'Path of the source.'),
  ('v_removals', 'state', 'TEXT', '', 'waiting, done, or kept: the source stays for good, or was tried too often.'),
  ('v_removals', 'attempts', 'INTEGER', '', 'How often it was begun.'),
  ('v_removals', 'failures', 'INTEGER', '', 'How often it failed; after ten failures the source stays.'),
  ('v_removals', 'put_off_at', 'INTEGER', 'ms', 'Since when it has been put off for its cause, which does not count as a failure; NULL when it is not.'),
  ('v_removals', 'cause', 'TEXT', '', 'Why the source is still there (v_errors); policy.cancelled when a person revoked it.'),
  ('v_removals', 'message', 'TEXT', '', 'The same for people; of one that is done, what is not known of it.'),
  ('v_removals', 'recorded_at', 'INTEGER', 'ms', 'When its file was done.'),
  ('v_removals', 'ended_at', 'INTEGER', 'ms', 'When it was done or given up.');

CREATE VIEW v_scans AS
SELECT
  nullif(job, '') AS job,
  place,
  sources,
  completed_at,
  took_ms,
  files,
  new,
  changed,
  unchanged,
  queued,
  settling,
  not_ready,
  excluded,
  unreadable
FROM scan;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_scans', 'job', 'TEXT', '', 'The job that the sources were scanned for; NULL for none.'),
  ('v_scans', 'place', 'TEXT', '', 'Where they are sent.'),
  ('v_scans', 'sources', 'TEXT', 'json', 'What was named: files, folders, patterns or a list, and the rules.'),
  ('v_scans', 'completed_at', 'INTEGER', 'ms', 'When the last complete scan of them ended; one that ended with an error is not here.'),
  ('v_scans', 'took_ms', 'INTEGER', 'ms', 'How long it took.'),
  ('v_scans', 'files', 'INTEGER', '', 'Files that it saw, without what rules left out.'),
  ('v_scans', 'new', 'INTEGER', '', 'Of these: new.'),
  ('v_scans', 'changed', 'INTEGER', '', 'Changed.'),
  ('v_scans', 'unchanged', 'INTEGER', '', 'Sent already.'),
  ('v_scans', 'queued', 'INTEGER', '', 'In the queue already.'),
  ('v_scans', 'settling', 'INTEGER', '', 'Still being written.'),
  ('v_scans', 'not_ready', 'INTEGER', '', 'Without the file that shows that they are complete.'),
  ('v_scans', 'excluded', 'INTEGER', '', 'Left out by rules, beside these.'),
  ('v_scans', 'unreadable', 'INTEGER', '', 'Not readable.');

CREATE VIEW v_callbacks AS
SELECT
  o.id,
  c.batch_id,
  coalesce(c.job, b.job) AS job,
  o.file_id,
  c.event,
  c.kind,
  c.target,
  o.state,
  o.failures,
  (SELECT count(*) FROM delivery d WHERE d.outbox_id = o.id) AS deliveries,
  o.not_before,
  o.recorded_at,
  o.ended_at
FROM outbox o JOIN callback c ON c.id = o.callback_id LEFT JOIN batch b ON b.id = c.batch_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_callbacks', 'id', 'INTEGER', '', 'Number of the callback.'),
  ('v_callbacks', 'batch_id', 'INTEGER', '', 'The batch whose file it tells of; NULL when it tells of a job.'),
  ('v_callbacks', 'job', 'TEXT', '', 'The job that it tells of, or that made the batch.'),
  ('v_callbacks', 'file_id', 'INTEGER', '', 'The file that it tells of.'),
  ('v_callbacks', 'event', 'TEXT', '', 'Of a file: done, failed, unknown. Of a job: started, succeeded, unsuccessful.'),
  ('v_callbacks', 'kind', 'TEXT', '', 'exec, webhook, ping or mail.'),
  ('v_callbacks', 'target', 'TEXT', '', 'The program and its arguments or the addresses, or the URL or where it is kept.'),
  ('v_callbacks', 'state', 'TEXT', '', 'waiting, delivering, delivered, gave_up or cancelled.'),
  ('v_callbacks', 'failures', 'INTEGER', '', 'Deliveries that failed since it was recorded or tried again by hand.'),
  ('v_callbacks', 'deliveries', 'INTEGER', '', 'Deliveries that were begun.'),
  ('v_callbacks', 'not_before', 'INTEGER', 'ms', 'Not delivered again before this time.'),
  ('v_callbacks', 'recorded_at', 'INTEGER', 'ms', 'When what it tells of happened; NULL for unknown.'),
  ('v_callbacks', 'ended_at', 'INTEGER', 'ms', 'When it was delivered, given up or cancelled.');

CREATE VIEW v_forgotten_callbacks AS
SELECT
  l.callback_id AS receiver_id,
  c.batch_id,
  coalesce(c.job, b.job) AS job,
  c.event,
  c.kind,
  c.target,
  l.callbacks,
  l.first_at,
  l.last_at,
  EXISTS (SELECT 1 FROM outbox o
    WHERE o.callback_id = l.callback_id AND o.state = 'delivered' AND o.ended_at >= l.last_at) AS heard_since
FROM callback_loss l JOIN callback c ON c.id = l.callback_id LEFT JOIN batch b ON b.id = c.batch_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_forgotten_callbacks', 'receiver_id', 'INTEGER', '', 'Number of the receiver of one kind of event.'),
  ('v_forgotten_callbacks', 'batch_id', 'INTEGER', '', 'The batch of whose files it was to be told; NULL for a job.'),
  ('v_forgotten_callbacks', 'job', 'TEXT', '', 'The job that it was to be told of, or that made the batch.'),
  ('v_forgotten_callbacks', 'event', 'TEXT', '', 'Of a file: done, failed, unknown. Of a job: started, succeeded, unsuccessful.'),
  ('v_forgotten_callbacks', 'kind', 'TEXT', '', 'exec, webhook, ping or mail.'),
  ('v_forgotten_callbacks', 'target', 'TEXT', '', 'The program and its arguments or the addresses, or the URL or where it is kept.'),
  ('v_forgotten_callbacks', 'callbacks', 'INTEGER', '', 'Callbacks that were given up and whose rows were deleted.'),
  ('v_forgotten_callbacks', 'first_at', 'INTEGER', 'ms', 'When the first of them was recorded.'),
  ('v_forgotten_callbacks', 'last_at', 'INTEGER', 'ms', 'When the last of them was recorded.'),
  ('v_forgotten_callbacks', 'heard_since', 'INTEGER', '', '1 when a later callback was delivered, else 0.');

CREATE VIEW v_deliveries AS
SELECT
  outbox_id AS callback_id,
  n,
  started_at,
  ended_at,
  outcome,
  exit_code,
  http_status,
  message,
  output
FROM delivery;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_deliveries', 'callback_id', 'INTEGER', '', 'The callback that was delivered.'),
  ('v_deliveries', 'n', 'INTEGER', '', 'Number of the try, from 1.'),
  ('v_deliveries', 'started_at', 'INTEGER', 'ms', 'When it began.'),
  ('v_deliveries', 'ended_at', 'INTEGER', 'ms', 'When it ended; of a crash, when that was found.'),
  ('v_deliveries', 'outcome', 'TEXT', '', 'open, ok, failed, interrupted or crashed.'),
  ('v_deliveries', 'exit_code', 'INTEGER', '', 'Exit code of the program; -1 when a signal ended it.'),
  ('v_deliveries', 'http_status', 'INTEGER', '', 'Status of the answer.'),
  ('v_deliveries', 'message', 'TEXT', '', 'Why it failed.'),
  ('v_deliveries', 'output', 'BLOB', '', 'The first 4 KiB that came back, secrets masked.');
