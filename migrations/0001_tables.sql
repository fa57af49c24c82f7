-- The ledger: one row for every intended action, with its result.
--
-- Times are integer milliseconds since 1970 UTC by the wall clock, for display. Decisions compare them only with the
-- current time (not_before, abort_after, deadline_at) or a given one, never with each other. Ids give the order. Names
-- and keys are bytes (BLOB). Unsigned 64-bit kernel numbers (inode, device) are stored as signed integers with the same
-- bits.
--
-- CHECKs, unique indexes and the triggers of 0002 repeat the rules of the program, so that no other program can store
-- invalid states.
--
-- Numbers (`b1`, `f7`) are never reused, even after a prune: AUTOINCREMENT.
--
-- How the cost of a row is kept low (SQLite 3.40):
-- * Lists of three or more values are written out with OR, here and in 0002: for `IN (…)` in a CHECK or a trigger
--   SQLite fills a temporary B-tree for every row written, which doubled the cost of a file (sqlite3FindInIndex in its
--   expr.c).
-- * A statement that may fail in the middle of several writes keeps a statement journal, into which it copies each page
--   before changing it; a statement with triggers counts as several writes (usesStmtJournal). That was a quarter of the
--   cost of a file. So triggers use FAIL, references are checked at the commit, and the CHECKs of files, chunks and
--   attempts, and the triggers of their births and transitions, call no functions (which may fail). Rules that need a
--   function are checked by a trigger on their own column.
-- * The columns in the WHERE clause of an index are repeated among its columns where many rows are summed: without
--   them SQLite does not treat the index as covering, and looks up each row.
-- * An index ends with the rowid, so that `id` is among its columns only where another column follows it.
-- A small file that was sent takes 613 bytes in twelve B-trees: the rows of file (149), receipt (141, with a digest),
-- attempt (89), log_group (71) and chunk (62), and seven indexes (98), whose purposes are given beside them.
--
-- Prune and merge find their rows through these indexes: all rows of a batch through file_batch, and those of a file
-- through chunk's UNIQUE, attempt_file, session_file, event_range_file, listed_file_named and the keys of receipt,
-- sighting, content, segment, listed_file and sent_body; rows that were merged earlier are a range of numbers.
-- References to a chunk or an attempt (attempt.chunk_id, session.opened_by) have no index, because every file would pay
-- for it: a prune deletes all attempts of a file together, with `PRAGMA foreign_keys` off. chunk.done_attempt and
-- receipt.attempt_id may outlive the attempt that they name: they are plain numbers, and `store check` compares them.

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger itself.

CREATE TABLE store_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uid BLOB NOT NULL CHECK (length(uid) = 16),
  schema_version INTEGER NOT NULL,
  view_version INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- For a copy: the uid of the ledger that it was made from, and when.
  origin_uid BLOB CHECK (length(origin_uid) = 16),
  copied_at INTEGER,
  -- Birth time of the file in which the ledger was last opened, in nanoseconds since 1970 UTC: a different one means
  -- that the ledger was copied by means other than `store backup`. NULL in a copy that has not been opened yet, and
  -- where the file system does not record birth times.
  born_ns INTEGER,
  -- For a merged ledger: when it became one. It holds the records of other ledgers, for reading; no engine uses it.
  merged_since INTEGER
) STRICT;

