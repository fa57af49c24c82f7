-- What the tables alone cannot refuse: births and transitions of rows, and the loss of history. A birth also refuses an
-- id that is there already, because INSERT OR REPLACE would delete the old row without asking the delete triggers.

-- ---------------------------------------------------------------------------------------------------------------------
-- Births: a row begins where its life begins.

CREATE TRIGGER engine_run_birth BEFORE INSERT ON engine_run WHEN NEW.ended_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a run begins without an end'); END;

CREATE TRIGGER file_birth BEFORE INSERT ON file
WHEN NEW.state <> 'settling' AND NEW.state <> 'pending' AND NEW.state <> 'failed'
  OR EXISTS (SELECT 1 FROM file WHERE id = NEW.id)
  OR NEW.generation <> 1 + max(
    coalesce((SELECT generation FROM file WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1), 0),
    coalesce((SELECT max(generation) FROM file
              WHERE destination_id = NEW.destination_id AND key = NEW.key AND live IS NULL), 0))
BEGIN SELECT RAISE(ABORT, 'a file begins settling, pending or failed, in the next generation'); END;

CREATE TRIGGER session_birth BEFORE INSERT ON session
WHEN NEW.state <> 'intended' OR EXISTS (SELECT 1 FROM session WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a session begins intended'); END;

CREATE TRIGGER chunk_birth BEFORE INSERT ON chunk
WHEN NEW.state <> 'pending'
  OR EXISTS (SELECT 1 FROM chunk WHERE id = NEW.id OR (file_id = NEW.file_id AND seq = NEW.seq))
  OR NOT EXISTS (
  SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'active' AND NEW.seq < chunk_count
    AND NEW.offset = NEW.seq * chunk_size AND NEW.length = min(chunk_size, size - NEW.offset))
BEGIN SELECT RAISE(ABORT, 'a chunk begins pending, in an active file, where the layout puts it'); END;

CREATE TRIGGER attempt_birth BEFORE INSERT ON attempt
WHEN NEW.outcome <> 'open'
  OR EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id)
  OR (NEW.operation <> 'abort' AND NOT EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state IN ('active', 'finishing') AND run_id = NEW.run_id))
  OR (NEW.chunk_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM chunk WHERE id = NEW.chunk_id AND file_id = NEW.file_id AND state = 'pending'))
  OR (NEW.operation = 'abort' AND NEW.session_id IS NULL)
BEGIN SELECT RAISE(ABORT, 'an attempt begins open, for a file that its run works on and a pending chunk'); END;

CREATE TRIGGER receipt_birth BEFORE INSERT ON receipt
WHEN NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'active' OR state = 'finishing'
  OR state = 'unknown'))
  OR EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.file_id)
BEGIN SELECT RAISE(ABORT, 'a receipt is for a file that is being finished'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Transitions: only along the arrows.

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
  WHEN 'paused' THEN NEW.state IN ('pending', 'cancelled')
  WHEN 'failed' THEN NEW.state = 'pending'
  WHEN 'cancelled' THEN NEW.state = 'pending'
  WHEN 'unknown' THEN NEW.state = 'pending' OR NEW.state = 'done' OR NEW.state = 'cancelled'
  ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'illegal transition of a file'); END;

CREATE TRIGGER file_rest BEFORE UPDATE OF state ON file
WHEN OLD.state IN ('active', 'finishing') AND NEW.state NOT IN ('active', 'finishing')
  AND EXISTS (SELECT 1 FROM attempt WHERE file_id = NEW.id AND outcome = 'open' AND operation <> 'abort')
BEGIN SELECT RAISE(ABORT, 'a file with an open attempt cannot come to rest'); END;

CREATE TRIGGER file_finish BEFORE UPDATE OF state ON file
WHEN NEW.state IN ('finishing', 'done') AND OLD.state NOT IN ('finishing', 'done')
  AND (SELECT count(*) FROM chunk WHERE file_id = NEW.id AND state = 'done') IS NOT NEW.chunk_count
BEGIN SELECT RAISE(ABORT, 'a file is finished when all its chunks are done'); END;

CREATE TRIGGER file_evidence BEFORE UPDATE OF state ON file
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a done file has a receipt'); END;

CREATE TRIGGER file_layout BEFORE UPDATE OF chunk_size, chunk_count ON file
WHEN OLD.chunk_count IS NOT NULL OR NEW.state <> 'active'
BEGIN SELECT RAISE(ABORT, 'the layout of an active file is set once'); END;

