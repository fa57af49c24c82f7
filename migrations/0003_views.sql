-- The public SQL interface, and the meaning of each column. Only functions of the SQLite core are used, so that every
-- program can read it. path and key are bytes, as stored: a name need not be UTF-8, and SQL cannot check that;
-- CAST(path AS TEXT) shows those that are.

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
  ('v_meta', 'created_by', 'TEXT', '', 'Program that created the ledger.'),
  ('v_meta', 'created_at', 'INTEGER', 'ms', 'When it was created.');

CREATE VIEW v_errors AS
SELECT
  code,
  category,
  hint
FROM error_code;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_errors', 'code', 'TEXT', '', 'Name of the error; never changes.'),
  ('v_errors', 'category', 'TEXT', '', 'source, local, network, server, auth, policy or engine.'),
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
  ('v_runs', 'host', 'TEXT', '', 'Host name of the machine.'),
  ('v_runs', 'boot_id', 'TEXT', '', 'Identifier of the boot of the machine.'),
  ('v_runs', 'pid', 'INTEGER', '', 'Process ID.'),
  ('v_runs', 'started_at', 'INTEGER', 'ms', 'Start.'),
  ('v_runs', 'started_boot_ms', 'INTEGER', 'ms', 'Start by the boot clock of boot_id, which is never set: (heartbeat_at - started_at) - (heartbeat_boot_ms - started_boot_ms) is how far the wall clock was moved.'),
  ('v_runs', 'heartbeat_at', 'INTEGER', 'ms', 'Last heartbeat.'),
  ('v_runs', 'heartbeat_boot_ms', 'INTEGER', 'ms', 'Last heartbeat by the boot clock.'),
  ('v_runs', 'processor_ms', 'INTEGER', 'ms', 'CPU time that its process had used by then; NULL in runs of older versions.'),
  ('v_runs', 'ended_at', 'INTEGER', 'ms', 'End; NULL while it runs, or if it crashed and no other run followed.'),
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
  (SELECT CAST(total(f.size) AS INTEGER) FROM file f WHERE f.batch_id = b.id AND f.state <> 'superseded') AS bytes,
  (SELECT CAST(total(f.size) AS INTEGER) FROM file f WHERE f.batch_id = b.id AND f.state = 'done') AS bytes_done
FROM batch b;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_batches', 'id', 'INTEGER', '', 'Number of the batch in this ledger.'),
  ('v_batches', 'uid', 'TEXT', 'uuid', 'Identifier of the batch.'),
  ('v_batches', 'name', 'TEXT', '', 'Name given by a person; NULL for none.'),
  ('v_batches', 'direction', 'TEXT', '', 'upload or download.'),
  ('v_batches', 'job', 'TEXT', '', 'The configured job that created it; NULL for none.'),
  ('v_batches', 'protocol', 'TEXT', '', 's3, put, …'),
  ('v_batches', 'destination', 'TEXT', '', 'Where its files go, without secrets.'),
  ('v_batches', 'labels', 'TEXT', 'json', 'Labels given by a person.'),
  ('v_batches', 'priority', 'INTEGER', '', 'Higher values are sent first.'),
  ('v_batches', 'rate', 'INTEGER', 'bytes/s', 'Limit for all its requests together; NULL for none.'),
  ('v_batches', 'workers', 'INTEGER', '', 'How many concurrent requests it may have; NULL for no limit of its own.'),
  ('v_batches', 'deadline_at', 'INTEGER', 'ms', 'After this time none of its files is started; NULL for no deadline.'),
  ('v_batches', 'hidden', 'INTEGER', '1 or NULL', '1 if it was hidden with all of its files.'),
  ('v_batches', 'created_at', 'INTEGER', 'ms', 'When it was recorded.'),
  ('v_batches', 'files', 'INTEGER', '', 'Its files; superseded generations do not count.'),
  ('v_batches', 'done', 'INTEGER', '', 'Files that the server confirmed.'),
  ('v_batches', 'failed', 'INTEGER', '', 'Files that were given up.'),
  ('v_batches', 'unknown', 'INTEGER', '', 'Files whose outcome nobody can tell.'),
  ('v_batches', 'bytes', 'INTEGER', 'bytes', 'Size of its files.'),
  ('v_batches', 'bytes_done', 'INTEGER', 'bytes', 'Size of the files that the server confirmed.');

