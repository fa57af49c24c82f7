-- What is done must not cost more because much was done before. A statement that writes, or that an engine waits for, finds its
-- rows by an index that holds little else (a test reads the plans of all statements, and counts their steps in ledgers of two sizes).

-- Whether a session that a server lists is ours is asked while an engine waits for the answer.
CREATE INDEX session_remote ON session (remote_id) WHERE remote_id IS NOT NULL;

-- How many files of a batch are hidden; whether any is, as before.
DROP INDEX file_hidden;
CREATE INDEX file_hidden ON file (batch_id) WHERE hidden IS NOT NULL;

-- Holds all that is added up of what backs off (`state` as in 0006).
DROP INDEX file_waiting;
CREATE INDEX file_waiting ON file (not_before, batch_id, size, state) WHERE state = 'pending' AND not_before IS NOT NULL;

-- Of the files that were begun and are at rest, few hold bytes at the server; the chunks of those alone are added up. Set when a file
-- comes to rest while a chunk of it is stored, and never taken back: it says where to look, not what is there.
ALTER TABLE file ADD COLUMN holds INTEGER CHECK (holds = 1);
UPDATE file SET holds = 1 WHERE chunk_count IS NOT NULL AND run_id IS NULL AND state <> 'done'
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = file.id AND (state = 'done' OR acked > 0));
DROP INDEX file_partial;
CREATE INDEX file_partial ON file (batch_id, state) WHERE holds IS NOT NULL AND run_id IS NULL AND state <> 'done';
CREATE TRIGGER file_holds AFTER UPDATE OF state ON file
WHEN NEW.run_id IS NULL AND NEW.state <> 'done' AND OLD.run_id IS NOT NULL AND NEW.holds IS NULL AND NEW.chunk_count IS NOT NULL
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state = 'done' OR acked > 0))
BEGIN UPDATE file SET holds = 1 WHERE id = NEW.id; END;
