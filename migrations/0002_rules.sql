-- Rules that table constraints cannot enforce: births and transitions of rows, required evidence, and no loss of
-- history.
--
-- INSERT OR REPLACE and UPDATE OR REPLACE delete conflicting rows without firing the delete triggers. So in every table
-- births refuse rows that already exist, and updates refuse values that would no longer be unique. A merge copies rows
-- that another ledger has already checked, and disables triggers for its own connection. For other connections, rows of
-- a batch (or run) with an origin may be born in their final state; all other rules are the same for them. The batch is
-- looked up only if a row would otherwise be refused, so that our own rows do not pay for it. For each table: how a row
-- begins, how it may change, the evidence that it needs, and what must be kept. The beginning of 0001 explains why
-- triggers use FAIL and write out lists with OR.

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger itself.

CREATE TRIGGER store_meta_birth BEFORE INSERT ON store_meta WHEN EXISTS (SELECT 1 FROM store_meta)
BEGIN SELECT RAISE(FAIL, 'a store is created once'); END;
-- A copy gets its own uid, and keeps the uid of its original.
CREATE TRIGGER store_meta_fixed BEFORE UPDATE ON store_meta
WHEN NEW.id <> OLD.id OR NEW.created_by <> OLD.created_by OR NEW.created_at <> OLD.created_at
  OR NEW.uid <> OLD.uid AND (NEW.copied_at IS OLD.copied_at OR NEW.origin_uid IS NOT coalesce(OLD.origin_uid, OLD.uid))
  OR NEW.uid = OLD.uid AND (NEW.copied_at IS NOT OLD.copied_at OR NEW.origin_uid IS NOT OLD.origin_uid)
  OR NEW.merged_since IS NOT OLD.merged_since AND (OLD.merged_since IS NOT NULL OR EXISTS (SELECT 1 FROM event))
BEGIN SELECT RAISE(FAIL, 'the origin of a store does not change'); END;
CREATE TRIGGER store_meta_stays BEFORE DELETE ON store_meta BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER error_code_birth BEFORE INSERT ON error_code WHEN EXISTS (SELECT 1 FROM error_code WHERE code = NEW.code)
BEGIN SELECT RAISE(FAIL, 'this code exists already'); END;
CREATE TRIGGER error_code_fixed BEFORE UPDATE ON error_code BEGIN SELECT RAISE(FAIL, 'an error code does not change'); END;
-- Causes refer to codes: without one, the failures that it describes could not be recorded.
CREATE TRIGGER error_code_stays BEFORE DELETE ON error_code BEGIN SELECT RAISE(FAIL, 'error codes stay'); END;

CREATE TRIGGER view_doc_birth BEFORE INSERT ON view_doc
WHEN EXISTS (SELECT 1 FROM view_doc WHERE view = NEW.view AND "column" = NEW."column")
BEGIN SELECT RAISE(FAIL, 'the column is documented already'); END;
CREATE TRIGGER view_doc_fixed BEFORE UPDATE ON view_doc
BEGIN SELECT RAISE(FAIL, 'the description of a column does not change'); END;
CREATE TRIGGER view_doc_stays BEFORE DELETE ON view_doc BEGIN SELECT RAISE(FAIL, 'descriptions of columns stay'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Runs of the engine.

CREATE TRIGGER engine_run_birth BEFORE INSERT ON engine_run
WHEN (NEW.ended_at IS NOT NULL) <> (NEW.origin_id IS NOT NULL) OR EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM engine_run WHERE uid = NEW.uid)
  OR NEW.origin_id IS NULL AND EXISTS (SELECT 1 FROM engine_run WHERE ended_at IS NULL AND origin_id IS NULL)
BEGIN SELECT RAISE(FAIL, 'a run begins open, while no other run is open; a merged run has ended'); END;
CREATE TRIGGER engine_run_fixed BEFORE UPDATE ON engine_run
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.argv <> OLD.argv OR NEW.version <> OLD.version OR NEW.host <> OLD.host
  OR NEW.boot_id <> OLD.boot_id OR NEW.pid <> OLD.pid OR NEW.started_at <> OLD.started_at OR NEW.origin_id IS NOT OLD.origin_id
BEGIN SELECT RAISE(FAIL, 'the identity of a run does not change'); END;
CREATE TRIGGER engine_run_closed BEFORE UPDATE ON engine_run WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(FAIL, 'an ended run does not change'); END;
CREATE TRIGGER engine_run_stays BEFORE DELETE ON engine_run BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER host_state_birth BEFORE INSERT ON host_state
WHEN NOT EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL)
  OR EXISTS (SELECT 1 FROM host_state WHERE host = NEW.host)
BEGIN SELECT RAISE(FAIL, 'the state of a host is written once, by a run that has not ended'); END;
CREATE TRIGGER host_state_change BEFORE UPDATE ON host_state
WHEN NEW.host <> OLD.host OR NOT EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'the state of a host is written by a run that has not ended'); END;
CREATE TRIGGER host_state_stays BEFORE DELETE ON host_state BEGIN SELECT RAISE(FAIL, 'the state of a host stays'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Requested work.

CREATE TRIGGER destination_birth BEFORE INSERT ON destination
WHEN EXISTS (SELECT 1 FROM destination WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM destination
    WHERE place = NEW.place AND origin_id IS NULL AND NEW.origin_id IS NULL)
  OR EXISTS (SELECT 1 FROM destination WHERE origin_id = NEW.origin_id AND place = NEW.place)
BEGIN SELECT RAISE(FAIL, 'a destination is recorded once'); END;
CREATE TRIGGER destination_fixed BEFORE UPDATE ON destination
BEGIN SELECT RAISE(FAIL, 'a destination does not change'); END;
CREATE TRIGGER destination_stays BEFORE DELETE ON destination BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER batch_birth BEFORE INSERT ON batch
WHEN EXISTS (SELECT 1 FROM batch WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM batch WHERE uid = NEW.uid)
  OR EXISTS (SELECT 1 FROM batch WHERE name = NEW.name AND origin_id IS NULL AND NEW.origin_id IS NULL)
BEGIN SELECT RAISE(FAIL, 'a batch is recorded once'); END;
CREATE TRIGGER batch_fixed BEFORE UPDATE ON batch
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.name IS NOT OLD.name OR NEW.destination_id <> OLD.destination_id
  OR NEW.protocol <> OLD.protocol OR NEW.destination <> OLD.destination OR NEW.settings <> OLD.settings
  OR NEW.created_at <> OLD.created_at OR NEW.direction <> OLD.direction OR NEW.job IS NOT OLD.job
  OR NEW.origin_id IS NOT OLD.origin_id OR NEW.after IS NOT OLD.after AND NEW.after IS NOT NULL
BEGIN SELECT RAISE(FAIL, 'the request of a batch does not change'); END;
CREATE TRIGGER batch_stays BEFORE DELETE ON batch BEGIN SELECT RAISE(FAIL, 'history stays'); END;

-- The last success is kept when a later run fails. A run that leaves files only because of the limits of its job is a
-- success.
CREATE TRIGGER job_state_birth BEFORE INSERT ON job_state
WHEN EXISTS (SELECT 1 FROM job_state WHERE job = NEW.job)
BEGIN SELECT RAISE(FAIL, 'a job has one state'); END;
CREATE TRIGGER job_state_success BEFORE UPDATE ON job_state
WHEN NEW.job <> OLD.job OR NEW.result <> 'ok' AND NEW.succeeded_at IS NOT OLD.succeeded_at
  AND NOT (NEW.result = 'work_left' AND NEW.succeeded_at IS NEW.ended_at)
BEGIN SELECT RAISE(FAIL, 'the last success of a job stays until the next'); END;
CREATE TRIGGER job_state_failures BEFORE UPDATE ON job_state WHEN NEW.failed_runs < OLD.failed_runs
BEGIN SELECT RAISE(FAIL, 'the count of failed runs does not decrease'); END;
CREATE TRIGGER job_state_stays BEFORE DELETE ON job_state BEGIN SELECT RAISE(FAIL, 'the state of a job stays'); END;

-- What binds the engines that work for a job changes only after an event that says how: an event that a shell inserts
-- has no leaf in the log, so `store check` finds it. An event permits one change, as long as it is the newest. That a
-- quota was reached may be noted at any time.
CREATE TRIGGER job_quota_birth BEFORE INSERT ON job_quota
WHEN EXISTS (SELECT 1 FROM job_quota WHERE job = NEW.job)
  OR NEW.after_event IS NOT coalesce((SELECT max(id) FROM event), 0)
BEGIN SELECT RAISE(FAIL, 'a job has one quota'); END;
CREATE TRIGGER job_quota_change BEFORE UPDATE ON job_quota
WHEN NEW.job <> OLD.job
  OR (NEW.bytes <> OLD.bytes OR NEW.period <> OLD.period OR NEW.after_event <> OLD.after_event)
  AND (SELECT id > OLD.after_event AND id = NEW.after_event AND verb = 'set'
      AND instr(detail, 'quota of job ' || OLD.job || ': ') = 1 FROM event
    ORDER BY id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'the quota of a job changes with an event'); END;
CREATE TRIGGER job_quota_stays BEFORE DELETE ON job_quota
WHEN (SELECT id > OLD.after_event AND verb = 'set' AND instr(detail, 'quota of job ' || OLD.job || ': ') = 1 FROM event
  ORDER BY id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'the quota of a job ends with an event'); END;

CREATE TRIGGER job_destination_birth BEFORE INSERT ON job_destination
WHEN EXISTS (SELECT 1 FROM job_destination WHERE job = NEW.job AND place = NEW.place AND prefix = NEW.prefix)
  OR NEW.after_event IS NOT coalesce((SELECT max(id) FROM event), 0)
BEGIN SELECT RAISE(FAIL, 'a destination of a job is recorded once'); END;
CREATE TRIGGER job_destination_fixed BEFORE UPDATE ON job_destination
BEGIN SELECT RAISE(FAIL, 'a destination of a job does not change'); END;
CREATE TRIGGER job_destination_stays BEFORE DELETE ON job_destination
WHEN (SELECT id > OLD.after_event AND verb = 'set'
    AND instr(detail, 'destinations of job ' || OLD.job || ': ') = 1 FROM event
  ORDER BY id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'a job loses a destination with an event'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Files.

CREATE TRIGGER file_birth BEFORE INSERT ON file
WHEN NEW.state <> 'settling' AND NEW.state <> 'pending' AND NEW.state <> 'failed' AND NOT (
    (NEW.state = 'done' OR NEW.state = 'cancelled' OR NEW.state = 'superseded')
    AND EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND origin_id IS NOT NULL))
  OR NEW.is_download IS NOT NULL AND NOT EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND direction = 'download')
  OR NEW.live = 1 AND NEW.is_download IS NOT NULL
    AND EXISTS (SELECT 1 FROM file WHERE path = NEW.path AND live = 1 AND is_download = 1)
  OR NEW.staged IS NOT NULL
  OR EXISTS (SELECT 1 FROM file WHERE id = NEW.id)
  -- Only one generation is live; checked here too, because INSERT OR REPLACE would delete the live one.
  OR EXISTS (SELECT 1 FROM file
    WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1
      AND (NEW.live = 1 OR generation >= NEW.generation))
  -- The next generation: none is newer, and the previous one exists.
  OR EXISTS (SELECT 1 FROM file
    WHERE destination_id = NEW.destination_id AND key = NEW.key AND live IS NULL AND generation >= NEW.generation)
  OR NEW.generation <> 1
    AND NOT EXISTS (SELECT 1 FROM file
      WHERE destination_id = NEW.destination_id AND key = NEW.key AND live IS NULL AND generation = NEW.generation - 1)
    AND NOT EXISTS (SELECT 1 FROM file
      WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1 AND generation = NEW.generation - 1)