-- Bodies of which it is unknown how much was sent: their engine crashed, or they are in flight. A body is not longer
-- than the rest of its chunk; a file that has since got a finer layout had longer chunks. A download gets one only
-- once, while none of its requests is in flight: a body saw the finer one if its run, or an earlier one, began a
-- request for a chunk that the first layout lacked.
CREATE VIEW v_cut_off AS
SELECT
  a.id AS attempt_id,
  a.file_id AS file_id,
  a.outcome AS outcome,
  a.bytes_transferred AS bytes_transferred,
  max(a.bytes_transferred, max(c.length, iif(f.is_download = 1 AND EXISTS (SELECT 1 FROM chunk l
    JOIN attempt e ON e.file_id = l.file_id AND e.operation = 'part' AND e.chunk_id = l.id
    WHERE l.file_id = a.file_id AND l.seq * f.first_chunk_size >= f.size AND e.run_id <= a.run_id), 0, coalesce(f.first_chunk_size, 0)))
    - iif(c.losses > 0, 0, (SELECT coalesce(sum(e.bytes_acked), 0) FROM attempt e
    WHERE e.file_id = a.file_id AND e.operation = 'part' AND e.chunk_id = a.chunk_id AND e.n < a.n))) AS bytes_transferred_at_most
FROM attempt a
JOIN chunk c ON c.id = a.chunk_id
JOIN file f ON f.id = a.file_id
WHERE a.operation = 'part' AND (a.error_code = 'engine.crashed' OR a.outcome = 'open');

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_cut_off', 'attempt_id', 'INTEGER', 'id', 'The attempt, as in v_attempts.'),
  ('v_cut_off', 'file_id', 'INTEGER', 'id', 'Its file.'),
  ('v_cut_off', 'outcome', 'TEXT', '', 'crashed, or open while it runs.'),
  ('v_cut_off', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes that it transferred at least: a later request found them on the server.'),
  ('v_cut_off', 'bytes_transferred_at_most', 'INTEGER', 'bytes', 'Body bytes that it may have transferred: the rest of its chunk.');

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
  f.requested_action AS requested_action,
  f.hidden AS hidden,
  coalesce(q.attempts, 0) + (SELECT count(*) FROM attempt a WHERE a.file_id = f.id AND a.operation <> 'abort')
    - iif(f.state = 'done', (SELECT count(*) FROM attempt a WHERE a.file_id = f.id AND a.chunk_id IS NULL
      AND a.operation IN ('verify', 'probe') AND a.started_at > f.finished_at), 0) AS attempts,
  f.failures AS failures,
  f.not_before AS not_before,
  f.priority AS priority,
  f.properties AS properties,
  f.chunk_count AS chunks,
  iif(q.file_id IS NOT NULL, f.size,
    (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id)) AS bytes_acked,
  coalesce(q.bytes_reused, 0)
    + (SELECT coalesce(sum(c.reused), 0) FROM chunk c WHERE c.file_id = f.id AND c.reused IS NOT NULL) AS bytes_reused,
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
  (SELECT c.same_as FROM content c WHERE c.file_id = f.id) AS same_as,
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
  ('v_files', 'size', 'INTEGER', 'bytes', 'Size of the source; NULL if that is not known.'),
  ('v_files', 'mtime_ns', 'INTEGER', 'ns', 'Modification time of the source; for a download, of the local file when it got its name.'),
  ('v_files', 'state', 'TEXT', '', 'settling, pending, active, finishing, done, paused, failed, cancelled, unknown or superseded.'),
  ('v_files', 'cause', 'TEXT', '', 'Error code of the last failure; see v_errors.'),
  ('v_files', 'message', 'TEXT', '', 'Message of the last failure; may contain text from a server.'),
  ('v_files', 'requested_action', 'TEXT', '', 'Action requested of the engine that has it: pause, pause-now, cancel or remove; while it settles, only pause.'),
  ('v_files', 'hidden', 'INTEGER', '1 or NULL', '1 if it is hidden; reports still count it.'),
  ('v_files', 'attempts', 'INTEGER', '', 'Requests made to transfer it, without aborts and without queries about it after it was done.'),
  ('v_files', 'failures', 'INTEGER', '', 'Attempts in a row without progress.'),
  ('v_files', 'not_before', 'INTEGER', 'ms', 'Not tried again before this time.'),
  ('v_files', 'priority', 'INTEGER', '', 'Higher values are sent first.'),
  ('v_files', 'properties', 'TEXT', 'JSON object', 'Properties that rules set for its object when it was recorded: content_type, storage_class, header.NAME, tag.NAME; NULL for none.'),
  ('v_files', 'chunks', 'INTEGER', '', 'Number of its chunks; NULL until it has a layout.'),
  ('v_files', 'bytes_acked', 'INTEGER', 'bytes', 'Bytes that are stored: acknowledged by the server, or for a download, on the disk.'),
  ('v_files', 'bytes_reused', 'INTEGER', 'bytes', 'Part of bytes_acked that was not fetched, because a local file still had it; 0 for an upload.'),
  ('v_files', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes that all its attempts sent (upload) or received (download), at least: those in v_cut_off count only with what was found on the server.'),
  ('v_files', 'bytes_transferred_at_most', 'INTEGER', 'bytes', 'The same, including all that its attempts in v_cut_off may have transferred.'),
  ('v_files', 'confirmed_by', 'TEXT', '', 'How it was confirmed: digest, etag, size or none.'),
  ('v_files', 'proof_note', 'TEXT', '', 'Why a person resolved it as done; NULL if the server confirmed it.'),
  ('v_files', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent or received.'),
  ('v_files', 'remote_digest', 'TEXT', 'algorithm:hex', 'Digest that the server reported.'),
  ('v_files', 'etag', 'TEXT', '', 'ETag of the object.'),
  ('v_files', 'version_id', 'TEXT', '', 'Version of the object.'),
  ('v_files', 'location', 'TEXT', '', 'Where the object is, without secrets.'),
  ('v_files', 'request_id', 'TEXT', '', 'ID that the server gave to the confirming request.'),
  ('v_files', 'same_as', 'INTEGER', '', 'The file that had delivered the same content, so this one was not sent (--dedupe); NULL for none.'),
  ('v_files', 'created_at', 'INTEGER', 'ms', 'When it was recorded.'),
  ('v_files', 'started_at', 'INTEGER', 'ms', 'When an engine first claimed it.'),
  ('v_files', 'finished_at', 'INTEGER', 'ms', 'When it came to rest: done, failed, cancelled or superseded.'),
  ('v_files', 'pruned_at', 'INTEGER', 'ms', 'When a prune deleted its attempts and sessions, and usually its chunks; attempts and bytes still count them. NULL for never.');

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
  ('v_chunks', 'bytes_acked', 'INTEGER', 'bytes', 'Bytes of it that are known to be stored: acknowledged by the server, or for a download, on the disk; all of it when it is done.'),
  ('v_chunks', 'attempts', 'INTEGER', '', 'Requests made for it.'),
  ('v_chunks', 'failures', 'INTEGER', '', 'Attempts without progress.'),
  ('v_chunks', 'not_before', 'INTEGER', 'ms', 'Not tried again before this time.'),
  ('v_chunks', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent.'),
  ('v_chunks', 'etag', 'TEXT', '', 'ETag of the part.'),
  ('v_chunks', 'confirmed_by', 'TEXT', '', 'How the server confirmed it: digest, etag, size or none.'),
  ('v_chunks', 'losses', 'INTEGER', '', 'How often the server lost it after acknowledging it.'),
  ('v_chunks', 'reused', 'INTEGER', 'bytes', 'How many of its bytes were not fetched, because a local file had them; NULL for none.');

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
  ('v_attempts', 'session_id', 'INTEGER', '', 'The session that it used.'),
  ('v_attempts', 'run_id', 'INTEGER', '', 'Run of the engine that made it.'),
  ('v_attempts', 'operation', 'TEXT', '', 'create, probe, prepare, part, finish, save, verify or abort.'),
  ('v_attempts', 'n', 'INTEGER', '', 'Count of this operation for this file or chunk, from 1.'),
  ('v_attempts', 'started_at', 'INTEGER', 'ms', 'Recorded before the request was sent.'),
  ('v_attempts', 'ended_at', 'INTEGER', 'ms', 'When its result was known; of a crashed one, the last sign of life of its engine. NULL while it is open.'),
  ('v_attempts', 'outcome', 'TEXT', '', 'open, ok, retry, fatal, unknown, interrupted or crashed.'),
  ('v_attempts', 'error_code', 'TEXT', '', 'Error code if it did not succeed; see v_errors.'),
  ('v_attempts', 'message', 'TEXT', '', 'Message of the error; may contain text from a server.'),
  ('v_attempts', 'http_status', 'INTEGER', '', 'Status of the answer; NULL if there was none.'),
  ('v_attempts', 'curl_code', 'INTEGER', '', 'CURLcode; 0 when the transport succeeded.'),
  ('v_attempts', 'errno', 'INTEGER', '', 'errno of the system call that failed.'),
  ('v_attempts', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes, sent (upload) or received (download).'),
  ('v_attempts', 'bytes_acked', 'INTEGER', 'bytes', 'How many of them count: acknowledged by the answer, or found on the server by a later request; for a download, on the disk.'),
  ('v_attempts', 'dns_ms', 'INTEGER', 'ms', 'From the start to the resolved address; NULL if it did not get that far.'),
  ('v_attempts', 'connect_ms', 'INTEGER', 'ms', 'From the start to the connection.'),
  ('v_attempts', 'tls_ms', 'INTEGER', 'ms', 'From the start to the end of the TLS handshake.'),
  ('v_attempts', 'sent_ms', 'INTEGER', 'ms', 'From the start until the last byte of the body was handed to the network; NULL without a body, or if it was not sent completely.'),
  ('v_attempts', 'first_byte_ms', 'INTEGER', 'ms', 'From the start to the first byte of the answer.'),
  ('v_attempts', 'total_ms', 'INTEGER', 'ms', 'From the start to the end.'),
  ('v_attempts', 'held_ms', 'INTEGER', 'ms', 'Part of total_ms in which our rate limits delayed the body; NULL if none did.'),
  ('v_attempts', 'remote_ip', 'TEXT', '', 'Address of the server.'),
  ('v_attempts', 'http_version', 'TEXT', '', '1.1, 2, …'),
  ('v_attempts', 'request_id', 'TEXT', '', 'ID that the server gave to the request.'),
  ('v_attempts', 'retry_after_ms', 'INTEGER', 'ms', 'Wait that the server asked for.'),
  ('v_attempts', 'backoff_ms', 'INTEGER', 'ms', 'Backoff before the next attempt.'),
  ('v_attempts', 'is_repeatable', 'INTEGER', '0 or 1', '1 if repeating the request does no harm.'),
  ('v_attempts', 'may_have_arrived', 'INTEGER', '0 or 1', '1 if the request may have reached the server.'),
  ('v_attempts', 'reply_excerpt', 'BLOB', 'bytes of a text', 'The beginning of the body of the answer, without our secrets; not always UTF-8. NULL if there was none.'),
  ('v_attempts', 'mirror', 'TEXT', '', 'Host and port of the mirror that it was sent to, or of the server that a redirect or a command led to; NULL if it was sent to the server of its destination.');

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
  ('v_events', 'at', 'INTEGER', 'ms', 'When it happened.'),
  ('v_events', 'verb', 'TEXT', '', 'What was done: added, asked, paused, resumed, cancelled, retried, resolved, removed, cleaned, set, recovered, slept, pruned, …'),
  ('v_events', 'batch_id', 'INTEGER', '', 'Its batch; NULL if it is not about one batch.'),
  ('v_events', 'part_of', 'INTEGER', 'id', 'The event that it continues, if a verb took several transactions; NULL in the first one.'),
  ('v_events', 'files', 'INTEGER', '', 'How many files it is about, as in v_event_ranges; 0 when it is about a batch or the ledger.'),
  ('v_events', 'detail', 'TEXT', '', 'One line of text for display.');

CREATE VIEW v_event_ranges AS
SELECT
  event_id,
  first_file,
  last_file
FROM event_range;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_event_ranges', 'event_id', 'INTEGER', 'id', 'The event, as in v_events.'),
  ('v_event_ranges', 'first_file', 'INTEGER', 'id', 'The first file of the range.'),
  ('v_event_ranges', 'last_file', 'INTEGER', 'id', 'The last file of the range. The event is about all files whose numbers are in the range.');

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
  sha256,
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
  ('v_receipts', 'n', 'INTEGER', '', '1 for the proof of the done file; later findings have higher numbers.'),
  ('v_receipts', 'finding', 'TEXT', '', 'stored in the proof; about the object: found, lost or differs; about the local file of a download: intact, changed or missing.'),
  ('v_receipts', 'size', 'INTEGER', 'bytes', 'Size of the object, or of the local file as it was found.'),
  ('v_receipts', 'attempt_id', 'INTEGER', '', 'The attempt whose answer it is based on; NULL if a person resolved the file, and for findings about local files.'),
  ('v_receipts', 'confirmed_by', 'TEXT', '', 'How it was confirmed: digest, etag, size or none.'),
  ('v_receipts', 'algorithm', 'TEXT', '', 'Algorithm of the digest.'),
  ('v_receipts', 'digest', 'TEXT', 'algorithm:hex', 'Digest of what was sent or received, or of the local file as it was found.'),
  ('v_receipts', 'remote_digest', 'TEXT', 'algorithm:hex', 'Digest that the server reported.'),
  ('v_receipts', 'sha256', 'TEXT', 'algorithm:hex', 'SHA-256 of the content that was sent or received, as computed here, whatever the server confirmed; NULL if it was not recorded.'),
  ('v_receipts', 'etag', 'TEXT', '', 'ETag of the object.'),
  ('v_receipts', 'version_id', 'TEXT', '', 'Version of the object.'),
  ('v_receipts', 'request_id', 'TEXT', '', 'ID that the server gave to the confirming request.'),
  ('v_receipts', 'server_date', 'TEXT', '', 'Date of the confirming answer, as the server wrote it.'),
  ('v_receipts', 'location', 'TEXT', '', 'Where the object is, without secrets.'),
  ('v_receipts', 'note', 'TEXT', '', 'Why a person resolved the file as done; NULL if the server confirmed it.'),
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
  s.ok + s.retry + s.fatal + s.unknown + s.interrupted + s.crashed + s.after_end AS attempts,
  s.ok AS ok,
  s.retry AS retry,
  s.fatal AS fatal,
  s.unknown AS unknown,
  s.interrupted AS interrupted,
  s.crashed AS crashed,
  s.after_end AS after_end,
  s.bytes_transferred AS bytes_transferred,
  s.bytes_acked AS bytes_acked,
  s.first_at AS first_at,
  s.last_at AS last_at,
  s.errors AS errors
FROM pruned_sum s
JOIN prune p ON p.id = s.prune_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_pruned', 'prune_id', 'INTEGER', '', 'Number of the prune, one transaction of a store prune.'),
  ('v_pruned', 'pruned_at', 'INTEGER', 'ms', 'When it was pruned.'),
  ('v_pruned', 'before_at', 'INTEGER', 'ms', 'Only files that came to rest before this time were pruned.'),
  ('v_pruned', 'batch_id', 'INTEGER', '', 'The batch whose attempts these were.'),
  ('v_pruned', 'run_id', 'INTEGER', '', 'The run that made them.'),
  ('v_pruned', 'from_at', 'INTEGER', 'ms', 'Beginning of the quarter of an hour in which they began.'),
  ('v_pruned', 'files', 'INTEGER', '', 'Files whose first attempt was one of them.'),
  ('v_pruned', 'attempts', 'INTEGER', '', 'Attempts that were deleted.'),
  ('v_pruned', 'ok', 'INTEGER', '', 'Of these: succeeded.'),
  ('v_pruned', 'retry', 'INTEGER', '', 'Of these: failed and could be retried.'),
  ('v_pruned', 'fatal', 'INTEGER', '', 'Of these: failed permanently.'),
  ('v_pruned', 'unknown', 'INTEGER', '', 'Of these: lost their answers.'),
  ('v_pruned', 'interrupted', 'INTEGER', '', 'Of these: interrupted by us.'),
  ('v_pruned', 'crashed', 'INTEGER', '', 'Of these: open when their engine crashed.'),
  ('v_pruned', 'after_end', 'INTEGER', '', 'Of these: aborts, and queries about done files, with any outcome; the other counts leave them out.'),
  ('v_pruned', 'bytes_transferred', 'INTEGER', 'bytes', 'Body bytes that they transferred.'),
  ('v_pruned', 'bytes_acked', 'INTEGER', 'bytes', 'How many of these bytes are known to be stored.'),
  ('v_pruned', 'first_at', 'INTEGER', 'ms', 'Start of the first.'),
  ('v_pruned', 'last_at', 'INTEGER', 'ms', 'End of the last.'),
  ('v_pruned', 'errors', 'TEXT', 'json', 'By error code: the count, the newest attempt, the first start, the last end.');

CREATE VIEW v_removals AS
SELECT
  m.file_id,
  f.batch_id,
  b.job,
  b.after AS action,
  f.path,
  CASE WHEN m.state = 'pending' THEN 'waiting' WHEN m.state = 'done' THEN 'done'
    WHEN m.state = 'skipped' AND m.cause = 'source.missing' THEN 'gone' ELSE 'kept' END AS state,
  m.attempts,
  m.failures,
  m.put_off_at,
  m.due_at,
  m.cause,
  m.message,
  m.recorded_at,
  m.ended_at
FROM removal m JOIN file f ON f.id = m.file_id JOIN batch b ON b.id = f.batch_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_removals', 'file_id', 'INTEGER', '', 'The file whose source is to be deleted or moved.'),
  ('v_removals', 'batch_id', 'INTEGER', '', 'Its batch.'),
  ('v_removals', 'job', 'TEXT', '', 'Its job; NULL for none.'),
  ('v_removals', 'action', 'TEXT', '', 'delete or move; NULL if the batch was later set to keep the remaining sources.'),
  ('v_removals', 'path', 'BLOB', 'bytes of a name', 'Path of the source.'),
  ('v_removals', 'state', 'TEXT', '', 'waiting, done, gone (somebody else removed the source), or kept: it stays, by decision or after too many failures.'),
  ('v_removals', 'attempts', 'INTEGER', '', 'How often it was tried.'),
  ('v_removals', 'failures', 'INTEGER', '', 'How often it failed; after ten failures the source stays.'),
  ('v_removals', 'put_off_at', 'INTEGER', 'ms', 'Since when it has been postponed for its cause, which does not count as a failure; NULL if it is not postponed.'),
  ('v_removals', 'due_at', 'INTEGER', 'ms', 'When a run that finds nothing else to do tries it again, if it was postponed for an error that passes by itself.'),
  ('v_removals', 'cause', 'TEXT', '', 'Why the source is still there (v_errors); policy.cancelled if a person revoked the removal.'),
  ('v_removals', 'message', 'TEXT', '', 'Message for the cause; for a removal that is done, a remark.'),
  ('v_removals', 'recorded_at', 'INTEGER', 'ms', 'When its file was done.'),
  ('v_removals', 'ended_at', 'INTEGER', 'ms', 'When it was done or given up.');

CREATE VIEW v_series AS
SELECT
  s.id AS series_id,
  d.place,
  s.key,
  s.number,
  s.path,
  s.size AS bytes,
  count(g.file_id) AS segments,
  coalesce(sum(iif(f.state = 'done', f.size, 0)), 0) AS bytes_done,
  coalesce(sum(iif(f.state = 'cancelled' OR f.state = 'superseded' OR f.state = 'failed' AND f.hidden = 1, f.size, 0)), 0)
    AS bytes_missing,
  s.began_at,
  s.grown_at
FROM series s JOIN destination d ON d.id = s.destination_id LEFT JOIN segment g ON g.series_id = s.id
  LEFT JOIN file f ON f.id = g.file_id
GROUP BY s.id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_series', 'series_id', 'INTEGER', '', 'Number of the series of segments of a growing file.'),
  ('v_series', 'place', 'TEXT', '', 'Where the segments are sent.'),
  ('v_series', 'key', 'BLOB', 'bytes of a name', 'Key that the whole file would have; the segments add the number of the series and where they begin.'),
  ('v_series', 'number', 'INTEGER', '', 'Number of the series, part of the keys: when it began (milliseconds since 1970 UTC). The next begins when the file was truncated, rewritten or replaced.'),
  ('v_series', 'path', 'BLOB', 'bytes of a name', 'Where the file was seen last.'),
  ('v_series', 'bytes', 'INTEGER', 'bytes', 'How much of the file is recorded.'),
  ('v_series', 'segments', 'INTEGER', '', 'Into how many segments.'),
  ('v_series', 'bytes_done', 'INTEGER', 'bytes', 'Of the bytes: done.'),
  ('v_series', 'bytes_missing', 'INTEGER', 'bytes', 'Of the bytes: in segments that were cancelled, or failed and were hidden. The others wait.'),
  ('v_series', 'began_at', 'INTEGER', 'ms', 'When its first segment was recorded.'),
  ('v_series', 'grown_at', 'INTEGER', 'ms', 'When its newest segment was recorded.');

CREATE VIEW v_segments AS
SELECT g.file_id, g.series_id, f.key, g.start, f.size, f.state, g.digest
FROM segment g JOIN file f ON f.id = g.file_id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_segments', 'file_id', 'INTEGER', '', 'The file that is the segment.'),
  ('v_segments', 'series_id', 'INTEGER', '', 'Its series (v_series).'),
  ('v_segments', 'key', 'BLOB', 'bytes of a name', 'Name at the destination: the objects of a series in the order of their names are the file.'),
  ('v_segments', 'start', 'INTEGER', 'bytes', 'Where it begins in the growing file.'),
  ('v_segments', 'size', 'INTEGER', 'bytes', 'Its length.'),
  ('v_segments', 'state', 'TEXT', '', 'State of the file; a cancelled segment is a hole in its series.'),
  ('v_segments', 'digest', 'TEXT', '', 'SHA-256 of its bytes, computed from the copy that is sent.');

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
  unreadable,
  special,
  known,
  refused
FROM scan;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_scans', 'job', 'TEXT', '', 'The job that the sources were scanned for; NULL for none.'),
  ('v_scans', 'place', 'TEXT', '', 'Where they are sent.'),
  ('v_scans', 'sources', 'TEXT', 'json', 'The named sources: files, folders, patterns or a list, and the rules.'),
  ('v_scans', 'completed_at', 'INTEGER', 'ms', 'When the last complete scan of them ended; scans that ended with an error are not recorded.'),
  ('v_scans', 'took_ms', 'INTEGER', 'ms', 'How long it took.'),
  ('v_scans', 'files', 'INTEGER', '', 'Files that it saw, without those that rules excluded.'),
  ('v_scans', 'new', 'INTEGER', '', 'Of these: new.'),
  ('v_scans', 'changed', 'INTEGER', '', 'Of these: changed.'),
  ('v_scans', 'unchanged', 'INTEGER', '', 'Of these: already sent.'),
  ('v_scans', 'queued', 'INTEGER', '', 'Of these: already queued.'),
  ('v_scans', 'settling', 'INTEGER', '', 'Of these: still being written.'),
  ('v_scans', 'not_ready', 'INTEGER', '', 'Of these: without the marker file that shows that they are complete.'),
  ('v_scans', 'excluded', 'INTEGER', '', 'Excluded by rules, not among these.'),
  ('v_scans', 'unreadable', 'INTEGER', '', 'Of these: not readable, or impossible to send: recorded as failed, or refused.'),
  ('v_scans', 'special', 'INTEGER', '', 'Links, FIFOs, sockets, devices and files of the ledger itself, not among these.'),
  ('v_scans', 'known', 'INTEGER', '', 'Of these: not sent, because a list of the destination has them (--known-at).'),
  ('v_scans', 'refused', 'INTEGER', '', 'Of these: refused, and no row of a file says so: they would replace the only copy or a segment, or were cancelled when they may have arrived.');

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
  ('v_callbacks', 'batch_id', 'INTEGER', '', 'The batch that it reports, or that contains the reported file; NULL for a job.'),
  ('v_callbacks', 'job', 'TEXT', '', 'The job that it reports, or that created the batch.'),
  ('v_callbacks', 'file_id', 'INTEGER', '', 'The file that it reports; NULL for a batch or job.'),
  ('v_callbacks', 'event', 'TEXT', '', 'Of a file: done, failed, unknown. Of a batch: batch_done, batch_failed. Of a job: started, succeeded, unsuccessful.'),
  ('v_callbacks', 'kind', 'TEXT', '', 'exec, webhook, ping or mail.'),
  ('v_callbacks', 'target', 'TEXT', '', 'The program and its arguments, the addresses, the URL, or a reference to the URL.'),
  ('v_callbacks', 'state', 'TEXT', '', 'waiting, delivering, delivered, gave_up or cancelled.'),
  ('v_callbacks', 'failures', 'INTEGER', '', 'Deliveries that failed since it was recorded or manually retried.'),
  ('v_callbacks', 'deliveries', 'INTEGER', '', 'Deliveries that were started.'),
  ('v_callbacks', 'not_before', 'INTEGER', 'ms', 'Not delivered again before this time.'),
  ('v_callbacks', 'recorded_at', 'INTEGER', 'ms', 'When the reported event happened; NULL if unknown.'),
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
  ('v_forgotten_callbacks', 'receiver_id', 'INTEGER', '', 'Number of the receiver, which receives one kind of event.'),
  ('v_forgotten_callbacks', 'batch_id', 'INTEGER', '', 'The batch whose files it was to be notified of; NULL for a job.'),
  ('v_forgotten_callbacks', 'job', 'TEXT', '', 'The job that it was to be notified of, or that created the batch.'),
  ('v_forgotten_callbacks', 'event', 'TEXT', '', 'Of a file: done, failed, unknown. Of a batch: batch_done, batch_failed. Of a job: started, succeeded, unsuccessful.'),
  ('v_forgotten_callbacks', 'kind', 'TEXT', '', 'exec, webhook, ping or mail.'),
  ('v_forgotten_callbacks', 'target', 'TEXT', '', 'The program and its arguments, the addresses, the URL, or a reference to the URL.'),
  ('v_forgotten_callbacks', 'callbacks', 'INTEGER', '', 'Callbacks that were given up and whose rows were deleted.'),
  ('v_forgotten_callbacks', 'first_at', 'INTEGER', 'ms', 'When the first of them was recorded.'),
  ('v_forgotten_callbacks', 'last_at', 'INTEGER', 'ms', 'When the last of them was recorded.'),
  ('v_forgotten_callbacks', 'heard_since', 'INTEGER', '', '1 if a later callback was delivered, else 0.');

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
  ('v_deliveries', 'n', 'INTEGER', '', 'Number of the delivery attempt, from 1.'),
  ('v_deliveries', 'started_at', 'INTEGER', 'ms', 'When it began.'),
  ('v_deliveries', 'ended_at', 'INTEGER', 'ms', 'When it ended; after a crash, when that was detected.'),
  ('v_deliveries', 'outcome', 'TEXT', '', 'open, ok, failed, interrupted or crashed.'),
  ('v_deliveries', 'exit_code', 'INTEGER', '', 'Exit code of the program; -1 if a signal ended it.'),
  ('v_deliveries', 'http_status', 'INTEGER', '', 'Status of the answer.'),
  ('v_deliveries', 'message', 'TEXT', '', 'Why it failed.'),
  ('v_deliveries', 'output', 'BLOB', '', 'The first 4 KiB of the response or output, secrets masked.');
