-- INSERT OR REPLACE and UPDATE OR REPLACE delete the rows that are in their way without asking the delete triggers. So births refuse
-- what is there already in every table, and updates refuse what would be unique no more. An UPDATE that names the number of a row
-- "rowid" sets off no trigger of the column, so numbers are compared at each update. And what is evidence stays as it was recorded.

CREATE TRIGGER store_meta_birth BEFORE INSERT ON store_meta WHEN EXISTS (SELECT 1 FROM store_meta)
BEGIN SELECT RAISE(FAIL, 'a store has one beginning'); END;
CREATE TRIGGER store_meta_fixed BEFORE UPDATE ON store_meta
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.created_by <> OLD.created_by OR NEW.created_at <> OLD.created_at
BEGIN SELECT RAISE(FAIL, 'who made a store does not change'); END;

CREATE TRIGGER error_code_birth BEFORE INSERT ON error_code WHEN EXISTS (SELECT 1 FROM error_code WHERE code = NEW.code)
BEGIN SELECT RAISE(FAIL, 'there is such a code'); END;
CREATE TRIGGER view_doc_birth BEFORE INSERT ON view_doc
WHEN EXISTS (SELECT 1 FROM view_doc WHERE view = NEW.view AND "column" = NEW."column")
BEGIN SELECT RAISE(FAIL, 'the column is documented'); END;

DROP TRIGGER engine_run_birth;
CREATE TRIGGER engine_run_birth BEFORE INSERT ON engine_run
WHEN NEW.ended_at IS NOT NULL OR EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM engine_run WHERE uid = NEW.uid) OR EXISTS (SELECT 1 FROM engine_run WHERE ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'a run begins without an end, when no other runs'); END;
CREATE TRIGGER engine_run_fixed BEFORE UPDATE ON engine_run
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.argv <> OLD.argv OR NEW.version <> OLD.version OR NEW.host <> OLD.host
  OR NEW.boot_id <> OLD.boot_id OR NEW.pid <> OLD.pid OR NEW.started_at <> OLD.started_at
BEGIN SELECT RAISE(FAIL, 'what a run is does not change'); END;

CREATE TRIGGER destination_birth BEFORE INSERT ON destination
WHEN EXISTS (SELECT 1 FROM destination WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM destination WHERE place = NEW.place)
BEGIN SELECT RAISE(FAIL, 'a destination is recorded once'); END;

CREATE TRIGGER batch_birth BEFORE INSERT ON batch
WHEN EXISTS (SELECT 1 FROM batch WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM batch WHERE uid = NEW.uid)
  OR EXISTS (SELECT 1 FROM batch WHERE name = NEW.name)
BEGIN SELECT RAISE(FAIL, 'a batch is recorded once'); END;
DROP TRIGGER batch_fixed;
CREATE TRIGGER batch_fixed BEFORE UPDATE ON batch
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.name IS NOT OLD.name OR NEW.destination_id <> OLD.destination_id
  OR NEW.protocol <> OLD.protocol OR NEW.destination <> OLD.destination OR NEW.settings <> OLD.settings
  OR NEW.created_at <> OLD.created_at
BEGIN SELECT RAISE(FAIL, 'what a batch was asked to do does not change'); END;

CREATE TRIGGER event_birth BEFORE INSERT ON event WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
BEGIN SELECT RAISE(FAIL, 'an event is recorded once'); END;

-- Files: the number, the generation that lives, and what is done.
CREATE TRIGGER file_number BEFORE UPDATE ON file WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'a file keeps its number'); END;
CREATE TRIGGER file_revival BEFORE UPDATE OF live ON file
WHEN NEW.live = 1 AND OLD.live IS NULL AND EXISTS (SELECT 1 FROM file
  WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1)
BEGIN SELECT RAISE(FAIL, 'one generation lives at a time'); END;
CREATE TRIGGER file_history BEFORE UPDATE OF started_at, finished_at, cause, message, holds ON file WHEN OLD.state = 'done'
BEGIN SELECT RAISE(FAIL, 'what is done is history'); END;

CREATE TRIGGER chunk_number BEFORE UPDATE ON chunk WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'a chunk keeps its number'); END;
CREATE TRIGGER chunk_history BEFORE UPDATE OF etag, digest, md5, confirmation, done_attempt ON chunk
WHEN OLD.state = 'done' AND NEW.state = 'done'
BEGIN SELECT RAISE(FAIL, 'what confirmed a chunk does not change'); END;

DROP TRIGGER session_birth;
CREATE TRIGGER session_birth BEFORE INSERT ON session
WHEN NEW.state <> 'intended' OR EXISTS (SELECT 1 FROM session WHERE id = NEW.id)
  OR NEW.abort_after IS NULL AND EXISTS (SELECT 1 FROM session
    WHERE file_id = NEW.file_id AND state IN ('intended', 'open') AND abort_after IS NULL)
BEGIN SELECT RAISE(FAIL, 'a session begins intended, when its file has no other'); END;
CREATE TRIGGER session_history BEFORE UPDATE ON session
WHEN OLD.ended_at IS NOT NULL OR NEW.id <> OLD.id OR OLD.abort_after IS NOT NULL AND NEW.abort_after IS NULL
  OR OLD.remote_id IS NOT NULL AND (NEW.remote_id IS NOT OLD.remote_id OR NEW.opened_at IS NOT OLD.opened_at)
BEGIN SELECT RAISE(FAIL, 'a session keeps its name and its end'); END;

DROP TRIGGER attempt_closed;
CREATE TRIGGER attempt_closed BEFORE UPDATE ON attempt WHEN OLD.outcome <> 'open' OR NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'a closed attempt is history'); END;
CREATE TRIGGER attempt_once BEFORE INSERT ON attempt
WHEN NEW.chunk_id IS NOT NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id = NEW.chunk_id AND n = NEW.n)
  OR NEW.chunk_id IS NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id IS NULL AND n = NEW.n)
BEGIN SELECT RAISE(FAIL, 'an attempt has a number of its own'); END;
