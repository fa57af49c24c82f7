-- One row stands for each key: a newer generation also takes the place of one that failed or was called off, as it always did of one
-- that waited. So what is listed as failed is what failed last, and a later success ends it. A file whose outcome is unknown may be
-- followed by a newer version of its content.
PRAGMA writable_schema = ON;
-- Also of a source that could not even be looked at.
UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state = ''failed'' OR (size IS NOT NULL', 'CHECK (state = ''failed'' OR state = ''superseded'' OR (size IS NOT NULL')
WHERE type = 'table' AND name = 'file';
PRAGMA writable_schema = RESET;

DROP TRIGGER file_arrow;
CREATE TRIGGER file_arrow BEFORE UPDATE OF state ON file
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'settling' THEN NEW.state = 'pending' OR NEW.state = 'cancelled' OR NEW.state = 'superseded'
  WHEN 'pending' THEN NEW.state = 'active' OR NEW.state = 'paused' OR NEW.state = 'cancelled'
    OR NEW.state = 'failed' OR NEW.state = 'superseded'
  WHEN 'active' THEN NEW.state = 'finishing' OR NEW.state = 'done' OR NEW.state = 'pending'
    OR NEW.state = 'failed' OR NEW.state = 'unknown' OR NEW.state = 'paused' OR NEW.state = 'cancelled'
    OR NEW.state = 'superseded'
  WHEN 'finishing' THEN NEW.state = 'done' OR NEW.state = 'pending' OR NEW.state = 'active'
    OR NEW.state = 'failed' OR NEW.state = 'unknown' OR NEW.state = 'superseded' OR NEW.state = 'cancelled'
  WHEN 'paused' THEN NEW.state = 'pending' OR NEW.state = 'cancelled'
  WHEN 'failed' THEN NEW.state = 'pending' OR NEW.state = 'superseded'
  WHEN 'cancelled' THEN NEW.state = 'pending' OR NEW.state = 'superseded'
  WHEN 'unknown' THEN NEW.state = 'pending' OR NEW.state = 'done' OR NEW.state = 'cancelled' OR NEW.state = 'superseded'
  ELSE 0 END
BEGIN SELECT RAISE(FAIL, 'illegal transition of a file'); END;

UPDATE session SET abort_after = intended_at
WHERE state IN ('intended', 'open') AND abort_after IS NULL AND file_id IN (
  SELECT f.id FROM file f WHERE f.live IS NULL AND f.state IN ('failed', 'cancelled') AND EXISTS (
    SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.generation > f.generation));
UPDATE file SET state = 'superseded'
WHERE live IS NULL AND state IN ('failed', 'cancelled') AND EXISTS (
  SELECT 1 FROM file g
  WHERE g.destination_id = file.destination_id AND g.key = file.key AND g.generation > file.generation);
