-- What protocols remember: of a session, and of a chunk that the server holds in part.

-- Names and values of the protocol's own (a JSON object): tokens, how far the last steps are.
ALTER TABLE session ADD COLUMN notes TEXT CHECK (notes LIKE '{%}');

-- Bytes from the start of a chunk that the server holds while the chunk is not done.
ALTER TABLE chunk ADD COLUMN acked INTEGER NOT NULL DEFAULT 0 CHECK (acked >= 0 AND acked <= length);
-- What the server said about the chunk (a JSON object): the URL of an upload of its own, values for the last steps.
ALTER TABLE chunk ADD COLUMN remote TEXT CHECK (remote LIKE '{%}');
-- A request for it lost its answer, and the server was not asked since.
ALTER TABLE chunk ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain = 0 OR uncertain = 1);

-- The last chunk may hold the remainder beside a whole chunk.
DROP TRIGGER chunk_birth;
CREATE TRIGGER chunk_birth BEFORE INSERT ON chunk
WHEN NEW.state <> 'pending'
  OR EXISTS (SELECT 1 FROM chunk WHERE id = NEW.id OR (file_id = NEW.file_id AND seq = NEW.seq))
  OR NOT EXISTS (
  SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'active' AND NEW.seq < chunk_count
    AND NEW.offset = NEW.seq * chunk_size
    AND NEW.length = iif(NEW.seq = chunk_count - 1, size - NEW.offset, chunk_size))
BEGIN SELECT RAISE(ABORT, 'a chunk begins pending, in an active file, where the layout puts it'); END;

DROP TRIGGER chunk_evidence;
-- Also that nothing is taken from a finished file: its chunks stay done.
CREATE TRIGGER chunk_evidence BEFORE UPDATE OF state ON chunk
WHEN (NEW.state = 'sending') <> EXISTS (
    SELECT 1 FROM attempt WHERE file_id = NEW.file_id AND chunk_id = NEW.id AND outcome = 'open')
  OR (NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (
    SELECT 1 FROM attempt WHERE id = NEW.done_attempt AND outcome = 'ok' AND CASE OLD.state
      WHEN 'sending' THEN chunk_id = NEW.id
      -- Its answer was lost, and asking showed that it is there; or it is empty, and there with its session.
      ELSE file_id = NEW.file_id AND (operation = 'verify' OR operation = 'probe' OR operation = 'create') END))
  OR (OLD.state = 'done' AND NEW.state <> 'done' AND EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state IN ('finishing', 'done')))
BEGIN SELECT RAISE(ABORT, 'a chunk is sending with its open attempt, and done by an attempt that succeeded'); END;

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
  (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id) AS bytes_acked,
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

DROP VIEW v_chunks;
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
  c.losses AS losses
FROM chunk c;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_chunks', 'bytes_acked', 'INTEGER', 'bytes', 'What the server acknowledged of it; all of it when it is done.');
UPDATE view_doc SET text = 'create, probe, prepare, part, finish, save, verify, abort or get.'
WHERE view = 'v_attempts' AND "column" = 'operation';