BEGIN SELECT RAISE(FAIL, 'a file begins settling, pending or failed, as the next generation; a download begins in a batch of downloads'); END;
CREATE TRIGGER file_arrow BEFORE UPDATE OF state ON file
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'settling' THEN NEW.state = 'pending' OR NEW.state = 'cancelled' OR NEW.state = 'superseded'
    OR NEW.state = 'paused' AND OLD.requested_action = 'pause'
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
    OR NEW.state = 'done' AND OLD.may_have_arrived IS NOT NULL
  WHEN 'unknown' THEN NEW.state = 'pending' OR NEW.state = 'done' OR NEW.state = 'superseded'
    OR NEW.state = 'cancelled' AND NEW.may_have_arrived IS NOT NULL
  ELSE 0 END
BEGIN SELECT RAISE(FAIL, 'illegal transition of a file'); END;
-- What may have arrived stays so.
CREATE TRIGGER file_uncertain BEFORE UPDATE OF may_have_arrived ON file
WHEN NEW.may_have_arrived IS NOT OLD.may_have_arrived
  AND ((NEW.state = 'unknown' OR OLD.state = 'unknown' AND NEW.state = 'cancelled') AND NEW.may_have_arrived = 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'only a file that was unknown may have arrived'); END;
CREATE TRIGGER file_fixed BEFORE UPDATE OF id, uid, batch_id, destination_id, generation, key, is_download, expected,
  properties, mode, root, created_at ON file
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;
-- Except for the name of a download, which its server may provide before the file is placed.
CREATE TRIGGER file_named BEFORE UPDATE OF path ON file WHEN OLD.is_download IS NULL OR OLD.state <> 'finishing'
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;
-- The identity of a source that is still being written is updated until it has settled. The size of a download is
-- learned once; its partial file may change while no bytes are stored.
CREATE TRIGGER file_learned BEFORE UPDATE OF size, inode, device, boot ON file
WHEN (OLD.is_download IS NOT NULL OR OLD.state <> 'settling' OR NEW.state <> 'settling'
    OR NOT EXISTS (SELECT 1 FROM look WHERE file_id = OLD.id)) AND (
  OLD.is_download IS NULL OR OLD.state <> 'active' OR OLD.size IS NOT NULL AND NEW.size IS NOT OLD.size
  OR (NEW.inode IS NOT OLD.inode OR NEW.device IS NOT OLD.device OR NEW.boot IS NOT OLD.boot)
    AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state = 'done' OR acked > 0)))
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;
-- A copy of a ledger begins partial files of its own where the original may still use those that it made.
CREATE TRIGGER file_partial_of BEFORE UPDATE OF partial_of ON file
WHEN OLD.state <> 'active' OR NEW.partial_of IS NOT (SELECT uid FROM store_meta WHERE copied_at IS NOT NULL)
  OR NOT EXISTS (SELECT 1 FROM doubt WHERE file_id = OLD.id)
  OR EXISTS (SELECT 1 FROM chunk WHERE file_id = OLD.id AND (state = 'done' OR acked > 0))
BEGIN SELECT RAISE(FAIL, 'only a file in doubt gets a partial file of this copy'); END;
-- The times of the local file, set when it gets its name.
CREATE TRIGGER file_placed BEFORE UPDATE OF mtime_ns, ctime_ns ON file WHEN (OLD.is_download IS NULL OR OLD.state <> 'finishing')
  AND (OLD.is_download IS NOT NULL OR OLD.state <> 'settling' OR NEW.state <> 'settling'
    OR NOT EXISTS (SELECT 1 FROM look WHERE file_id = OLD.id))
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;
-- An UPDATE that calls the number of a row "rowid" fires no trigger of the column: numbers are compared at each update.
CREATE TRIGGER file_number BEFORE UPDATE ON file WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'the number of a file does not change'); END;
CREATE TRIGGER file_revival BEFORE UPDATE OF live ON file
WHEN NEW.live = 1 AND OLD.live IS NULL AND EXISTS (SELECT 1 FROM file
  WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1)
BEGIN SELECT RAISE(FAIL, 'only one generation is live at a time'); END;
-- The layout may change only while nothing is stored and no session is open; that of a download also while no more than
-- a beginning of its first chunk, old and new, is stored.
CREATE TRIGGER file_layout BEFORE UPDATE OF chunk_size, chunk_count, first_chunk_size ON file
WHEN NEW.state <> 'active'
  OR OLD.chunk_count IS NULL AND NEW.first_chunk_size IS NOT NULL
  OR OLD.chunk_count IS NOT NULL AND (
    NEW.chunk_size IS NULL OR NEW.chunk_size >= OLD.chunk_size OR NEW.chunk_count <= OLD.chunk_count
    OR NEW.first_chunk_size IS NOT coalesce(OLD.first_chunk_size, OLD.chunk_size)
    OR EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state <> 'pending'
      OR acked > 0 AND (NEW.is_download IS NULL OR seq > 0 OR acked >= NEW.chunk_size)))
    OR NEW.is_download IS NULL AND EXISTS (
      SELECT 1 FROM session WHERE file_id = NEW.id AND state IN ('intended', 'open') AND abort_after IS NULL))
