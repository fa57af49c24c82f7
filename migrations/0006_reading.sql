-- What people look at most must stay quick however much was done: `status`, `list batches` and `report` add up sizes by
-- state, and no counter is kept that could go wrong. So each of the indexes that separate the states also holds what is
-- added up, and every file is in exactly one of file_ready, file_waiting, file_running, file_done and file_rest.
--
-- `id` in an index keeps the order of admission, so that what is written together lies together; sorted by size each
-- commit would touch as many pages as it has files. Columns of the condition are repeated among the columns where many rows
-- are added up: SQLite 3.40 takes an index without them for one that does not hold all, and looks up each rowid. No condition has a list of more than two values: SQLite builds a
-- table for such a list each time a row is changed (sqlite3FindInIndex in its expr.c).

DROP INDEX file_batch;
CREATE INDEX file_batch ON file (batch_id, id, size);

DROP INDEX file_ready;
CREATE INDEX file_ready ON file (priority DESC, id, batch_id, size, state, not_before)
  WHERE state = 'pending' AND not_before IS NULL;

DROP INDEX file_waiting;
CREATE INDEX file_waiting ON file (not_before, batch_id, size) WHERE state = 'pending' AND not_before IS NOT NULL;

-- Entered once in the life of a file.
CREATE INDEX file_done ON file (batch_id, id, size, hidden, state) WHERE state = 'done';

-- What came to rest otherwise; also what is paused. A file that goes straight through never enters it.
DROP INDEX file_trouble;
DROP INDEX file_paused;
CREATE INDEX file_rest ON file (state, batch_id, cause, size, finished_at, hidden)
  WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing';

-- Files at rest of which the server may have a part: cut off, put back, paused or given up.
CREATE INDEX file_partial ON file (batch_id) WHERE chunk_count IS NOT NULL AND run_id IS NULL AND state <> 'done';

-- Attempts that went wrong, with what the list of failures says of them.
CREATE INDEX attempt_failed ON attempt (error_code, id, file_id, started_at, ended_at) WHERE error_code IS NOT NULL;
