-- What people ask of files and batches while an engine may have them.
--
-- A person changes rows that nobody works on at once. A file in the hands of an engine is asked by its `wish`: the engine
-- sees it within a quarter of a second, and every transition that takes the file out of its hands honours it, also the
-- recovery after a crash. Rows without a wish, a limit or a veil enter none of the indexes below.

ALTER TABLE file ADD COLUMN wish TEXT
  CHECK (wish IS NULL OR ((wish = 'pause' OR wish = 'pause-now' OR wish = 'cancel' OR wish = 'remove')
    AND state IN ('active', 'finishing')));
-- Tidied away: left out where people look at what goes on, never out of reports.
ALTER TABLE file ADD COLUMN hidden INTEGER
  CHECK (hidden IS NULL OR (hidden = 1
    AND (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded')));
CREATE INDEX file_wish ON file (wish) WHERE wish IS NOT NULL;
-- Whether anything is hidden has to be known before each look; mostly nothing is.
CREATE INDEX file_hidden ON file (hidden) WHERE hidden IS NOT NULL;

ALTER TABLE batch ADD COLUMN rate INTEGER CHECK (rate >= 1);
ALTER TABLE batch ADD COLUMN workers INTEGER CHECK (workers >= 1);
ALTER TABLE batch ADD COLUMN deadline_at INTEGER;
ALTER TABLE batch ADD COLUMN hidden INTEGER CHECK (hidden = 1);
CREATE INDEX batch_limits ON batch (id)
  WHERE rate IS NOT NULL OR workers IS NOT NULL OR deadline_at IS NOT NULL;

-- A run has to say that paused files are left; it finds them here.
CREATE INDEX file_paused ON file (state) WHERE state = 'paused';

INSERT INTO error_code (code, blame, hint) VALUES
  ('policy.deadline', 'policy', 'the deadline of its batch has passed; "transfers set --deadline" gives another or none');

DROP VIEW v_batches;
CREATE VIEW v_batches AS
SELECT
  b.id AS id,
  lower(substr(hex(b.uid), 1, 8) || '-' || substr(hex(b.uid), 9, 4) || '-' || substr(hex(b.uid), 13, 4) || '-' ||
    substr(hex(b.uid), 17, 4) || '-' || substr(hex(b.uid), 21, 12)) AS uid,
  b.name AS name,
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

DROP VIEW v_files;
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
  (SELECT count(*) FROM attempt a WHERE a.file_id = f.id) AS attempts,
  f.failures AS failures,
  f.not_before AS not_before,
  f.priority AS priority,
  f.chunk_count AS chunks,
  (SELECT coalesce(sum(c.length), 0) FROM chunk c WHERE c.file_id = f.id AND c.state = 'done') AS bytes_acked,
  (SELECT coalesce(sum(a.bytes_sent), 0) FROM attempt a WHERE a.file_id = f.id) AS bytes_sent,
  r.confirmation AS confirmed_by,
  r.digest AS digest,
  r.remote_digest AS remote_digest,
  r.etag AS etag,
  r.version_id AS version_id,
  r.location AS location,
  r.request_id AS request_id,
  f.created_at AS created_at,
  f.started_at AS started_at,
  f.finished_at AS finished_at
FROM file f
JOIN destination d ON d.id = f.destination_id
LEFT JOIN receipt r ON r.file_id = f.id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_batches', 'rate', 'INTEGER', 'bytes/s', 'Limit for all its requests together; NULL for none.'),
  ('v_batches', 'workers', 'INTEGER', '', 'Requests that it may have at a time; NULL for no limit of its own.'),
  ('v_batches', 'deadline_at', 'INTEGER', 'ms', 'After this time none of its files is begun; NULL for no deadline.'),
  ('v_batches', 'hidden', 'INTEGER', '1 or NULL', '1 when it was tidied away with all of its files.'),
  ('v_files', 'wish', 'TEXT', '', 'What the engine that has it was asked to do: pause, pause-now, cancel or remove.'),
  ('v_files', 'hidden', 'INTEGER', '1 or NULL', '1 when it was tidied away; reports still count it.');
UPDATE view_doc SET text = 'How it ended: done, drained, interrupted, recovered, crashed, failed: reason, …'
WHERE view = 'v_runs' AND "column" = 'how';
UPDATE view_doc SET text = 'What was done: added, asked, paused, resumed, cancelled, retried, removed, cleaned, set, recovered, …'
WHERE view = 'v_events' AND "column" = 'verb';