BEGIN SELECT RAISE(FAIL, 'the layout of an active file is set once, or made finer while nothing is stored'); END;
CREATE TRIGGER file_staged BEFORE UPDATE OF staged ON file WHEN NEW.staged LIKE '%/%'
BEGIN SELECT RAISE(FAIL, 'the name of a staged copy contains no slash'); END;
CREATE TRIGGER file_evidence BEFORE UPDATE OF state ON file
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id AND n = 1)
BEGIN SELECT RAISE(FAIL, 'a done file has a receipt'); END;
-- A person may resolve a file as done whose outcome is unknown, or was when it was cancelled: its receipt has a note.
CREATE TRIGGER file_finish BEFORE UPDATE OF state ON file
WHEN NEW.state IN ('finishing', 'done') AND OLD.state NOT IN ('finishing', 'done')
  AND (SELECT count(*) FROM chunk WHERE file_id = NEW.id AND state = 'done') IS NOT NEW.chunk_count
  AND NOT ((OLD.state = 'unknown' OR OLD.state = 'cancelled') AND EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id AND n = 1 AND note IS NOT NULL))
BEGIN SELECT RAISE(FAIL, 'a file can finish only when all its chunks are done'); END;
CREATE TRIGGER file_rest BEFORE UPDATE OF state ON file
WHEN OLD.state IN ('active', 'finishing') AND NEW.state NOT IN ('active', 'finishing')
  AND EXISTS (SELECT 1 FROM attempt WHERE file_id = NEW.id AND outcome = 'open' AND operation <> 'abort')
BEGIN SELECT RAISE(FAIL, 'a file with an open attempt cannot come to rest'); END;
-- Few of the started files at rest have bytes stored; only the chunks of those are summed.
CREATE TRIGGER file_holds AFTER UPDATE OF state ON file
WHEN NEW.run_id IS NULL AND NEW.state <> 'done' AND OLD.run_id IS NOT NULL AND NEW.holds IS NULL AND NEW.chunk_count IS NOT NULL
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state = 'done' OR acked > 0))
BEGIN UPDATE file SET holds = 1 WHERE id = NEW.id; END;
CREATE TRIGGER file_history BEFORE UPDATE OF started_at, finished_at, cause, message, holds, priority, failures, folded
  ON file WHEN OLD.state = 'done'
BEGIN SELECT RAISE(FAIL, 'the history of a done file does not change'); END;
CREATE TRIGGER file_stays BEFORE DELETE ON file
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;
CREATE TRIGGER file_sum_late AFTER UPDATE OF state ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;
CREATE TRIGGER file_sum_hidden AFTER UPDATE OF hidden ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;

-- A settling file has a look; it is deleted when the file stops settling.
CREATE TRIGGER file_settled AFTER UPDATE OF state ON file WHEN OLD.state = 'settling' AND NEW.state <> 'settling'
BEGIN DELETE FROM look WHERE file_id = NEW.id; END;
-- The removal of the source is recorded when its file is done.
CREATE TRIGGER file_removal AFTER UPDATE OF state ON file
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND NEW.is_download IS NULL
  AND EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND after IS NOT NULL)
BEGIN INSERT INTO removal (file_id, inode, recorded_at) VALUES (NEW.id, NEW.inode, NEW.finished_at); END;

-- The last file of a batch ended, and with it the batch. The batch may continue, with a retry or more files, and end
-- again. The ledger has few active files in total, so those of the batch are searched among them (`+batch_id`).
CREATE TRIGGER file_batch_end AFTER UPDATE OF state ON file
WHEN NEW.state <> OLD.state AND OLD.state <> 'failed' AND OLD.state <> 'cancelled'
  AND (NEW.state = 'done' OR NEW.state = 'failed' OR NEW.state = 'unknown' OR NEW.state = 'cancelled'
    OR NEW.state = 'superseded' AND OLD.state <> 'unknown')
  AND EXISTS (SELECT 1 FROM callback
    WHERE batch_id = NEW.batch_id AND (event = 'batch_done' OR event = 'batch_failed'))
  AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'pending' AND not_before IS NULL)
  AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'pending' AND not_before IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM file WHERE run_id IS NOT NULL AND state IN ('active', 'finishing') AND +batch_id = NEW.batch_id)
  AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'settling')
  AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'paused'
    AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing')
BEGIN
  -- An earlier end that was not delivered yet is outdated.
  UPDATE outbox SET state = 'cancelled', ended_at = NEW.finished_at
  WHERE state = 'waiting' AND not_before >= 0 AND callback_id IN (SELECT id FROM callback
    WHERE batch_id = NEW.batch_id AND (event = 'batch_done' OR event = 'batch_failed'));
  INSERT INTO outbox (callback_id, recorded_at)
  SELECT id, NEW.finished_at FROM callback WHERE batch_id = NEW.batch_id AND event = CASE
    WHEN EXISTS (SELECT 1 FROM file WHERE state = 'failed' AND batch_id = NEW.batch_id
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing')
    OR EXISTS (SELECT 1 FROM file WHERE state = 'cancelled' AND batch_id = NEW.batch_id
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing')
    OR EXISTS (SELECT 1 FROM file WHERE state = 'unknown' AND batch_id = NEW.batch_id
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing')
    THEN 'batch_failed' ELSE 'batch_done' END;
END;
-- More files are recorded: the batch has not ended yet, and waiting callbacks that report its end are cancelled. If no
-- source could be read, the batch ends immediately.
CREATE TRIGGER file_batch_grows AFTER INSERT ON file
WHEN EXISTS (SELECT 1 FROM callback WHERE batch_id = NEW.batch_id AND (event = 'batch_done' OR event = 'batch_failed'))
BEGIN
  UPDATE outbox SET state = 'cancelled', ended_at = NEW.created_at
  WHERE state = 'waiting' AND not_before >= 0 AND callback_id IN (SELECT id FROM callback
    WHERE batch_id = NEW.batch_id AND (event = 'batch_done' OR NEW.state <> 'failed' AND event = 'batch_failed'));
  INSERT INTO outbox (callback_id, recorded_at)
  SELECT id, NEW.finished_at FROM callback WHERE batch_id = NEW.batch_id AND event = 'batch_failed'
    AND NEW.state = 'failed'
    -- One callback is enough while it waits: many sources may be unreadable.
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE callback_id = callback.id AND state = 'waiting' AND not_before >= 0)
    AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'pending' AND not_before IS NULL)
    AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'pending' AND not_before IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM file WHERE run_id IS NOT NULL AND state IN ('active', 'finishing') AND +batch_id = NEW.batch_id)
    AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'settling')
    AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = NEW.batch_id AND state = 'paused'
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing');
END;

-- Callbacks are recorded with the state change that they report.
CREATE TRIGGER file_callback AFTER UPDATE OF state ON file
WHEN NEW.state <> OLD.state AND (NEW.state = 'done' OR NEW.state = 'failed' OR NEW.state = 'unknown')
  AND EXISTS (SELECT 1 FROM callback WHERE batch_id = NEW.batch_id AND event = NEW.state)
BEGIN
  INSERT INTO outbox (callback_id, file_id, recorded_at)
  SELECT id, NEW.id, NEW.finished_at FROM callback WHERE batch_id = NEW.batch_id AND event = NEW.state;
END;
CREATE TRIGGER file_callback_born AFTER INSERT ON file
WHEN NEW.state = 'failed' AND EXISTS (SELECT 1 FROM callback WHERE batch_id = NEW.batch_id AND event = 'failed')
BEGIN
  INSERT INTO outbox (callback_id, file_id, recorded_at)
  SELECT id, NEW.id, NEW.finished_at FROM callback WHERE batch_id = NEW.batch_id AND event = 'failed';
END;

CREATE TRIGGER callback_birth BEFORE INSERT ON callback WHEN EXISTS (SELECT 1 FROM callback WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM callback
    WHERE batch_id = NEW.batch_id AND event = NEW.event AND kind = NEW.kind AND target = NEW.target)
  OR EXISTS (SELECT 1 FROM callback
    WHERE job = NEW.job AND event = NEW.event AND kind = NEW.kind AND target = NEW.target AND secret = NEW.secret)
BEGIN SELECT RAISE(FAIL, 'a receiver is recorded once'); END;
CREATE TRIGGER callback_fixed BEFORE UPDATE ON callback
BEGIN SELECT RAISE(FAIL, 'a receiver does not change'); END;
CREATE TRIGGER callback_stays BEFORE DELETE ON callback BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER outbox_birth BEFORE INSERT ON outbox
WHEN NEW.state <> 'waiting' OR NEW.failures <> 0 OR EXISTS (SELECT 1 FROM outbox WHERE id = NEW.id)
  OR NOT EXISTS (SELECT 1 FROM callback c LEFT JOIN file f ON f.id = NEW.file_id WHERE c.id = NEW.callback_id
    AND CASE WHEN c.event = 'batch_done' OR c.event = 'batch_failed' THEN NEW.file_id IS NULL AND NEW.uid IS NULL
      ELSE c.batch_id IS f.batch_id AND (f.id IS NULL OR f.state = c.event) AND (f.id IS NULL) = (NEW.file_id IS NULL)
        AND (NEW.file_id IS NULL) = (NEW.uid IS NOT NULL) END)
