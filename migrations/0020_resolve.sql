-- A person says what became of a file whose outcome is unknown. What is done by somebody's word has a receipt that says so, and its
-- chunks stay as they were: nobody acknowledged them.
ALTER TABLE receipt ADD COLUMN note TEXT CHECK (note IS NULL OR (note <> '' AND confirmation = 'none'));

PRAGMA writable_schema = ON;
-- That a done file has a layout follows from the trigger file_finish; a file whose very first answer was lost may have none.
UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (chunk_count IS NOT NULL OR state NOT IN (''finishing'', ''done''))', 'CHECK (chunk_count IS NOT NULL OR state <> ''finishing'')')
WHERE type = 'table' AND name = 'file';
PRAGMA writable_schema = RESET;

DROP TRIGGER file_finish;
CREATE TRIGGER file_finish BEFORE UPDATE OF state ON file
WHEN NEW.state IN ('finishing', 'done') AND OLD.state NOT IN ('finishing', 'done')
  AND (SELECT count(*) FROM chunk WHERE file_id = NEW.id AND state = 'done') IS NOT NEW.chunk_count
  AND NOT (OLD.state = 'unknown' AND EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id AND note IS NOT NULL))
BEGIN SELECT RAISE(FAIL, 'a file is finished when all its chunks are done'); END;

DROP TRIGGER receipt_birth;
CREATE TRIGGER receipt_birth BEFORE INSERT ON receipt
WHEN NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'unknown'
  OR NEW.note IS NULL AND (state = 'active' OR state = 'finishing')))
  OR EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.file_id)
BEGIN SELECT RAISE(FAIL, 'a receipt is for a file that is being finished'); END;

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
  r.note AS proof_note,
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
  ('v_files', 'proof_note', 'TEXT', '', 'Why a person says that it is done; NULL where the server confirmed it.');
UPDATE view_doc
SET text = 'What was done: added, asked, paused, resumed, cancelled, retried, resolved, removed, cleaned, set, recovered, …'
WHERE view = 'v_events' AND "column" = 'verb';
UPDATE error_code SET hint = 'the answer was lost and the server cannot be asked; look there, then "transfers resolve"'
WHERE code = 'proto.lost_answer';
UPDATE error_code SET hint = 'the engine died while the request was open; look at the server, then "transfers resolve"'
WHERE code = 'engine.orphaned';