-- The closed list of error codes; a test checks that it equals ErrorCode in the program.
CREATE TABLE error_code (
  code TEXT PRIMARY KEY,
  category TEXT NOT NULL CHECK (category = 'source' OR category = 'local' OR category = 'network' OR category = 'server'
    OR category = 'auth' OR category = 'policy' OR category = 'engine'),
  hint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Ledgers of other machines, the shards, whose rows were merged into this one. A merged batch, with its files, chunks,
-- sessions, attempts and receipts, comes from one of them; so does its destination, so that a key of another ledger
-- never shares a row with ours. Row n of shard k has the number k * 1000000000000 + n here, in every numbered table:
-- the numbers stay the same when the shard is merged again, and ranges stay ranges. The stride is a multiple of 4096,
-- so that blocks of sums stay blocks. The leaves of the log of shard k begin at k * 1000000000000; they are the hashes
-- of its rows with the numbers that these had in the shard.
CREATE TABLE origin_store (
  id INTEGER PRIMARY KEY,
  -- The uid of the shard or, if it is a copy, of the ledger that it was copied from: copies continue one history.
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  host TEXT NOT NULL,
  merged_at INTEGER NOT NULL,
  -- Its own uid, which names its log.
  log_uid BLOB CHECK (length(log_uid) = 16),
  -- How far it had progressed, so that an older state of it is recognized: leaves of its log, the newest attempt and
  -- file, the newest heartbeat of an engine.
  leaves INTEGER NOT NULL DEFAULT 0,
  newest_attempt INTEGER NOT NULL DEFAULT 0,
  newest_file INTEGER NOT NULL DEFAULT 0,
  alive_at INTEGER NOT NULL DEFAULT 0,
  -- How many of its done uploads have a key that a shard with a lower number has sent, too; NULL until this is counted
  -- again.
  equal_keys INTEGER
) STRICT;

-- What each column of each view means.
CREATE TABLE view_doc (
  view TEXT NOT NULL,
  "column" TEXT NOT NULL,
  type TEXT NOT NULL,
  unit TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (view, "column")
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Runs of the engine.

CREATE TABLE engine_run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  argv TEXT NOT NULL CHECK (argv LIKE '[%]'),
  version TEXT NOT NULL,
  host TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  -- The same by the boot clock of boot_id, which nobody sets: together they show how far the wall clock was moved.
  started_boot_ms INTEGER,
  heartbeat_boot_ms INTEGER,
  -- CPU time that its process had used at the last heartbeat, in milliseconds.
  processor_ms INTEGER CHECK (processor_ms >= 0),
  -- None of its attempts has a lower number: where reading the attempts of a day begins.
  first_attempt INTEGER CHECK (first_attempt >= 1),
  ended_at INTEGER,
  how TEXT,
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED,
  CHECK ((ended_at IS NULL) = (how IS NULL)),
  CHECK (ended_at >= started_at)
) STRICT;
-- One engine owns a ledger at a time.
CREATE UNIQUE INDEX engine_run_live ON engine_run (ended_at IS NULL) WHERE ended_at IS NULL AND origin_id IS NULL;
-- Runs of a day, to find its attempts.
CREATE INDEX engine_run_ended ON engine_run (ended_at, first_attempt) WHERE ended_at IS NOT NULL;

-- What runs learned about a host, for the next run: how many concurrent requests were worthwhile there.
CREATE TABLE host_state (
  -- Scheme, name and port.
  host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 300),
  requests_at_once INTEGER NOT NULL CHECK (requests_at_once BETWEEN 1 AND 256),
  -- The run that wrote it last, and when.
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Requested work.

-- A place that keys belong to, without secrets. Two batches for one place share the row, so that the same key is the
-- same remote object. For downloads it also names the target folder.
CREATE TABLE destination (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place TEXT NOT NULL,
  -- Where its objects are, whoever sends them and however the destination is spelled; NULL if uploads replace none. The
  -- name of an object is before_key, its key and behind_key: it is the same object as one with the same site and name.
  site TEXT CHECK (site <> ''),
  before_key BLOB CHECK ((before_key IS NULL) = (site IS NULL)),
  behind_key BLOB CHECK ((behind_key IS NULL) = (site IS NULL)),
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX destination_place ON destination (place) WHERE origin_id IS NULL;
-- Mostly finds none but the destination itself.
CREATE INDEX destination_site ON destination (site) WHERE site IS NOT NULL;
CREATE UNIQUE INDEX destination_merged ON destination (origin_id, place) WHERE origin_id IS NOT NULL;

-- One `add` or `push`, with the settings it was given: later edits of profiles or options do not affect it.
CREATE TABLE batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT CHECK (name <> ''),
  direction TEXT NOT NULL DEFAULT 'upload' CHECK (direction = 'upload' OR direction = 'download'),
  -- The configured job that created it.
  job TEXT CHECK (job <> ''),
  destination_id INTEGER NOT NULL REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED,
  protocol TEXT NOT NULL,
  destination TEXT NOT NULL,
  -- JSON with a `version`.
  settings TEXT NOT NULL CHECK (settings LIKE '{%}'),
  labels TEXT NOT NULL CHECK (labels LIKE '{%}'),
  priority INTEGER NOT NULL,
  -- Limits for all its requests together: bytes per second, concurrent requests, the time after which none of its files
  -- is started.
  rate INTEGER CHECK (rate >= 1),
  workers INTEGER CHECK (workers >= 1),
  deadline_at INTEGER,
  -- What to do with the sources of done files; `settings` holds the target folder and the required proof. NULL keeps
  -- the sources.
  after TEXT CHECK (after = 'delete' OR after = 'move'),
  -- Hidden from lists, never from reports.
  hidden INTEGER CHECK (hidden = 1),
  created_at INTEGER NOT NULL,
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
-- Names are unique, except among merged ledgers, which keep their own.
CREATE UNIQUE INDEX batch_name ON batch (name) WHERE origin_id IS NULL;
CREATE INDEX batch_job ON batch (job, id) WHERE job IS NOT NULL;
CREATE INDEX batch_limits ON batch (id)
  WHERE rate IS NOT NULL OR workers IS NOT NULL OR deadline_at IS NOT NULL;
-- Each list first checks whether anything is hidden; mostly nothing is.
CREATE INDEX batch_hidden ON batch (id) WHERE hidden = 1;

-- How the last run of each configured job ended: one row per job, however often it runs.
CREATE TABLE job_state (
  job TEXT NOT NULL PRIMARY KEY CHECK (length(job) BETWEEN 1 AND 64),
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL CHECK (ended_at >= started_at),
  -- The name of its exit code and, when that is not `ok`, the message.
  result TEXT NOT NULL CHECK (result <> ''),
  message TEXT CHECK ((message IS NULL) = (result = 'ok')),
  -- The end of the last run that was `ok`, or left files only because of the limits of the job.
  succeeded_at INTEGER,
  -- Total of ended runs that were no success: the difference of two values counts the failures since a notification.
  failed_runs INTEGER NOT NULL DEFAULT 0 CHECK (failed_runs >= 0),
  CHECK (result <> 'ok' OR succeeded_at = ended_at)
) STRICT, WITHOUT ROWID;

-- How many bytes the files of a job may send in a period of the local calendar, whichever engine sends them; the
-- attempts record what was sent.
CREATE TABLE job_quota (
  job TEXT NOT NULL PRIMARY KEY CHECK (length(job) BETWEEN 1 AND 64),
  bytes INTEGER NOT NULL CHECK (bytes >= 1),
  period TEXT NOT NULL CHECK (period = 'day' OR period = 'week' OR period = 'month'),
  -- When an engine last held back a file because of it.
  reached_at INTEGER,
  -- The newest event when it was set: only a later one permits a change.
  after_event INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The destinations of a job that has several, as its last run found them: a source of the job is deleted or moved only
-- when each of them has it. Keys in the place that consist of the prefix and the end of the path of their source belong
-- to the destination, however it is spelled.
CREATE TABLE job_destination (
  job TEXT NOT NULL CHECK (length(job) BETWEEN 1 AND 64),
  -- That of its batches.
  place TEXT NOT NULL CHECK (place <> ''),
  prefix BLOB NOT NULL,
  -- As typed, for people; without a query.
  destination TEXT NOT NULL CHECK (destination <> ''),
  -- The newest event when it was recorded: only a later one permits its end.
  after_event INTEGER NOT NULL,
  PRIMARY KEY (job, place, prefix)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Files.

-- One local file and one remote key, in one generation.
CREATE TABLE file (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL,
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  destination_id INTEGER NOT NULL REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED,
  generation INTEGER NOT NULL CHECK (generation >= 1),
  -- 1 for the current generation of its (destination, key), else NULL. A separate column, so that state changes do not
  -- touch the index of the natural key, and a done file stays done when a newer generation replaces it.
  live INTEGER CHECK (live = 1),
  -- The local path and the remote key.
  path BLOB NOT NULL CHECK (path <> x''),
  key BLOB NOT NULL,
  -- The path with its case folded, for a download into a folder that does not distinguish names that differ only in
  -- case; else NULL.
  folded BLOB CHECK (folded IS NULL OR is_download IS NOT NULL),
  -- A download: nothing is known about the local file before it is written.
  is_download INTEGER CHECK (is_download = 1),
  -- Size and digests that a download must have (JSON), if they were known before it was requested. Of an upload: its
  -- size when it was compared with a list or a plan; no other version of its source is sent in its place.
  expected TEXT,
  -- Properties that rules set for the object of an upload when it was recorded (JSON): media type, storage class,
  -- headers, tags.
  properties TEXT CHECK (properties IS NULL OR is_download IS NULL),
  -- Identity of the source when it was admitted; `sighting` holds the newest identity of the same content since then.
  -- For a download: the identity of its partial file, and the times of the local file when it got its name.
  size INTEGER CHECK (size >= 0),
  mtime_ns INTEGER,
  ctime_ns INTEGER,
  inode INTEGER,
  device INTEGER,
  -- The boot in which `device` was seen (the first 64 bits of the kernel's boot id); 0 if unknown.
  boot INTEGER NOT NULL DEFAULT 0,
  mode INTEGER NOT NULL,
  -- How much of the path of an upload, in bytes, may lead through symbolic links: the folder that was named. If a
  -- component behind it is one when the file is opened, the file is not sent. NULL: only the last may be none.
  root INTEGER CHECK (root IS NULL OR root >= 1 AND is_download IS NULL),
  -- A download: the uid of the copied ledger that made its partial file, which is part of the name of that file: so the
  -- copy does not use the one of its original. NULL: the original made it.
  partial_of BLOB CHECK (partial_of IS NULL OR is_download IS NOT NULL),
  -- The staged copy that is sent instead of the source: its name in the staging folder beside the ledger.
  staged TEXT CHECK (staged <> ''),
  state TEXT NOT NULL CHECK (state = 'settling' OR state = 'pending' OR state = 'active' OR state = 'finishing'
    OR state = 'done' OR state = 'paused' OR state = 'failed' OR state = 'cancelled' OR state = 'unknown'
    OR state = 'superseded'),
  cause TEXT REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED,
  message TEXT,
  -- The action that a person requested for a file that an engine has claimed. The engine sees it within a quarter of a
  -- second, and every transition that releases the file honours it, including recovery after a crash. Files that no
  -- engine works on change immediately, except that a settling file keeps settling and is paused once it has settled.
  requested_action TEXT CHECK (requested_action IS NULL OR ((requested_action = 'pause' OR requested_action = 'pause-now' OR requested_action = 'cancel' OR requested_action = 'remove')
    AND state IN ('active', 'finishing')) OR requested_action = 'pause' AND state = 'settling'),
  -- Hidden from lists, never from reports.
  hidden INTEGER CHECK (hidden IS NULL OR (hidden = 1
    AND (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded'))),
  priority INTEGER NOT NULL,
  not_before INTEGER,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  run_id INTEGER REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  chunk_size INTEGER CHECK (chunk_size >= 0),
  chunk_count INTEGER CHECK (chunk_count >= 1),
  -- A file of which nothing is stored may get a new layout with shorter chunks, as may a download of which only the
  -- beginning is stored: the original chunk length, which older attempts may have moved.
  first_chunk_size INTEGER CHECK (first_chunk_size > chunk_size),
  -- It was unknown once: a request that must not be repeated may have delivered it. While it is cancelled, it is sent
  -- again only when a person retries it; so is a later generation that may be the same version. Never reset.
  may_have_arrived INTEGER CHECK (may_have_arrived = 1),
  -- It came to rest at least once while bytes of it were stored. Never reset: it says where to look, not what is there.
  holds INTEGER CHECK (holds = 1),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  CHECK ((state IN ('active', 'finishing')) = (run_id IS NOT NULL)),
  CHECK ((state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded') = (finished_at IS NOT NULL)),
  CHECK (live IS NOT NULL OR (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded')),
  CHECK (live IS NULL OR (state <> 'failed' AND state <> 'cancelled' AND state <> 'superseded')),
  CHECK (not_before IS NULL OR state = 'pending'),
  CHECK ((chunk_size IS NULL) = (chunk_count IS NULL)),
  CHECK (chunk_count IS NOT NULL OR state <> 'finishing'),
  CHECK (cause IS NOT NULL OR state NOT IN ('failed', 'unknown')),
  -- A source that could not be examined is recorded as failed, without an identity.
  CHECK (is_download IS NOT NULL OR state = 'failed' OR state = 'superseded' OR (size IS NOT NULL AND mtime_ns IS NOT NULL AND ctime_ns IS NOT NULL AND inode IS NOT NULL
    AND device IS NOT NULL)),
  CHECK (finished_at >= started_at)
) STRICT;
-- 26 bytes, 16 of them the uid. Users may name rows by a prefix of their uid, and a merge looks up which files it
-- already has. New uids lie at the end, because they begin with the time.
CREATE INDEX file_uid ON file (uid);
-- The natural key: one current row for each key; older generations are in file_past. 28 bytes, most of them the key.
-- Each file that is added is looked up here.
CREATE UNIQUE INDEX file_live ON file (destination_id, key) WHERE live = 1;
CREATE UNIQUE INDEX file_past ON file (destination_id, key, generation) WHERE live IS NULL;
-- Has few rows. Finds the generations of a key that may have delivered their versions, among any number of others.
CREATE INDEX file_in_doubt ON file (destination_id, key, generation) WHERE may_have_arrived = 1;
-- Two downloads on one machine never write the same file.
CREATE UNIQUE INDEX file_written ON file (path, id / 1000000000000) WHERE live = 1 AND is_download = 1;
CREATE UNIQUE INDEX file_folded ON file (folded, id / 1000000000000) WHERE folded IS NOT NULL AND live = 1;
-- Finds the download that wrote the file at a path: the newest one that is done.
CREATE INDEX file_kept ON file (path, id) WHERE is_download = 1 AND state = 'done';
-- All files of a batch, 9 bytes each, in the order of admission, so that entries written together lie together.
CREATE INDEX file_batch ON file (batch_id);
-- Indexes by state: each also holds what `status`, `list` and `report` sum up, and every file is in exactly one of
-- file_ready, file_waiting, file_running, file_done and file_rest. Ready and waiting are separate: otherwise every
-- claim would step over the files in backoff.
CREATE INDEX file_ready ON file (priority DESC) WHERE state = 'pending' AND not_before IS NULL;
-- The same within a batch, so that a claim does not step over the files of batches that are held back.
CREATE INDEX file_ready_batch ON file (batch_id, priority DESC, id, size, state, not_before)
  WHERE state = 'pending' AND not_before IS NULL;
CREATE INDEX file_waiting ON file (not_before, batch_id, size, state) WHERE state = 'pending' AND not_before IS NOT NULL;
-- Has few rows. Used when a file ends whose batch has a callback for its end, to check whether the batch has ended.
CREATE INDEX file_backing_off ON file (batch_id) WHERE state = 'pending' AND not_before IS NOT NULL;
CREATE INDEX file_running ON file (run_id) WHERE state IN ('active', 'finishing');
-- 23 bytes. Sums are stored by blocks of numbers, and blocks without a stored sum are read from here: so the number
-- comes before the size.
CREATE INDEX file_done ON file (batch_id, id, size, hidden, state) WHERE state = 'done';
CREATE INDEX file_rest ON file (state, batch_id, cause, size, finished_at, hidden)
  WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing';
-- These hold few files.
CREATE INDEX file_settling ON file (batch_id) WHERE state = 'settling';
CREATE INDEX file_staged ON file (staged) WHERE staged IS NOT NULL;
CREATE INDEX file_requested_action ON file (requested_action, run_id) WHERE requested_action IS NOT NULL AND run_id IS NOT NULL;
CREATE INDEX file_hidden ON file (batch_id) WHERE hidden IS NOT NULL;
-- Find other files that still need a source that is to be removed: files that are not done, by path. Each upload is in
-- the first of these indexes until it ends.
CREATE INDEX file_needed ON file (path) WHERE finished_at IS NULL AND is_download IS NULL;
CREATE INDEX file_failed ON file (path) WHERE state = 'failed' AND is_download IS NULL;
-- The same source by another path: a symbolic or hard link, or another mount; and files of a source that were given up.
CREATE INDEX file_source ON file (inode) WHERE is_download IS NULL AND state <> 'done';
-- What a source was sent as, by another name or to another destination. 13 bytes. Inodes are used again, so that many
-- rows may have one: that of a file which still exists is among the newest.
CREATE INDEX file_sent ON file (inode) WHERE is_download IS NULL AND state = 'done';
CREATE INDEX file_partial ON file (batch_id, state) WHERE holds IS NOT NULL AND run_id IS NULL AND state <> 'done';

-- The newest identity under which a source was found to hold the content that was sent: its ctime (permissions, owner,
-- hard links) or device number (remounted) changed, but not its content.
CREATE TABLE sighting (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  ctime_ns INTEGER NOT NULL,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

-- SHA-256 of whole files in batches with `dedupe`: of files that are done, and of files that were not sent because
-- another file had delivered the same content.
CREATE TABLE content (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  digest TEXT NOT NULL CHECK (digest > 'sha256:' AND digest < 'sha256;'),
  -- The file that delivered this content; NULL if this file was sent.
  same_as INTEGER REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX content_sent ON content (digest) WHERE same_as IS NULL;
-- Finds the duplicates of a file that is being replaced.
CREATE INDEX content_same ON content (same_as) WHERE same_as IS NOT NULL;

-- Growing files of which only what was appended is sent (`growing: segments`): the state of each series of segments.
-- The objects of a series, in the order of their names, are the file.
CREATE TABLE series (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  destination_id INTEGER NOT NULL REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED,
  -- The key that the whole file would have. The keys of its segments are `key.NUMBER.START`, with fixed widths.
  key BLOB NOT NULL,
  -- When it began, in milliseconds since 1970 UTC, or more: a file that was truncated, rewritten or replaced begins the
  -- next series. So ledgers that know nothing of each other use different keys.
  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 9999999999999),
  -- Where the file was seen last: a log that was rotated continues its series under another name.
  path BLOB NOT NULL CHECK (path <> x''),
  -- The newest segment begins at `start`, and the series ends at `size`.
  start INTEGER NOT NULL CHECK (start >= 0),
  size INTEGER NOT NULL CHECK (size > start AND size < 1000000000000000),
  -- SHA-256 of the bytes from `start` to `size`, and of the first 64 KiB of the file or all that it has: if it holds
  -- them still, it was only appended to.
  digest TEXT NOT NULL CHECK (digest > 'sha256:' AND digest < 'sha256;'),
  head TEXT NOT NULL CHECK (head > 'sha256:' AND head < 'sha256;'),
  -- Identity of the file when it was seen with this size and content.
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  -- Birth time of the file in nanoseconds since 1970 UTC, so that a new file with the inode of a deleted one is
  -- another; NULL where the file system does not record it.
  born_ns INTEGER,
  began_at INTEGER NOT NULL,
  grown_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX series_key ON series (destination_id, key, number);
-- Finds the series of a file by any name.
CREATE INDEX series_source ON series (destination_id, inode);

-- The segments of series: each is a file, which is sent from a staged copy of these bytes.
CREATE TABLE segment (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  series_id INTEGER NOT NULL REFERENCES series (id) DEFERRABLE INITIALLY DEFERRED,
  -- Offset in the growing file. Its end is that plus the size of the file.
  start INTEGER NOT NULL CHECK (start >= 0),
  -- SHA-256 of its bytes.
  digest TEXT NOT NULL CHECK (digest > 'sha256:' AND digest < 'sha256;')
) STRICT;
CREATE UNIQUE INDEX segment_start ON segment (series_id, start);

-- Files of other batches that a listing named: they are waiting or active there, are retried there, or were refused
-- before. They count as files of the `pull` that the listing belongs to. Those of its own batch are found by number.
CREATE TABLE listed_file (
  listing_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (listing_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listed_file_named ON listed_file (file_id);

-- A settling file: when its source was first seen with the identity in its row, and when it may be sent if it is still
-- unchanged, in milliseconds of the boot clock of `boot`, which nobody sets. After a reboot the time starts again.
CREATE TABLE look (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  boot INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  due_ms INTEGER NOT NULL CHECK (due_ms > since_ms),
  -- The current run has seen it change, and does not wait for it again.
  is_changing INTEGER CHECK (is_changing = 1)
) STRICT;
CREATE INDEX look_due ON look (is_changing, boot, due_ms);
CREATE INDEX look_since ON look (boot, since_ms);

-- The removal (deletion or move) of a source when its file is done: recorded with the receipt, in the same transaction.
-- An attempt is counted before it touches anything. Only failed attempts count towards the limit (`failures`); a
-- removal that was postponed because nothing could be tried does not.
CREATE TABLE removal (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- The inode of its source: the removals of one source for several batches find each other by it.
  inode INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state = 'pending' OR state = 'done' OR state = 'skipped' OR state = 'failed'),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- An attempt was begun and its end is not known: it may have removed the source.
  begun INTEGER CHECK (begun = 1),
  -- Its source was deleted, or may have been, and the object may be the only copy: no file of another path replaces it.
  -- Set with `begun`, before anything is deleted; NULL again when it is known that nothing was, or when a person gives
  -- the object up (rm).
  only_copy INTEGER CHECK (only_copy IS NULL OR only_copy = 1 AND attempts >= 1),
  -- Since when it has been postponed for its cause; NULL when it is not postponed.
  put_off_at INTEGER,
  -- What it was postponed for, until this changes; NULL if an engine is to look at it. The folder of the source, if
  -- something is wrong with it or its file system; empty if a destination lacks the source, or its original may need
  -- it, in a copied ledger.
  waits_for BLOB CHECK (waits_for IS NULL OR put_off_at IS NOT NULL),
  -- When it is due again although its folder has nothing that it could wait for: it was put off for an error that
  -- passes by itself (a full disk of the target folder); NULL if its folder is the reason.
  due_at INTEGER CHECK (due_at IS NULL OR waits_for IS NOT NULL),
  -- Why the source is still there; NULL while it is being removed, and after a crash then.
  cause TEXT REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED,
  message TEXT,
  recorded_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'pending') = (ended_at IS NULL)),
  CHECK (state <> 'done' OR (attempts >= 1 AND cause IS NULL)),
  CHECK ((state <> 'skipped' AND state <> 'failed') OR cause IS NOT NULL),
  CHECK (failures <= attempts AND (state <> 'failed' OR failures >= 1)),
  CHECK (put_off_at IS NULL OR state = 'pending'),
  CHECK (begun IS NULL OR state = 'pending' AND attempts >= 1)
) STRICT;
CREATE INDEX removal_pending ON removal (file_id) WHERE state = 'pending';
CREATE INDEX removal_kept ON removal (file_id) WHERE state = 'skipped' OR state = 'failed';
CREATE INDEX removal_source ON removal (inode) WHERE state <> 'done';
CREATE INDEX removal_wait ON removal (waits_for, file_id, due_at) WHERE waits_for IS NOT NULL;
CREATE INDEX removal_due ON removal (file_id) WHERE state = 'pending' AND waits_for IS NULL;

-- Files of uploads that were given up, and whose source an engine has not found at its path since: it was renamed or
-- deleted. They hold no removal of it by another path. The row goes when the file is to be sent again: if that is given
-- up, too, it holds its source again. No times are compared, because clocks are set.
CREATE TABLE absent_source (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  seen_at INTEGER NOT NULL
) STRICT;

-- The folders of sources that are to be deleted or moved, and those above them up to the folder that keys are relative
-- to, as they were when their files were recorded. With these rows a later run distinguishes a source that was removed
-- from one whose file system is not mounted: a folder is identified by its inode and birth time, or by its device
-- within one boot.
CREATE TABLE source_folder (
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  path BLOB NOT NULL CHECK (path <> x''),
  inode INTEGER NOT NULL,
  -- NULL if the file system does not record it.
  born_ns INTEGER,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  PRIMARY KEY (batch_id, path)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Callbacks: notifications about files and runs of jobs.

-- A receiver that a batch or a job notifies of one kind of event. Never holds a secret: a secret URL is stored as a
-- reference (`env:NAME` …), and so is the signing key.
CREATE TABLE callback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  batch_id INTEGER REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  job TEXT CHECK (job <> ''),
  -- For a batch: how one of its files ended, or that all of them ended. For a job: that a run began, or how it ended.
  event TEXT NOT NULL CHECK (event = 'done' OR event = 'failed' OR event = 'unknown' OR event = 'batch_done'
    OR event = 'batch_failed' OR event = 'started' OR event = 'succeeded' OR event = 'unsuccessful'),
  kind TEXT NOT NULL CHECK (kind = 'exec' OR kind = 'webhook' OR kind = 'ping' OR kind = 'mail'),
  target TEXT NOT NULL CHECK (target <> ''),
  -- A reference to the key that signs webhooks; '' for none.
  secret TEXT NOT NULL,
  CHECK ((batch_id IS NULL) <> (job IS NULL)),
  CHECK ((job IS NOT NULL) = (event = 'started' OR event = 'succeeded' OR event = 'unsuccessful')),
  CHECK (secret = '' OR kind = 'webhook' AND (secret GLOB 'env:?*' OR secret GLOB 'file:?*'
    OR secret GLOB 'credential:?*' OR secret GLOB 'command:?*'))
) STRICT;
CREATE UNIQUE INDEX callback_batch ON callback (batch_id, event, kind, target) WHERE batch_id IS NOT NULL;
CREATE UNIQUE INDEX callback_job ON callback (job, event, kind, target, secret) WHERE job IS NOT NULL;

-- Notifications to deliver: written by a trigger in the transaction of the reported state change, or with the row of a
-- job.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  callback_id INTEGER NOT NULL REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED,
  file_id INTEGER REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- For a job: the run that the callback reports, and the document. The document for a file or batch is made from its
  -- rows at delivery.
  uid BLOB,
  body TEXT CHECK (body >= '{' AND body < '|'),
  -- For the end of a run: how it ended, and `failed_runs` of its job at that time. The next one is compared with these.
  result TEXT CHECK (result <> ''),
  failed_runs INTEGER,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state = 'waiting' OR state = 'delivering' OR state = 'delivered'
    OR state = 'gave_up' OR state = 'cancelled'),
  not_before INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- NULL for a file whose outcome is unknown: the time is not known.
  recorded_at INTEGER,
  ended_at INTEGER,
  CHECK ((uid IS NULL) = (body IS NULL) AND (file_id IS NULL OR uid IS NULL)),
  CHECK ((result IS NULL) = (failed_runs IS NULL) AND (result IS NULL OR file_id IS NULL)),
  CHECK ((state = 'waiting' OR state = 'delivering') = (ended_at IS NULL))
) STRICT;
CREATE INDEX outbox_due ON outbox (callback_id, not_before, id) WHERE state = 'waiting';
CREATE INDEX outbox_delivering ON outbox (id) WHERE state = 'delivering';
-- Finds the callbacks that must be delivered first, for one receiver and one file or job.
CREATE INDEX outbox_open ON outbox (callback_id, file_id, id) WHERE state = 'waiting' OR state = 'delivering';
CREATE INDEX outbox_given_up ON outbox (id) WHERE state = 'gave_up';
CREATE INDEX outbox_file ON outbox (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX outbox_of ON outbox (callback_id, id);
-- Finds the ended callbacks of batches that a prune deletes.
CREATE INDEX outbox_batch_ended ON outbox (ended_at) WHERE file_id IS NULL AND uid IS NULL AND ended_at IS NOT NULL;

-- Callbacks that were given up and whose rows have since been deleted: how many for each receiver, and when the first
-- and the last of them were recorded. Written by a trigger with each deletion.
CREATE TABLE callback_loss (
  callback_id INTEGER PRIMARY KEY REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED,
  callbacks INTEGER NOT NULL CHECK (callbacks >= 1),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL CHECK (last_at >= first_at)
) STRICT;

-- One delivery attempt, recorded before it begins.
CREATE TABLE delivery (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id) DEFERRABLE INITIALLY DEFERRED,
  n INTEGER NOT NULL CHECK (n >= 1),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT NOT NULL CHECK (outcome = 'open' OR outcome = 'ok' OR outcome = 'failed' OR outcome = 'interrupted'
    OR outcome = 'crashed'),
  exit_code INTEGER,
  http_status INTEGER,
  message TEXT,
  -- The beginning of the response or output, at most 4 KiB, secrets masked.
  output BLOB CHECK (length(output) <= 4096),
  PRIMARY KEY (outbox_id, n),
  CHECK ((outcome = 'open') = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

-- The last complete scan of each set of sources for a job, or for a place if no job was named. A scan that ended with
-- an error is not recorded: the time and the counts show if a job sees no files, or no longer does.
CREATE TABLE scan (
  id INTEGER PRIMARY KEY,
  -- '' for none.
  job TEXT NOT NULL,
  place TEXT NOT NULL,
  -- The named sources (JSON): files, folders, patterns or a list, and the rules.
  sources TEXT NOT NULL CHECK (sources LIKE '{%}'),
  completed_at INTEGER NOT NULL,
  took_ms INTEGER NOT NULL CHECK (took_ms >= 0),
  -- Files that were seen, without those that rules excluded.
  files INTEGER NOT NULL CHECK (files >= 0),
  new INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  settling INTEGER NOT NULL,
  not_ready INTEGER NOT NULL,
  excluded INTEGER NOT NULL,
  unreadable INTEGER NOT NULL,
  -- Links, FIFOs, sockets, devices, and the ledger's own files, not among `files`.
  special INTEGER NOT NULL,
  -- Left out because a list of the destination has them (--known-at).
  known INTEGER NOT NULL,
  -- Not recorded, and each run refuses them again: no row says so.
  refused INTEGER NOT NULL,
  UNIQUE (job, place, sources)
) STRICT;
CREATE INDEX scan_completed ON scan (completed_at);

-- In a copy of a ledger: files that were not at rest, had failed, or had a source to be removed when it was made. Its
-- original may have sent them since. It may still use their sessions and sources until a person trusts the copy: then
-- all rows are deleted.
CREATE TABLE doubt (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- The newest event when the doubt began: a later one may end it.
  after_event INTEGER NOT NULL,
  -- The file is unknown because of it, or a person has it retried: it is no reason any more not to send the file.
  is_decided INTEGER CHECK (is_decided = 1)
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- Work on a file.

-- One upload session on a server, recorded before the request that creates it is sent.
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  state TEXT NOT NULL CHECK (state = 'intended' OR state = 'open' OR state = 'completed' OR state = 'aborted'
    OR state = 'gone'),
  remote_id TEXT CHECK (remote_id <> ''),
  -- State of the protocol (a JSON object): tokens, progress of the final steps.
  notes TEXT CHECK (notes LIKE '{%}'),
  -- What belonged to it on the server when it was given up (a JSON array of the `remote` of its chunks): the chunks may
  -- have been restarted in another session before its abort is requested.
  remotes TEXT CHECK (remotes LIKE '[%]'),
  -- The attempt that began as not repeatable and whose own request opened this session: from then on the server can be
  -- queried about it, so recovery queries instead of leaving its file unknown.
  opened_by INTEGER REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  intended_at INTEGER NOT NULL,
  opened_at INTEGER,
  expires_at INTEGER,
  ended_at INTEGER,
  -- Set when the session must be aborted on the server; the time of the next attempt.
  abort_after INTEGER,
  -- Of a listing: how many of the files that its pages named were here already and unchanged.
  unchanged INTEGER CHECK (unchanged > 0),
  CHECK ((state = 'completed' OR state = 'aborted' OR state = 'gone') = (ended_at IS NOT NULL)),
  CHECK (remote_id IS NOT NULL OR state NOT IN ('open', 'completed')),
  CHECK ((remote_id IS NULL) = (opened_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX session_live ON session (file_id) WHERE state IN ('intended', 'open') AND abort_after IS NULL;
CREATE INDEX session_abort ON session (abort_after) WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL;
CREATE INDEX session_file ON session (file_id);
CREATE INDEX session_unchanged ON session (file_id, state, unchanged) WHERE unchanged IS NOT NULL;
-- Looks up whether a session that a server lists is ours, while an engine waits for the result.
CREATE INDEX session_remote ON session (remote_id) WHERE remote_id IS NOT NULL;

-- One byte range of a file.
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length >= 0),
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'in_flight' OR state = 'done' OR state = 'waiting'
    OR state = 'failed' OR state = 'unknown'),
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  not_before INTEGER,
  -- Bytes from its start that the server holds, while it is not done.
  acked INTEGER NOT NULL DEFAULT 0 CHECK (acked >= 0 AND acked <= length),
  -- The answer to one of its requests was lost, and the server has not been queried since.
  uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain = 0 OR uncertain = 1),
  -- What the server returned for it (a JSON object): the URL of its separate upload, values for the final steps.
  remote TEXT,
  etag TEXT,
  digest TEXT,
  md5 TEXT,
  confirmation TEXT CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  -- The attempt that stored it; a prune may have deleted that since.
  done_attempt INTEGER,
  -- How often the server lost it after acknowledging it.
  losses INTEGER NOT NULL DEFAULT 0 CHECK (losses >= 0),
  -- For a download: how many of its bytes were not fetched, because a local file had them.
  reused INTEGER CHECK (reused IS NULL OR (reused >= 0 AND reused <= length AND state = 'done')),
  -- 13 bytes. Finds all chunks of a file, in order.
  UNIQUE (file_id, seq),
  CHECK ((state = 'waiting') = (not_before IS NOT NULL)),
  CHECK ((state = 'done') = (done_attempt IS NOT NULL)),
  CHECK ((state = 'done') = (confirmation IS NOT NULL)),
  CHECK ((state = 'done') = (etag IS NOT NULL)),
  CHECK (state = 'done' OR (digest IS NULL AND md5 IS NULL))
) STRICT;
CREATE INDEX chunk_pending ON chunk (file_id, seq) WHERE state = 'pending';
CREATE INDEX chunk_waiting ON chunk (not_before) WHERE state = 'waiting';
-- Holds few files: how much of a file was not fetched.
CREATE INDEX chunk_reused ON chunk (file_id, reused) WHERE reused IS NOT NULL;
-- Looks up whether a chunk has the upload that a server gave to another one. Holds chunks with an upload of their own
-- only, whose URL is the first of the values in `remote`.
CREATE INDEX chunk_upload ON chunk (remote) WHERE remote > '{"url":"http';

-- One request, recorded before it is sent.
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  chunk_id INTEGER REFERENCES chunk (id) DEFERRABLE INITIALLY DEFERRED,
  session_id INTEGER REFERENCES session (id) DEFERRABLE INITIALLY DEFERRED,
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  operation TEXT NOT NULL CHECK (operation = 'create' OR operation = 'probe' OR operation = 'prepare'
    OR operation = 'part' OR operation = 'finish' OR operation = 'save' OR operation = 'verify' OR operation = 'abort'),
  n INTEGER NOT NULL CHECK (n >= 1),
  is_repeatable INTEGER NOT NULL CHECK (is_repeatable IN (0, 1)),
  started_at INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome = 'open' OR outcome = 'ok' OR outcome = 'retry' OR outcome = 'fatal'
    OR outcome = 'unknown' OR outcome = 'interrupted' OR outcome = 'crashed'),
  ended_at INTEGER,
  error_code TEXT REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED,
  message TEXT,
  http_status INTEGER,
  curl_code INTEGER,
  errno INTEGER,
  -- Body bytes, sent (upload) or received (download); and how many of them are known to be stored.
  bytes_transferred INTEGER NOT NULL DEFAULT 0 CHECK (bytes_transferred >= 0),
  bytes_acked INTEGER NOT NULL DEFAULT 0 CHECK (bytes_acked >= 0),
  dns_ms INTEGER,
  connect_ms INTEGER,
  tls_ms INTEGER,
  sent_ms INTEGER,
  first_byte_ms INTEGER,
  total_ms INTEGER,
  -- NULL when no rate limit delayed the body.
  held_ms INTEGER CHECK (held_ms > 0),
  remote_ip TEXT,
  http_version TEXT,
  request_id TEXT,
  retry_after_ms INTEGER,
  backoff_ms INTEGER,
  reply_excerpt BLOB,
  may_have_arrived INTEGER NOT NULL DEFAULT 0 CHECK (may_have_arrived IN (0, 1)),
  -- Host and port, if it was not sent to the server of its destination: a mirror, or where a redirect led.
  mirror TEXT,
  CHECK ((outcome = 'open') = (ended_at IS NULL)),
  CHECK (operation <> 'part' OR chunk_id IS NOT NULL),
  CHECK (operation = 'part' OR operation = 'prepare' OR operation = 'probe' OR chunk_id IS NULL),
  CHECK (ended_at >= started_at)
) STRICT;
-- 22 bytes. The attempts of a file; those for a chunk in order, so that the next number is found without reading the
-- others.
CREATE UNIQUE INDEX attempt_file ON attempt (file_id, operation, chunk_id, n);
-- NULLs are distinct in a unique index, so the attempts without a chunk need their own.
CREATE UNIQUE INDEX attempt_control ON attempt (file_id, operation, n) WHERE chunk_id IS NULL;
-- At most one open attempt per chunk; also the list of requests in flight.
CREATE UNIQUE INDEX attempt_open ON attempt (file_id, chunk_id) WHERE outcome = 'open';
-- Failed attempts, with the columns that the list of failures shows.
CREATE INDEX attempt_failed ON attempt (error_code, id, file_id, started_at, ended_at) WHERE error_code IS NOT NULL;
-- Attempts at mirrors and targets of redirects, which the sums of a batch do not tell apart.
CREATE INDEX attempt_mirror ON attempt (file_id) WHERE mirror IS NOT NULL;

-- What a request that did not store its chunk had read from the file: bytes that the server may report as received.
CREATE TABLE sent_body (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length > 0),
  digest TEXT NOT NULL
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- Results.

-- What is known about the object on the server, and about the local file of a download. The first receipt of a file is
-- its proof; more follow when it is verified later: the object still exists (`found`), is lost or differs; the local
-- file is intact, has changed or is missing.
CREATE TABLE receipt (
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  n INTEGER NOT NULL DEFAULT 1 CHECK (n >= 1),
  -- In later receipts; NULL in the proof.
  finding TEXT CHECK (finding = 'found' OR finding = 'lost' OR finding = 'differs' OR finding = 'intact'
    OR finding = 'changed' OR finding = 'missing'),
  -- Bytes of the object, or of the local file as it was found.
  size INTEGER CHECK (size >= 0),
  -- The attempt whose answer it is based on; a prune may have deleted that since. NULL if a person resolved the file,
  -- and for findings about local files.
  attempt_id INTEGER,
  confirmation TEXT NOT NULL CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  -- algorithm:hex
  digest TEXT,
  remote_digest TEXT,
  -- SHA-256 of the content that was sent or received, as computed here, whatever the server confirmed; NULL if nobody
  -- asked for it.
  sha256 TEXT CHECK (sha256 > 'sha256:' AND sha256 < 'sha256;'),
  etag TEXT NOT NULL,
  version_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  server_date TEXT NOT NULL,
  location TEXT NOT NULL,
  -- Why a person resolved a file of unknown outcome as done. Its chunks stay as they were: the server did not
  -- acknowledge them.
  note TEXT CHECK (note IS NULL OR (note <> '' AND confirmation = 'none')),
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (file_id, n),
  CHECK ((n = 1) = (finding IS NULL)),
  CHECK ((attempt_id IS NULL) = (note IS NOT NULL OR finding IS 'intact' OR finding IS 'changed' OR finding IS 'missing'))
) STRICT, WITHOUT ROWID;

-- Finds what later checks contradicted, which is little.
CREATE INDEX receipt_contradiction ON receipt (file_id) WHERE finding IN ('lost', 'differs', 'changed', 'missing');
-- Finds local files by content: receipts whose digest is collision-resistant.
CREATE INDEX receipt_content ON receipt (digest) WHERE digest >= 'sha2' AND digest < 'sha6' AND finding IS NULL;
-- The same by a SHA-256 that was recorded beside another digest.
CREATE INDEX receipt_sha256 ON receipt (sha256) WHERE sha256 IS NOT NULL AND finding IS NULL;

-- What people and the engine did: one row for what a verb did to the files of one batch, or to none, in one
-- transaction. A verb on very many files takes several transactions: the later rows refer to the first one, and lists
-- show them as one. A row is complete when it is committed, so that a reader who continues after the last number misses
-- nothing.
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  verb TEXT NOT NULL CHECK (verb <> ''),
  batch_id INTEGER REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  part_of INTEGER REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  detail TEXT NOT NULL,
  -- For a merged event: the ledger that it comes from, and its number there.
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED,
  origin_event INTEGER,
  CHECK ((origin_id IS NULL) = (origin_event IS NULL))
) STRICT;
CREATE UNIQUE INDEX event_merged ON event (origin_id, origin_event) WHERE origin_id IS NOT NULL;
CREATE INDEX event_batch ON event (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX event_part ON event (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX event_slept ON event (at) WHERE verb = 'slept';
CREATE INDEX event_decided ON event (id)
  WHERE verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved');

-- The files of an event, all of its batch: disjoint ranges of numbers, in order. Ranges are short, so that those that
-- contain a file are among the few that begin just below its number.
CREATE TABLE event_range (
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  first_file INTEGER NOT NULL CHECK (first_file >= 1),
  last_file INTEGER NOT NULL CHECK (last_file >= first_file AND last_file < first_file + 4096),
  PRIMARY KEY (event_id, first_file)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_range_file ON event_range (first_file, last_file);

-- An append-only log of receipts, ended attempts and events: a Merkle tree (RFC 6962 section 2), so that nobody can
-- change a record without changing the head. Each transaction that completes such rows appends one row here with their
-- leaves. docs/receipts.md says which bytes a leaf is the hash of.
CREATE TABLE log_group (
  -- Place of its first leaf in the tree, from 0.
  first_leaf INTEGER PRIMARY KEY CHECK (first_leaf >= 0),
  leaves INTEGER NOT NULL CHECK (leaves >= 1),
  -- The row of each leaf: a byte for the kind (1 receipt, 2 attempt, 3 event, 4 attempt with credited bytes, 5 prune),
  -- then its number and, for a receipt, its number within the file, for a credit, the bytes transferred and
  -- acknowledged before it, 7 bits per byte.
  entries BLOB NOT NULL,
  hashes BLOB NOT NULL CHECK (length(hashes) = 32 * leaves)
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- Deleted history. Before a prune deletes rows, it records in the same transaction which rows these are, their sums,
-- and a leaf of the log with all of this.

-- One transaction of a `store prune`.
CREATE TABLE prune (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  at INTEGER NOT NULL,
  -- Files that came to rest at this time or later are not pruned.
  before_at INTEGER NOT NULL,
  CHECK (before_at <= at)
) STRICT;

-- Numbers of the rows that it deleted; `history` means files that stay, without their attempts and sessions. Every
-- number of a range was pruned. Ranges of one kind are disjoint.
CREATE TABLE pruned_range (
  kind TEXT NOT NULL CHECK (kind = 'file' OR kind = 'history' OR kind = 'chunk' OR kind = 'session' OR kind = 'attempt'),
  first_id INTEGER NOT NULL CHECK (first_id >= 1),
  last_id INTEGER NOT NULL CHECK (last_id >= first_id),
  prune_id INTEGER NOT NULL REFERENCES prune (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (kind, first_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pruned_range_of ON pruned_range (prune_id, kind, first_id);

-- Sums of the deleted rows of a file that stays.
CREATE TABLE pruned_file (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  bytes_transferred INTEGER NOT NULL CHECK (bytes_transferred >= 0),
  -- What crashed attempts may have transferred beyond that.
  bytes_untold INTEGER NOT NULL CHECK (bytes_untold >= 0),
  -- Bytes of its deleted chunks that were not fetched.
  bytes_reused INTEGER NOT NULL CHECK (bytes_reused >= 0)
) STRICT;

-- Sums of the deleted attempts of one batch and run that began within one quarter of an hour: in every time zone days
-- begin at a quarter. The columns are those of attempt_sum, and those that histories of hosts also need.
CREATE TABLE pruned_sum (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  prune_id INTEGER NOT NULL REFERENCES prune (id) DEFERRABLE INITIALLY DEFERRED,
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  -- Number of the quarter: milliseconds since 1970 UTC divided by 900,000.
  quarter INTEGER NOT NULL,
  -- Files whose first attempt is one of these.
  files INTEGER NOT NULL CHECK (files >= 0),
  ok INTEGER NOT NULL,
  retry INTEGER NOT NULL,
  fatal INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  crashed INTEGER NOT NULL,
  bytes_transferred INTEGER NOT NULL,
  bytes_acked INTEGER NOT NULL,
  bytes_untold INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  errors TEXT NOT NULL CHECK (errors LIKE '{%}'),
  latencies BLOB NOT NULL,
  active BLOB NOT NULL,
  connect_ms INTEGER NOT NULL,
  server_ms INTEGER NOT NULL,
  resent_ms INTEGER NOT NULL,
  bytes_unacked INTEGER NOT NULL,
  backoff TEXT NOT NULL CHECK (backoff LIKE '{%}'),
  -- Milliseconds for connecting and for the first byte of an answer, and how many took that long; encoded like
  -- latencies.
  connects BLOB NOT NULL,
  first_bytes BLOB NOT NULL,
  -- Counts by HTTP status, and by HTTP version.
  statuses TEXT NOT NULL CHECK (statuses LIKE '{%}'),
  versions TEXT NOT NULL CHECK (versions LIKE '{%}'),
  -- Aborts, and queries about done files, which are in none of the counts by outcome.
  after_end INTEGER NOT NULL CHECK (after_end >= 0),
  UNIQUE (prune_id, batch_id, run_id, quarter)
) STRICT;
CREATE INDEX pruned_sum_batch ON pruned_sum (batch_id);
CREATE INDEX pruned_sum_quarter ON pruned_sum (quarter);

-- ---------------------------------------------------------------------------------------------------------------------
-- Sums. Closed attempts and done files do not change, so that reports need not read them again each time. Runs write
-- the sums, over 4,096 numbers each; rows that they do not cover yet are summed on demand. They hold nothing that is
-- not in the rows of attempt and file: without them reports are only slower, and `store check` compares them.

-- Sums of the 4,096 attempts from number block * 4096 on, all of them closed, for one batch. The counts by outcome
-- leave out attempts after the end of their file: aborts, and queries about done files.
CREATE TABLE attempt_sum (
  id INTEGER PRIMARY KEY,
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  block INTEGER NOT NULL CHECK (block >= 0),
  ok INTEGER NOT NULL,
  retry INTEGER NOT NULL,
  fatal INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  crashed INTEGER NOT NULL,
  bytes_transferred INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- By error code: the count, the newest attempt, the first start, the last end.
  errors TEXT NOT NULL CHECK (errors LIKE '{%}'),
  -- Durations of parts that succeeded in milliseconds, and how many took that long; periods in which one was in flight.
  -- Numbers in 7 bits per byte.
  latencies BLOB NOT NULL,
  active BLOB NOT NULL,
  -- Milliseconds that requests spent connecting, waiting for answers, and sending bodies that do not count; bytes of
  -- those bodies. By error code: how many attempts were repeated, and the backoff before them.
  connect_ms INTEGER NOT NULL,
  server_ms INTEGER NOT NULL,
  resent_ms INTEGER NOT NULL,
  bytes_unacked INTEGER NOT NULL,
  backoff TEXT NOT NULL CHECK (backoff LIKE '{%}'),
  UNIQUE (batch_id, block)
) STRICT;
CREATE INDEX attempt_sum_block ON attempt_sum (block);

-- Sums of the done files of one batch among the 4,096 from number block * 4096 on.
CREATE TABLE file_sum (
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  block INTEGER NOT NULL CHECK (block >= 0),
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hidden_files INTEGER NOT NULL,
  hidden_bytes INTEGER NOT NULL,
  -- Files whose proof is `none`.
  unverified INTEGER NOT NULL,
  -- The three slowest: pairs of milliseconds and number.
  slowest TEXT NOT NULL CHECK (slowest LIKE '[%]'),
  PRIMARY KEY (batch_id, block)
) STRICT, WITHOUT ROWID;