BEGIN SELECT RAISE(FAIL, 'a callback begins waiting, for a receiver of its batch or job, and reports the current state'); END;
CREATE TRIGGER outbox_arrow BEFORE UPDATE OF state ON outbox
WHEN NOT (OLD.state = NEW.state AND OLD.state = 'waiting'
  OR OLD.state = 'waiting' AND NEW.state = 'delivering'
  OR OLD.state = 'waiting' AND NEW.state = 'cancelled'
  OR OLD.state = 'waiting' AND NEW.state = 'gave_up' AND OLD.uid IS NOT NULL
  OR OLD.state = 'delivering' AND NEW.state = 'waiting'
  OR OLD.state = 'delivering' AND NEW.state = 'delivered'
  OR OLD.state = 'delivering' AND NEW.state = 'gave_up'
  OR OLD.state = 'gave_up' AND NEW.state = 'waiting'
  OR OLD.state = 'cancelled' AND NEW.state = 'waiting')
BEGIN SELECT RAISE(FAIL, 'illegal transition of a callback'); END;
CREATE TRIGGER outbox_delivered BEFORE UPDATE OF state ON outbox
WHEN NEW.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM delivery WHERE outbox_id = NEW.id AND outcome = 'ok')
BEGIN SELECT RAISE(FAIL, 'a delivered callback has a successful delivery'); END;
CREATE TRIGGER outbox_fixed BEFORE UPDATE ON outbox
WHEN NEW.id <> OLD.id OR NEW.callback_id <> OLD.callback_id OR NEW.file_id IS NOT OLD.file_id
  OR NEW.uid IS NOT OLD.uid OR NEW.body IS NOT OLD.body OR NEW.recorded_at IS NOT OLD.recorded_at
  OR NEW.result IS NOT OLD.result OR NEW.failed_runs IS NOT OLD.failed_runs
  OR OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT NULL
BEGIN SELECT RAISE(FAIL, 'the content of a callback does not change'); END;
CREATE TRIGGER outbox_stays BEFORE DELETE ON outbox WHEN OLD.ended_at IS NULL
BEGIN SELECT RAISE(FAIL, 'a callback cannot be deleted before it has ended'); END;

-- Callbacks that were given up are counted when their rows are deleted. A receiver that is down for weeks has one row.
CREATE TRIGGER outbox_forgotten AFTER DELETE ON outbox WHEN OLD.state = 'gave_up'
BEGIN
  UPDATE callback_loss SET callbacks = callbacks + 1,
    first_at = min(first_at, coalesce(OLD.recorded_at, OLD.ended_at)),
    last_at = max(last_at, coalesce(OLD.recorded_at, OLD.ended_at))
  WHERE callback_id = OLD.callback_id;
  INSERT INTO callback_loss (callback_id, callbacks, first_at, last_at)
  SELECT OLD.callback_id, 1, coalesce(OLD.recorded_at, OLD.ended_at), coalesce(OLD.recorded_at, OLD.ended_at)
  WHERE NOT EXISTS (SELECT 1 FROM callback_loss WHERE callback_id = OLD.callback_id);
END;
CREATE TRIGGER callback_loss_birth BEFORE INSERT ON callback_loss
WHEN EXISTS (SELECT 1 FROM callback_loss WHERE callback_id = NEW.callback_id)
BEGIN SELECT RAISE(FAIL, 'a receiver has one count of lost callbacks'); END;
CREATE TRIGGER callback_loss_grows BEFORE UPDATE ON callback_loss
WHEN NEW.callback_id <> OLD.callback_id OR NEW.callbacks <= OLD.callbacks OR NEW.first_at > OLD.first_at
  OR NEW.last_at < OLD.last_at
BEGIN SELECT RAISE(FAIL, 'the count of lost callbacks only grows'); END;
CREATE TRIGGER callback_loss_stays BEFORE DELETE ON callback_loss
BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER delivery_birth BEFORE INSERT ON delivery
WHEN NEW.outcome <> 'open' OR NEW.n <> 1 + (SELECT count(*) FROM delivery WHERE outbox_id = NEW.outbox_id)
  OR NOT EXISTS (SELECT 1 FROM outbox WHERE id = NEW.outbox_id AND state = 'delivering')
  OR EXISTS (SELECT 1 FROM delivery WHERE outbox_id = NEW.outbox_id AND outcome = 'open')
BEGIN SELECT RAISE(FAIL, 'one delivery of a callback at a time, in order'); END;
CREATE TRIGGER delivery_arrow BEFORE UPDATE ON delivery
WHEN OLD.outcome <> 'open' OR NEW.outcome = 'open' OR NEW.outbox_id <> OLD.outbox_id OR NEW.n <> OLD.n
  OR NEW.started_at <> OLD.started_at
BEGIN SELECT RAISE(FAIL, 'a delivery ends once'); END;
CREATE TRIGGER delivery_stays BEFORE DELETE ON delivery
WHEN EXISTS (SELECT 1 FROM outbox WHERE id = OLD.outbox_id AND ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'deliveries cannot be deleted before their callback has ended'); END;

CREATE TRIGGER look_birth BEFORE INSERT ON look
WHEN EXISTS (SELECT 1 FROM look WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'settling' AND is_download IS NULL)
BEGIN SELECT RAISE(FAIL, 'a settling source has one look'); END;
CREATE TRIGGER look_fixed BEFORE UPDATE ON look WHEN NEW.file_id <> OLD.file_id
BEGIN SELECT RAISE(FAIL, 'the file of a look does not change'); END;
CREATE TRIGGER look_stays BEFORE DELETE ON look
WHEN EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id AND state = 'settling' AND cause = 'source.settling')
BEGIN SELECT RAISE(FAIL, 'the look at a source ends when its file stops settling'); END;

-- More files of the batch may be found in a folder that was replaced meanwhile: it gets the identity of the new one.
CREATE TRIGGER source_folder_birth BEFORE INSERT ON source_folder
WHEN EXISTS (SELECT 1 FROM source_folder WHERE batch_id = NEW.batch_id AND path = NEW.path)
BEGIN SELECT RAISE(FAIL, 'a folder of sources is recorded once'); END;
CREATE TRIGGER source_folder_fixed BEFORE UPDATE ON source_folder
WHEN NEW.batch_id <> OLD.batch_id OR NEW.path <> OLD.path
BEGIN SELECT RAISE(FAIL, 'the path of a folder of sources does not change'); END;
CREATE TRIGGER source_folder_stays BEFORE DELETE ON source_folder
BEGIN SELECT RAISE(FAIL, 'the folders of sources stay'); END;

CREATE TRIGGER removal_birth BEFORE INSERT ON removal
WHEN NEW.state <> 'pending' OR NEW.attempts <> 0 OR NEW.put_off_at IS NOT NULL OR EXISTS (SELECT 1 FROM removal WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
    WHERE f.id = NEW.file_id AND f.state = 'done' AND f.is_download IS NULL)
BEGIN SELECT RAISE(FAIL, 'a source is removed once, after the receipt of its file'); END;
-- A source that was removed while its removal was being revoked is gone: the ledger records that. An object that may be
-- the only copy can be given up at any time.
CREATE TRIGGER removal_arrow BEFORE UPDATE ON removal
WHEN OLD.state <> 'pending' AND (OLD.state = 'skipped' AND OLD.cause = 'policy.cancelled' AND NEW.state = 'done') IS NOT 1
    AND (OLD.only_copy = 1 AND NEW.only_copy IS NULL AND NEW.state = OLD.state AND NEW.attempts = OLD.attempts
      AND NEW.failures = OLD.failures AND NEW.cause IS OLD.cause AND NEW.message IS OLD.message
      AND NEW.ended_at = OLD.ended_at) IS NOT 1
  OR NEW.only_copy = 1 AND OLD.only_copy IS NULL AND OLD.state <> 'pending'
  OR NEW.file_id <> OLD.file_id OR NEW.inode <> OLD.inode OR NEW.recorded_at <> OLD.recorded_at OR NEW.attempts < OLD.attempts OR NEW.state = 'done' AND NEW.attempts <> OLD.attempts
  OR NEW.failures <> OLD.failures AND NEW.failures <> OLD.failures + 1