CREATE TRIGGER file_fixed BEFORE UPDATE OF id, uid, batch_id, destination_id, generation, path, key, size, mtime_ns,
  ctime_ns, inode, device, mode, created_at ON file
BEGIN SELECT RAISE(ABORT, 'what a file is does not change; a new generation does'); END;

CREATE TRIGGER chunk_arrow BEFORE UPDATE OF state ON chunk
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'pending' THEN NEW.state = 'sending' OR NEW.state = 'done' OR NEW.state = 'failed'
  WHEN 'sending' THEN NEW.state = 'done' OR NEW.state = 'waiting' OR NEW.state = 'pending'
    OR NEW.state = 'failed' OR NEW.state = 'unknown'
  WHEN 'waiting' THEN NEW.state IN ('pending', 'failed')
  WHEN 'done' THEN NEW.state = 'pending'
  WHEN 'failed' THEN NEW.state = 'pending'
  WHEN 'unknown' THEN NEW.state = 'pending'
  ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'illegal transition of a chunk'); END;

-- Also that nothing is taken from a finished file: its chunks stay done.
CREATE TRIGGER chunk_evidence BEFORE UPDATE OF state ON chunk
WHEN (NEW.state = 'sending') <> EXISTS (
    SELECT 1 FROM attempt WHERE file_id = NEW.file_id AND chunk_id = NEW.id AND outcome = 'open')
  OR (NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (
    SELECT 1 FROM attempt WHERE id = NEW.done_attempt AND outcome = 'ok' AND CASE OLD.state
      WHEN 'sending' THEN chunk_id = NEW.id
      -- Its answer was lost, and asking showed that the whole file is there.
      ELSE file_id = NEW.file_id AND operation = 'verify' END))
  OR (OLD.state = 'done' AND NEW.state <> 'done' AND EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state IN ('finishing', 'done')))
BEGIN SELECT RAISE(ABORT, 'a chunk is sending with its open attempt, and done by an attempt that succeeded'); END;

CREATE TRIGGER chunk_fixed BEFORE UPDATE OF id, file_id, seq, offset, length ON chunk
BEGIN SELECT RAISE(ABORT, 'a chunk stays where it is'); END;

CREATE TRIGGER session_arrow BEFORE UPDATE OF state ON session
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'intended' THEN NEW.state = 'open' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  WHEN 'open' THEN NEW.state = 'completed' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'illegal transition of a session'); END;

CREATE TRIGGER session_fixed BEFORE UPDATE OF id, file_id, run_id, intended_at ON session
BEGIN SELECT RAISE(ABORT, 'what a session is does not change'); END;

CREATE TRIGGER attempt_closed BEFORE UPDATE ON attempt WHEN OLD.outcome <> 'open'
BEGIN SELECT RAISE(ABORT, 'a closed attempt is history'); END;

CREATE TRIGGER attempt_fixed BEFORE UPDATE OF id, uid, file_id, chunk_id, session_id, run_id, operation, n,
  is_repeatable, started_at ON attempt
BEGIN SELECT RAISE(ABORT, 'what an attempt is does not change'); END;

CREATE TRIGGER engine_run_closed BEFORE UPDATE ON engine_run WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a run that ended is history'); END;

CREATE TRIGGER receipt_fixed BEFORE UPDATE ON receipt BEGIN SELECT RAISE(ABORT, 'a receipt does not change'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'an event does not change'); END;
CREATE TRIGGER destination_fixed BEFORE UPDATE ON destination
BEGIN SELECT RAISE(ABORT, 'a destination does not change'); END;
CREATE TRIGGER batch_fixed BEFORE UPDATE OF id, uid, destination_id, protocol, destination, settings, created_at ON batch
BEGIN SELECT RAISE(ABORT, 'what a batch was asked to do does not change'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- History stays.

CREATE TRIGGER store_meta_stays BEFORE DELETE ON store_meta BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER engine_run_stays BEFORE DELETE ON engine_run BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER destination_stays BEFORE DELETE ON destination BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER batch_stays BEFORE DELETE ON batch BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER file_stays BEFORE DELETE ON file BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER session_stays BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER chunk_stays BEFORE DELETE ON chunk BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER receipt_stays BEFORE DELETE ON receipt BEGIN SELECT RAISE(ABORT, 'history stays'); END;
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'history stays'); END;