BEGIN SELECT RAISE(FAIL, 'an ended removal does not change'); END;

-- An engine looks again at a removal that waits for a destination as soon as something has changed about its source (a
-- file of it, by its inode), or about the destinations of a job. So the number of those that wait costs an idle run
-- nothing. `+` keeps the index of the waiting from being used for the few of one inode.
CREATE TRIGGER removal_another AFTER INSERT ON removal
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;
CREATE TRIGGER removal_ended AFTER UPDATE OF state ON removal WHEN NEW.state <> OLD.state
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;
CREATE TRIGGER removal_given_up AFTER UPDATE OF hidden, cause ON file
WHEN NEW.is_download IS NULL AND (NEW.hidden IS NOT OLD.hidden OR NEW.cause IS 'source.missing' AND NEW.cause IS NOT OLD.cause)
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;
CREATE TRIGGER removal_pruned AFTER DELETE ON file WHEN OLD.is_download IS NULL
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = OLD.inode AND state <> 'done' AND +waits_for = x''; END;
CREATE TRIGGER removal_sighted AFTER INSERT ON sighting
BEGIN
  UPDATE removal SET waits_for = NULL
  WHERE inode = (SELECT inode FROM file WHERE id = NEW.file_id) AND state <> 'done' AND +waits_for = x'';
END;
CREATE TRIGGER removal_sighted_again AFTER UPDATE ON sighting
BEGIN
  UPDATE removal SET waits_for = NULL
  WHERE inode = (SELECT inode FROM file WHERE id = NEW.file_id) AND state <> 'done' AND +waits_for = x'';
END;
CREATE TRIGGER removal_absent AFTER INSERT ON absent_source
BEGIN
  UPDATE removal SET waits_for = NULL
  WHERE inode = (SELECT inode FROM file WHERE id = NEW.file_id) AND state <> 'done' AND +waits_for = x'';
END;
CREATE TRIGGER removal_unlisted AFTER DELETE ON job_destination
BEGIN UPDATE removal SET waits_for = NULL WHERE waits_for = x''; END;
CREATE TRIGGER removal_kept AFTER UPDATE OF after ON batch WHEN NEW.after IS NOT OLD.after
BEGIN UPDATE removal SET waits_for = NULL WHERE waits_for = x''; END;
CREATE TRIGGER removal_stays BEFORE DELETE ON removal BEGIN SELECT RAISE(FAIL, 'history stays'); END;

-- Goes when its file is to be sent again (absent_source_again).
CREATE TRIGGER absent_source_birth BEFORE INSERT ON absent_source
WHEN EXISTS (SELECT 1 FROM absent_source WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND is_download IS NULL
    AND (state = 'failed' OR state = 'cancelled' OR state = 'superseded'))
BEGIN SELECT RAISE(FAIL, 'only a file of an upload that was given up has an absent source, and only once'); END;
CREATE TRIGGER absent_source_fixed BEFORE UPDATE ON absent_source
BEGIN SELECT RAISE(FAIL, 'the record of an absent source does not change'); END;
CREATE TRIGGER absent_source_stays BEFORE DELETE ON absent_source
WHEN EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id
    AND (state = 'failed' OR state = 'cancelled' OR state = 'superseded'))
  AND (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1)
    >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'the record of an absent source stays until its file is sent again'); END;
CREATE TRIGGER absent_source_again AFTER UPDATE OF state ON file
WHEN (OLD.state = 'failed' OR OLD.state = 'cancelled' OR OLD.state = 'superseded')
  AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'superseded'
BEGIN DELETE FROM absent_source WHERE file_id = NEW.id; END;

CREATE TRIGGER scan_birth BEFORE INSERT ON scan
WHEN EXISTS (SELECT 1 FROM scan WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM scan WHERE job = NEW.job AND place = NEW.place AND sources = NEW.sources)
BEGIN SELECT RAISE(FAIL, 'a set of sources has one last scan'); END;
-- Another scan ended at another time; its time may be earlier, because a clock was moved.
CREATE TRIGGER scan_fixed BEFORE UPDATE ON scan
WHEN NEW.id <> OLD.id OR NEW.job <> OLD.job OR NEW.place <> OLD.place OR NEW.sources <> OLD.sources
  OR NEW.completed_at = OLD.completed_at
BEGIN SELECT RAISE(FAIL, 'a scan is replaced by another one of the same sources only'); END;
-- The oldest are deleted when there are more than 1000.
CREATE TRIGGER scan_stays BEFORE DELETE ON scan WHEN (SELECT count(*) FROM scan) <= 1000
BEGIN SELECT RAISE(FAIL, 'the last 1000 scans stay'); END;

-- A doubt begins when a copy of the ledger is made or found. It is decided when its file is unknown because of it, so
-- that a person decides, or when a person has it retried. It ends when a person trusts the whole copy.
CREATE TRIGGER doubt_birth BEFORE INSERT ON doubt
WHEN EXISTS (SELECT 1 FROM doubt WHERE file_id = NEW.file_id) OR NEW.is_decided IS NOT NULL
  OR NEW.after_event IS NOT coalesce((SELECT max(id) FROM event), 0)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'settling' OR state = 'pending'
    OR state = 'paused' OR state = 'active' OR state = 'finishing' OR state = 'failed'
    OR state = 'done' AND EXISTS (SELECT 1 FROM removal WHERE file_id = NEW.file_id AND state = 'pending')))
BEGIN SELECT RAISE(FAIL, 'a file that may be sent is in doubt once'); END;
CREATE TRIGGER doubt_fixed BEFORE UPDATE ON doubt
WHEN NEW.file_id <> OLD.file_id OR NEW.after_event <> OLD.after_event OR NEW.is_decided IS NOT 1
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id AND state = 'unknown' AND cause = 'engine.copied')
    AND NOT EXISTS (SELECT 1 FROM event_range g CROSS JOIN event e ON e.id = g.event_id
      WHERE g.first_file BETWEEN OLD.file_id - 4095 AND OLD.file_id AND g.last_file >= OLD.file_id
        AND e.id > OLD.after_event AND e.verb = 'retried')
BEGIN SELECT RAISE(FAIL, 'a doubt does not change, except when it is decided'); END;
CREATE TRIGGER doubt_stays BEFORE DELETE ON doubt
WHEN (SELECT id > OLD.after_event AND verb = 'recovered' AND instr(detail, 'the copy is trusted: ') = 1 FROM event
    ORDER BY id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'a doubt ends when a person trusts the copy'); END;

CREATE TRIGGER sighting_birth BEFORE INSERT ON sighting
WHEN EXISTS (SELECT 1 FROM sighting WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'active' OR state = 'finishing' OR state = 'done'))
BEGIN SELECT RAISE(FAIL, 'only a file that is active, finishing or done has a sighting, and only one'); END;
CREATE TRIGGER sighting_fixed BEFORE UPDATE ON sighting WHEN NEW.file_id <> OLD.file_id
BEGIN SELECT RAISE(FAIL, 'the file of a sighting does not change'); END;
CREATE TRIGGER sighting_stays BEFORE DELETE ON sighting
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1) >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;
CREATE TRIGGER content_birth BEFORE INSERT ON content
WHEN EXISTS (SELECT 1 FROM content WHERE file_id = NEW.file_id)
  OR NEW.same_as IS NULL AND NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'done' AND is_download IS NULL)
  -- Another file at the same destination has delivered it: one that is done and the live generation of its key.
  OR NEW.same_as IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM file f CROSS JOIN file o ON o.id = NEW.same_as CROSS JOIN content c ON c.file_id = o.id
    WHERE f.id = NEW.file_id AND f.state = 'superseded' AND o.state = 'done' AND o.live = 1
      AND o.destination_id = f.destination_id AND o.size = f.size AND c.digest = NEW.digest AND c.same_as IS NULL)
BEGIN SELECT RAISE(FAIL, 'content is recorded once, for a done upload or for a duplicate of one'); END;
CREATE TRIGGER content_fixed BEFORE UPDATE ON content BEGIN SELECT RAISE(FAIL, 'content does not change'); END;
CREATE TRIGGER content_stays BEFORE DELETE ON content
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1) >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;
CREATE TRIGGER series_birth BEFORE INSERT ON series
WHEN NEW.start <> 0 OR EXISTS (SELECT 1 FROM series WHERE id = NEW.id)
  OR NEW.number <= (SELECT max(number) FROM series WHERE destination_id = NEW.destination_id AND key = NEW.key)
BEGIN SELECT RAISE(FAIL, 'a series begins at the beginning of its file, as the next of its key'); END;
CREATE TRIGGER series_grows BEFORE UPDATE ON series
WHEN NEW.id <> OLD.id OR NEW.destination_id <> OLD.destination_id OR NEW.key <> OLD.key OR NEW.number <> OLD.number
  OR NEW.began_at <> OLD.began_at
  OR NOT (NEW.size > OLD.size AND NEW.start = OLD.size
    OR NEW.size = OLD.size AND NEW.start = OLD.start AND NEW.digest = OLD.digest AND NEW.head = OLD.head
      AND NEW.grown_at = OLD.grown_at)
BEGIN SELECT RAISE(FAIL, 'a series only grows, and its next segment begins where the previous one ended'); END;
CREATE TRIGGER series_stays BEFORE DELETE ON series BEGIN SELECT RAISE(FAIL, 'history stays'); END;
CREATE TRIGGER segment_birth BEFORE INSERT ON segment
WHEN EXISTS (SELECT 1 FROM segment WHERE file_id = NEW.file_id OR series_id = NEW.series_id AND start = NEW.start)
  OR NOT EXISTS (SELECT 1 FROM file f CROSS JOIN series s ON s.id = NEW.series_id
    WHERE f.id = NEW.file_id AND f.state = 'settling' AND f.is_download IS NULL AND f.destination_id = s.destination_id
      AND s.start = NEW.start AND s.size = NEW.start + f.size AND s.digest = NEW.digest)
BEGIN SELECT RAISE(FAIL, 'a segment is a new file, and the end of its series'); END;
CREATE TRIGGER segment_fixed BEFORE UPDATE ON segment BEGIN SELECT RAISE(FAIL, 'a segment does not change'); END;
CREATE TRIGGER segment_stays BEFORE DELETE ON segment
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1) >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;
-- Its source holds more than the segment, or something else by now.
CREATE TRIGGER segment_copied BEFORE UPDATE OF state ON file
WHEN NEW.state = 'pending' AND OLD.state <> 'pending' AND NEW.staged IS NULL
  AND EXISTS (SELECT 1 FROM segment WHERE file_id = NEW.id)
BEGIN SELECT RAISE(FAIL, 'a segment of a growing file is sent from its staged copy only'); END;
CREATE TRIGGER segment_alone BEFORE INSERT ON file
WHEN NEW.generation > 1 AND EXISTS (SELECT 1 FROM file f CROSS JOIN segment g ON g.file_id = f.id
  WHERE f.destination_id = NEW.destination_id AND f.key = NEW.key AND f.live IS NULL)
BEGIN SELECT RAISE(FAIL, 'a segment of a growing file has no other generation'); END;
CREATE TRIGGER listed_file_birth BEFORE INSERT ON listed_file
WHEN EXISTS (SELECT 1 FROM listed_file WHERE listing_id = NEW.listing_id AND file_id = NEW.file_id) OR (SELECT l.state = 'active' AND l.batch_id <> f.batch_id FROM file l CROSS JOIN file f
    WHERE l.id = NEW.listing_id AND f.id = NEW.file_id) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'an active listing names files of other batches, each once'); END;
CREATE TRIGGER listed_file_fixed BEFORE UPDATE ON listed_file
BEGIN SELECT RAISE(FAIL, 'a file named by a listing does not change'); END;
CREATE TRIGGER listed_file_stays BEFORE DELETE ON listed_file
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.listing_id ORDER BY first_id DESC LIMIT 1) >= OLD.listing_id IS NOT 1
  AND (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1) >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Work on a file.

CREATE TRIGGER session_birth BEFORE INSERT ON session
WHEN NEW.state <> 'intended' AND (NEW.ended_at IS NULL OR NOT EXISTS (SELECT 1 FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id = NEW.file_id AND b.origin_id IS NOT NULL))
  OR EXISTS (SELECT 1 FROM session WHERE id = NEW.id)
  OR NEW.abort_after IS NULL AND EXISTS (SELECT 1 FROM session
    WHERE file_id = NEW.file_id AND state IN ('intended', 'open') AND abort_after IS NULL)
BEGIN SELECT RAISE(FAIL, 'a session begins intended, while its file has no other live one'); END;
CREATE TRIGGER session_arrow BEFORE UPDATE OF state ON session
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'intended' THEN NEW.state = 'open' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  WHEN 'open' THEN NEW.state = 'completed' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  ELSE 0 END
BEGIN SELECT RAISE(FAIL, 'illegal transition of a session'); END;
CREATE TRIGGER session_unchanged BEFORE UPDATE OF unchanged ON session
WHEN OLD.state <> 'open' OR NEW.unchanged IS NULL OR NEW.unchanged < OLD.unchanged
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id AND state = 'active' AND is_download = 1
    AND (key = x'' OR substr(key, -1) = x'2F'))
BEGIN SELECT RAISE(FAIL, 'only a running listing finds unchanged files'); END;
CREATE TRIGGER session_fixed BEFORE UPDATE OF id, file_id, run_id, intended_at ON session
BEGIN SELECT RAISE(FAIL, 'the identity of a session does not change'); END;
-- Saves what belonged to it on the server, before its chunks are restarted.
CREATE TRIGGER session_given_up AFTER UPDATE OF abort_after ON session
WHEN OLD.abort_after IS NULL AND NEW.abort_after IS NOT NULL
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.file_id AND remote IS NOT NULL)
BEGIN
  UPDATE session SET remotes = (SELECT '[' || group_concat(remote) || ']' FROM chunk
    WHERE file_id = NEW.file_id AND remote IS NOT NULL) WHERE id = NEW.id;
END;
CREATE TRIGGER session_history BEFORE UPDATE ON session
WHEN OLD.ended_at IS NOT NULL OR NEW.id <> OLD.id OR OLD.abort_after IS NOT NULL AND NEW.abort_after IS NULL
  OR OLD.remote_id IS NOT NULL AND (NEW.remote_id IS NOT OLD.remote_id OR NEW.opened_at IS NOT OLD.opened_at)
BEGIN SELECT RAISE(FAIL, 'the name and the end of a session do not change'); END;
CREATE TRIGGER session_stays BEFORE DELETE ON session
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'session' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

-- The last chunk has the rest of the file: it may be longer than the others.
CREATE TRIGGER chunk_birth BEFORE INSERT ON chunk
WHEN NEW.remote IS NOT NULL OR NEW.state = 'in_flight'
  OR NEW.state <> 'pending' AND NOT EXISTS (SELECT 1 FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id = NEW.file_id AND b.origin_id IS NOT NULL)
  OR EXISTS (SELECT 1 FROM chunk WHERE id = NEW.id OR (file_id = NEW.file_id AND seq = NEW.seq))
  OR NOT EXISTS (
  SELECT 1 FROM file f WHERE f.id = NEW.file_id AND NEW.seq < f.chunk_count
    AND (f.state = 'active' OR EXISTS (SELECT 1 FROM batch WHERE id = f.batch_id AND origin_id IS NOT NULL))
    AND NEW.offset = NEW.seq * chunk_size
    AND NEW.length = iif(NEW.seq = chunk_count - 1, size - NEW.offset, chunk_size))
BEGIN SELECT RAISE(FAIL, 'a chunk begins pending, in an active file, at its position in the layout'); END;
CREATE TRIGGER chunk_arrow BEFORE UPDATE OF state ON chunk
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'pending' THEN NEW.state = 'in_flight' OR NEW.state = 'done' OR NEW.state = 'failed'
  WHEN 'in_flight' THEN NEW.state = 'done' OR NEW.state = 'waiting' OR NEW.state = 'pending'
    OR NEW.state = 'failed' OR NEW.state = 'unknown'
  WHEN 'waiting' THEN NEW.state IN ('pending', 'failed')
  WHEN 'done' THEN NEW.state = 'pending'
  WHEN 'failed' THEN NEW.state = 'pending'
  WHEN 'unknown' THEN NEW.state = 'pending'
  ELSE 0 END
BEGIN SELECT RAISE(FAIL, 'illegal transition of a chunk'); END;
CREATE TRIGGER chunk_fixed BEFORE UPDATE OF id, file_id, seq, offset, length ON chunk
WHEN NEW.id <> OLD.id OR NEW.file_id <> OLD.file_id OR NEW.seq <> OLD.seq OR OLD.state <> 'pending'
  OR NOT EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'active' AND first_chunk_size IS NOT NULL
      AND (OLD.acked = 0 OR is_download = 1 AND OLD.acked < NEW.length)
      AND NEW.offset = NEW.seq * chunk_size
      AND NEW.length = iif(NEW.seq = chunk_count - 1, size - NEW.offset, chunk_size))
BEGIN SELECT RAISE(FAIL, 'a chunk keeps its range, or gets the one of a finer layout'); END;
CREATE TRIGGER chunk_number BEFORE UPDATE ON chunk WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'the number of a chunk does not change'); END;
CREATE TRIGGER chunk_remote BEFORE UPDATE OF remote ON chunk WHEN NEW.remote NOT LIKE '{%}'
BEGIN SELECT RAISE(FAIL, 'remote state of a chunk is a JSON object'); END;
-- The chunks of a finishing or done file also stay done.
CREATE TRIGGER chunk_evidence BEFORE UPDATE OF state ON chunk
WHEN (NEW.state = 'in_flight') <> EXISTS (
    SELECT 1 FROM attempt WHERE file_id = NEW.file_id AND chunk_id = NEW.id AND outcome = 'open')
  OR (NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (
    SELECT 1 FROM attempt WHERE id = NEW.done_attempt AND outcome = 'ok' AND CASE OLD.state
      WHEN 'in_flight' THEN chunk_id = NEW.id
      -- Its answer was lost, and a query showed that it is stored; or it is empty, and stored with its session; or a
      -- local file of the version of the session contains it.
      ELSE file_id = NEW.file_id AND (operation = 'verify' OR operation = 'probe' OR operation = 'create') END))
  OR (OLD.state = 'done' AND NEW.state <> 'done' AND EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state IN ('finishing', 'done')))
BEGIN SELECT RAISE(FAIL, 'a chunk is in flight exactly while it has an open attempt, and done by an attempt that succeeded'); END;
CREATE TRIGGER chunk_history BEFORE UPDATE OF etag, digest, md5, confirmation, done_attempt, acked, failures, not_before,
  uncertain, losses ON chunk
WHEN OLD.state = 'done' AND NEW.state = 'done'
BEGIN SELECT RAISE(FAIL, 'the confirmation of a chunk does not change'); END;
CREATE TRIGGER chunk_reuse BEFORE UPDATE OF reused ON chunk
WHEN NEW.reused IS NOT NULL AND (OLD.state <> 'pending' AND OLD.state <> 'in_flight' OR NEW.state <> 'done'
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND is_download = 1))
BEGIN SELECT RAISE(FAIL, 'only a chunk of a download is reused, when it becomes done'); END;
CREATE TRIGGER chunk_stays BEFORE DELETE ON chunk
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'chunk' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

CREATE TRIGGER attempt_birth BEFORE INSERT ON attempt
WHEN NEW.reply_excerpt IS NOT NULL
  OR NEW.outcome <> 'open' AND NOT EXISTS (SELECT 1 FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id = NEW.file_id AND b.origin_id IS NOT NULL)
  OR EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id)
  OR (NEW.outcome = 'open' AND NEW.operation <> 'abort' AND NOT EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND (state IN ('active', 'finishing') AND run_id = NEW.run_id
      -- Done files that were not merged can be verified again.
      OR state = 'done' AND NEW.chunk_id IS NULL AND (NEW.operation = 'verify' OR NEW.operation = 'probe')
        AND EXISTS (SELECT 1 FROM batch WHERE id = file.batch_id AND origin_id IS NULL)
        AND EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL))))
  OR (NEW.chunk_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM chunk WHERE id = NEW.chunk_id AND file_id = NEW.file_id AND (state = 'pending' OR NEW.outcome <> 'open')))
  OR (NEW.operation = 'abort' AND NEW.session_id IS NULL)
BEGIN SELECT RAISE(FAIL, 'an attempt begins open, for a file of its run and a pending chunk, or to verify a done file'); END;
CREATE TRIGGER attempt_once BEFORE INSERT ON attempt
WHEN NEW.chunk_id IS NOT NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id = NEW.chunk_id AND n = NEW.n)
  OR NEW.chunk_id IS NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id IS NULL AND n = NEW.n)
BEGIN SELECT RAISE(FAIL, 'the number of an attempt is unique'); END;
CREATE TRIGGER attempt_fixed BEFORE UPDATE OF id, uid, file_id, chunk_id, session_id, run_id, operation, n,
  is_repeatable, started_at ON attempt
BEGIN SELECT RAISE(FAIL, 'the identity of an attempt does not change'); END;
CREATE TRIGGER attempt_excerpt BEFORE UPDATE OF reply_excerpt ON attempt WHEN length(NEW.reply_excerpt) > 4096
BEGIN SELECT RAISE(FAIL, 'at most 4096 bytes of an answer are kept'); END;
-- A closed attempt does not change, with one exception: bytes that it sent, and that a later query of the same file
-- found on the server, count as acknowledged. What a killed engine had sent was not recorded; the bytes that were found
-- count as sent, too.
CREATE TRIGGER attempt_closed BEFORE UPDATE ON attempt
WHEN NEW.id <> OLD.id OR OLD.outcome <> 'open' AND (
  OLD.operation <> 'part' OR OLD.outcome = 'ok'
  OR NEW.bytes_acked <= OLD.bytes_acked OR NEW.bytes_acked > NEW.bytes_transferred
  OR NEW.bytes_transferred <> OLD.bytes_transferred AND (
    OLD.outcome <> 'crashed' OR NEW.bytes_transferred < OLD.bytes_transferred OR NEW.bytes_transferred <> NEW.bytes_acked)
  OR NOT EXISTS (SELECT 1 FROM attempt q WHERE q.file_id = OLD.file_id AND q.id > OLD.id AND q.outcome = 'ok')
  OR NEW.outcome <> OLD.outcome OR NEW.ended_at IS NOT OLD.ended_at OR NEW.error_code IS NOT OLD.error_code
  OR NEW.message IS NOT OLD.message OR NEW.http_status IS NOT OLD.http_status OR NEW.curl_code IS NOT OLD.curl_code
  OR NEW.errno IS NOT OLD.errno OR NEW.dns_ms IS NOT OLD.dns_ms OR NEW.connect_ms IS NOT OLD.connect_ms
  OR NEW.tls_ms IS NOT OLD.tls_ms OR NEW.first_byte_ms IS NOT OLD.first_byte_ms OR NEW.total_ms IS NOT OLD.total_ms
  OR NEW.sent_ms IS NOT OLD.sent_ms OR NEW.held_ms IS NOT OLD.held_ms
  OR NEW.remote_ip IS NOT OLD.remote_ip OR NEW.http_version IS NOT OLD.http_version
  OR NEW.request_id IS NOT OLD.request_id OR NEW.retry_after_ms IS NOT OLD.retry_after_ms
  OR NEW.backoff_ms IS NOT OLD.backoff_ms OR NEW.reply_excerpt IS NOT OLD.reply_excerpt
  OR NEW.may_have_arrived <> OLD.may_have_arrived OR NEW.mirror IS NOT OLD.mirror)
BEGIN SELECT RAISE(FAIL, 'a closed attempt does not change'); END;
CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'attempt' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;
CREATE TRIGGER attempt_sum_late AFTER UPDATE OF bytes_transferred, bytes_acked ON attempt
WHEN OLD.outcome <> 'open'
  AND (NEW.bytes_transferred <> OLD.bytes_transferred OR NEW.bytes_acked <> OLD.bytes_acked)
BEGIN DELETE FROM attempt_sum WHERE block = OLD.id >> 12; END;

CREATE TRIGGER sent_body_birth BEFORE INSERT ON sent_body
WHEN EXISTS (SELECT 1 FROM sent_body WHERE attempt_id = NEW.attempt_id)
  OR NOT EXISTS (SELECT 1 FROM attempt WHERE id = NEW.attempt_id AND outcome = 'open' AND operation = 'part')
BEGIN SELECT RAISE(FAIL, 'the sent body of a part is recorded once, while its attempt is open'); END;
CREATE TRIGGER sent_body_fixed BEFORE UPDATE ON sent_body BEGIN SELECT RAISE(FAIL, 'a sent body does not change'); END;
CREATE TRIGGER sent_body_stays BEFORE DELETE ON sent_body
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'attempt' AND first_id <= OLD.attempt_id ORDER BY first_id DESC LIMIT 1) >= OLD.attempt_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Results.

CREATE TRIGGER receipt_birth BEFORE INSERT ON receipt
WHEN NEW.n = 1 AND NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'unknown'
    OR state = 'cancelled' AND may_have_arrived = 1 AND NEW.note IS NOT NULL
    OR NEW.note IS NULL AND (state = 'active' OR state = 'finishing')
    OR state = 'done' AND EXISTS (SELECT 1 FROM batch b WHERE b.id = file.batch_id AND b.origin_id IS NOT NULL)))
  OR NEW.n > 1 AND NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'done')
  OR NEW.n > 1 AND NOT EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.file_id AND n = NEW.n - 1)
  OR EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.file_id AND n = NEW.n)
  OR NEW.attempt_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM attempt WHERE id = NEW.attempt_id AND file_id = NEW.file_id AND outcome = 'ok')
BEGIN SELECT RAISE(FAIL, 'the first receipt is for a file that is not yet done, later ones are for a done file; its attempt succeeded'); END;
CREATE TRIGGER receipt_fixed BEFORE UPDATE ON receipt BEGIN SELECT RAISE(FAIL, 'a receipt does not change'); END;
CREATE TRIGGER receipt_stays BEFORE DELETE ON receipt BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER event_birth BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
  OR NEW.part_of IS NOT NULL AND NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.part_of AND part_of IS NULL
    AND verb = NEW.verb AND batch_id IS NEW.batch_id AND detail = NEW.detail)
BEGIN SELECT RAISE(FAIL, 'an event is recorded once, and continues a first event with the same verb, batch and detail'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(FAIL, 'an event does not change'); END;
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT RAISE(FAIL, 'history stays'); END;
-- Only the newest event gets files, in order: an event that another one follows does not change.
CREATE TRIGGER event_range_birth BEFORE INSERT ON event_range
WHEN NEW.event_id IS NOT (SELECT max(id) FROM event)
  OR NEW.first_file <= (SELECT last_file FROM event_range WHERE event_id = NEW.event_id ORDER BY first_file DESC LIMIT 1)
  OR (SELECT batch_id FROM file WHERE id = NEW.first_file) IS NOT (SELECT batch_id FROM event WHERE id = NEW.event_id)
  OR (SELECT batch_id FROM file WHERE id = NEW.last_file) IS NOT (SELECT batch_id FROM event WHERE id = NEW.event_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.first_file)
BEGIN SELECT RAISE(FAIL, 'only the newest event gets files, of its batch and in order'); END;
CREATE TRIGGER event_range_fixed BEFORE UPDATE ON event_range BEGIN SELECT RAISE(FAIL, 'an event does not change'); END;
CREATE TRIGGER event_range_stays BEFORE DELETE ON event_range BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER origin_store_birth BEFORE INSERT ON origin_store
WHEN EXISTS (SELECT 1 FROM origin_store WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM origin_store WHERE uid = NEW.uid)
  OR EXISTS (SELECT 1 FROM store_meta WHERE uid = NEW.uid)
BEGIN SELECT RAISE(FAIL, 'another ledger is recorded once'); END;
CREATE TRIGGER origin_store_fixed BEFORE UPDATE ON origin_store WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid
BEGIN SELECT RAISE(FAIL, 'the uid of another ledger does not change'); END;
CREATE TRIGGER origin_store_stays BEFORE DELETE ON origin_store BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER log_group_birth BEFORE INSERT ON log_group
WHEN NEW.first_leaf <> coalesce((SELECT first_leaf + leaves FROM log_group
    WHERE first_leaf < 1000000000000 ORDER BY first_leaf DESC LIMIT 1), 0)
BEGIN SELECT RAISE(FAIL, 'leaves are only appended'); END;
CREATE TRIGGER log_group_fixed BEFORE UPDATE ON log_group BEGIN SELECT RAISE(FAIL, 'a leaf does not change'); END;
CREATE TRIGGER log_group_stays BEFORE DELETE ON log_group BEGIN SELECT RAISE(FAIL, 'history stays'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Deleted history. The newest prune records what is to be deleted, before the deletion; these triggers check what it
-- may record. A prune recorded from a shell has no leaf in the log, so `store check` finds it.

CREATE TRIGGER prune_birth BEFORE INSERT ON prune
WHEN EXISTS (SELECT 1 FROM prune WHERE id = NEW.id)
  OR NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.event_id AND verb = 'pruned' AND at = NEW.at)
BEGIN SELECT RAISE(FAIL, 'a prune is recorded once, with its event'); END;
CREATE TRIGGER prune_fixed BEFORE UPDATE ON prune BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;
CREATE TRIGGER prune_stays BEFORE DELETE ON prune BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER pruned_range_birth BEFORE INSERT ON pruned_range
WHEN NEW.prune_id IS NOT (SELECT max(id) FROM prune)
  OR (SELECT last_id FROM pruned_range WHERE kind = NEW.kind AND first_id <= NEW.last_id ORDER BY first_id DESC LIMIT 1)
    >= NEW.first_id
BEGIN SELECT RAISE(FAIL, 'only the newest prune records what it deletes, each row once'); END;
-- Done files stay, with their receipts. Superseded files are pruned if a newer generation of their key exists: numbers
-- of generations are never reused. Nothing is pruned that an engine, a server or a person may still continue.
CREATE TRIGGER pruned_range_files BEFORE INSERT ON pruned_range
WHEN (NEW.kind = 'file' OR NEW.kind = 'history') AND (
  NEW.last_id - NEW.first_id + 1 IS NOT (SELECT count(*) FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id BETWEEN NEW.first_id AND NEW.last_id AND b.origin_id IS NULL
      AND f.finished_at < (SELECT before_at FROM prune WHERE id = NEW.prune_id)
      AND (NEW.kind = 'history' AND f.state = 'done' OR NEW.kind = 'file' AND f.state = 'superseded' AND f.live IS NULL AND (
        EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1)
        OR EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live IS NULL
          AND g.generation > f.generation))))
  OR EXISTS (SELECT 1 FROM session WHERE file_id BETWEEN NEW.first_id AND NEW.last_id
    AND (state = 'intended' OR state = 'open'))
  OR EXISTS (SELECT 1 FROM attempt WHERE file_id BETWEEN NEW.first_id AND NEW.last_id AND outcome = 'open')
  OR EXISTS (SELECT 1 FROM doubt WHERE file_id BETWEEN NEW.first_id AND NEW.last_id))
BEGIN SELECT RAISE(FAIL, 'only files that ended before the time of the prune, and that nothing can continue, are pruned'); END;
CREATE TRIGGER pruned_range_attempts BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'attempt' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM attempt a WHERE a.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= a.file_id ORDER BY first_id DESC LIMIT 1) >= a.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= a.file_id ORDER BY first_id DESC LIMIT 1) >= a.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;
CREATE TRIGGER pruned_range_sessions BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'session' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM session s WHERE s.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= s.file_id ORDER BY first_id DESC LIMIT 1) >= s.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= s.file_id ORDER BY first_id DESC LIMIT 1) >= s.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;
CREATE TRIGGER pruned_range_chunks BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'chunk' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM chunk c WHERE c.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= c.file_id ORDER BY first_id DESC LIMIT 1) >= c.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= c.file_id ORDER BY first_id DESC LIMIT 1) >= c.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;
CREATE TRIGGER pruned_range_fixed BEFORE UPDATE ON pruned_range BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;
CREATE TRIGGER pruned_range_stays BEFORE DELETE ON pruned_range BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER pruned_file_birth BEFORE INSERT ON pruned_file
WHEN EXISTS (SELECT 1 FROM pruned_file WHERE file_id = NEW.file_id)
  OR (SELECT last_id >= NEW.file_id AND prune_id = (SELECT max(id) FROM prune) FROM pruned_range
    WHERE kind = 'history' AND first_id <= NEW.file_id ORDER BY first_id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'only the newest prune records the sums of its files, once each'); END;
CREATE TRIGGER pruned_file_fixed BEFORE UPDATE ON pruned_file BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;
CREATE TRIGGER pruned_file_stays BEFORE DELETE ON pruned_file BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TRIGGER pruned_sum_birth BEFORE INSERT ON pruned_sum
WHEN NEW.prune_id IS NOT (SELECT max(id) FROM prune) OR EXISTS (SELECT 1 FROM pruned_sum WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM pruned_sum WHERE prune_id = NEW.prune_id AND batch_id = NEW.batch_id AND run_id = NEW.run_id
    AND quarter = NEW.quarter)
BEGIN SELECT RAISE(FAIL, 'only the newest prune records the sums of its attempts, once each'); END;
CREATE TRIGGER pruned_sum_fixed BEFORE UPDATE ON pruned_sum BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;
CREATE TRIGGER pruned_sum_stays BEFORE DELETE ON pruned_sum BEGIN SELECT RAISE(FAIL, 'history stays'); END;

-- ---------------------------------------------------------------------------------------------------------------------
-- Sums. A sum is never updated: it is deleted when a row is added to its block or changes, and a run writes it again.

CREATE TRIGGER attempt_sum_fixed BEFORE UPDATE ON attempt_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;

CREATE TRIGGER file_sum_fixed BEFORE UPDATE ON file_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;
