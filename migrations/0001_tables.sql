-- The ledger: one row for every intention, and its result.
--
-- Times are integer milliseconds since 1970 UTC by the wall clock: for people. Nothing is decided by comparing two of
-- them, except not_before and abort_after with the present time. Order is the order of ids. Names and keys are bytes
-- (BLOB). Unsigned 64-bit numbers of the kernel (inode, device) are stored with the same bits as signed ones.
--
-- CHECKs, unique indexes and the triggers of 0002 repeat the rules of the program, so that no other program can store
-- what must not be true.
--
-- Numbers (`b1`, `f7`) are never used again, also when history was pruned: AUTOINCREMENT.
--
-- What keeps the price of a row low (SQLite 3.40):
-- * Lists of three values and more are written out with OR, here and in 0002: for `IN (…)` in a CHECK or a trigger
--   SQLite fills a temporary B-tree at every row that is written, which doubled the price of a file (sqlite3FindInIndex
--   in its expr.c).
-- * A statement that may fail in the middle of more than one write keeps a journal of its own, into which it copies
--   each page before it changes it; a statement with triggers counts as more than one write (usesStmtJournal). That was
--   a quarter of the price of a file. So triggers say FAIL, references are checked at the commit, and CHECKs of files,
--   chunks and attempts, and the triggers of their births and transitions, call no functions (which may fail). What
--   needs one is asked by a trigger on its own column.
-- * Columns of the condition of an index are repeated among its columns where many rows are added up: SQLite takes an
--   index without them for one that does not hold all, and looks up each row.
-- * An index ends with the number of its row, so that `id` is among its columns only where something else follows it.
-- A small file that was sent takes 540 bytes in ten B-trees: the rows of file (153), attempt (107), receipt (77) and
-- chunk (64), and six indexes, beside each of which stands what it is for.
--
-- Prune and merge find their rows through the indexes that are here: all rows of a batch through file_batch, and those
-- of a file through chunk's UNIQUE, attempt_file, session_file, event_range_file, listed_file_named and the keys of
-- receipt, sighting, listed_file and sent_body; what was merged before is a range of numbers. References
-- to a chunk or an attempt (attempt.chunk_id, session.opened_by) have no index of their own, which each file would pay
-- for: a prune deletes all attempts of a file together, with `PRAGMA foreign_keys` off. chunk.done_attempt and
-- receipt.attempt_id may outlive the attempt that they name: they are numbers, and `store check` compares them.

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger itself.

CREATE TABLE store_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uid BLOB NOT NULL CHECK (length(uid) = 16),
  schema_version INTEGER NOT NULL,
  view_version INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Of a copy: the uid of the ledger that it was made of, and when.
  origin_uid BLOB CHECK (length(origin_uid) = 16),
  copied_at INTEGER,
  -- Birth time of the file in which the ledger was opened last, in nanoseconds since 1970 UTC: another one means that
  -- the ledger was copied by other means than `store backup`. NULL in a copy that was not opened yet, and where the
  -- file system does not keep it.
  born_ns INTEGER,
  -- Of a merged ledger: since when it is one. It holds what other ledgers recorded, for reading; no engine works on it.
  merged_since INTEGER
) STRICT;

-- The closed list of reasons; the same as ErrorCode in the program, which a test compares.
CREATE TABLE error_code (
  code TEXT PRIMARY KEY,
  blame TEXT NOT NULL CHECK (blame = 'source' OR blame = 'local' OR blame = 'network' OR blame = 'server'
    OR blame = 'auth' OR blame = 'policy' OR blame = 'engine'),
  hint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Ledgers of other machines, the shards, whose rows were merged into this one. A batch, and with it its files, chunks,
-- sessions, attempts and receipts, comes from one of them; so does a place that keys belong to, so that a key of
-- another ledger is never the same row as ours. The row number n of shard k has the number k * 1000000000000 + n here,
-- in every table that has numbers: they stay when the shard is merged again, and ranges of them stay ranges. The stride
-- is a multiple of 4096, so that blocks of sums stay blocks. The leaves of the log of shard k are those from k *
-- 1000000000000 on, made of the rows with the numbers that they had in the shard.
CREATE TABLE origin_store (
  id INTEGER PRIMARY KEY,
  -- Of the shard or, where it is a copy, of the ledger that it was copied from: its copies go on with one history.
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  host TEXT NOT NULL,
  merged_at INTEGER NOT NULL,
  -- Its own uid, after which its log is named.
  log_uid BLOB CHECK (length(log_uid) = 16),
  -- How far it was, so that an older state of it is known as one: leaves of its log, the newest attempt and file, the
  -- newest sign of life of an engine.
  leaves INTEGER NOT NULL DEFAULT 0,
  newest_attempt INTEGER NOT NULL DEFAULT 0,
  newest_file INTEGER NOT NULL DEFAULT 0,
  alive_at INTEGER NOT NULL DEFAULT 0
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
  -- The same by the boot clock of boot_id, which nobody moves: together they tell how far the wall clock was moved.
  started_boot_ms INTEGER,
  heartbeat_boot_ms INTEGER,
  -- For how long its process had used processors at the last heartbeat, in milliseconds.
  processor_ms INTEGER CHECK (processor_ms >= 0),
  -- No attempt of it has a lower number: where to begin to read those of a day.
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

-- What runs learned of a host, for the next run: how many requests at a time were worth while there.
CREATE TABLE host_state (
  -- Scheme, name and port.
  host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 300),
  requests_at_once INTEGER NOT NULL CHECK (requests_at_once BETWEEN 1 AND 256),
  -- The run that wrote it last, and when.
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- What people asked for.

-- A place that keys belong to, without secrets. Two batches for one place share the row, so that the same key in it is
-- the same remote object. Of downloads it also names the folder that they go to.
CREATE TABLE destination (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place TEXT NOT NULL,
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX destination_place ON destination (place) WHERE origin_id IS NULL;
CREATE UNIQUE INDEX destination_merged ON destination (origin_id, place) WHERE origin_id IS NOT NULL;

-- One `add` or `push`, with the settings it was given: later edits of profiles or options change nothing that runs.
CREATE TABLE batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT CHECK (name <> ''),
  direction TEXT NOT NULL DEFAULT 'upload' CHECK (direction = 'upload' OR direction = 'download'),
  -- The configured job that made it.
  job TEXT CHECK (job <> ''),
  destination_id INTEGER NOT NULL REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED,
  protocol TEXT NOT NULL,
  destination TEXT NOT NULL,
  -- JSON with a `version`.
  settings TEXT NOT NULL CHECK (settings LIKE '{%}'),
  labels TEXT NOT NULL CHECK (labels LIKE '{%}'),
  priority INTEGER NOT NULL,
  -- Limits for all its requests together: bytes a second, requests at a time, the time after which no file of it is
  -- begun.
  rate INTEGER CHECK (rate >= 1),
  workers INTEGER CHECK (workers >= 1),
  deadline_at INTEGER,
  -- What is done with sources whose files are done; where to and what it asks for is in `settings`. NULL keeps them.
  after TEXT CHECK (after = 'delete' OR after = 'move'),
  -- Tidied away: left out of lists, never out of reports.
  hidden INTEGER CHECK (hidden = 1),
  created_at INTEGER NOT NULL,
  origin_id INTEGER REFERENCES origin_store (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
-- A name is given once; ledgers that are merged bring their own.
CREATE UNIQUE INDEX batch_name ON batch (name) WHERE origin_id IS NULL;
CREATE INDEX batch_job ON batch (job, id) WHERE job IS NOT NULL;
CREATE INDEX batch_limits ON batch (id)
  WHERE rate IS NOT NULL OR workers IS NOT NULL OR deadline_at IS NOT NULL;
-- Whether anything is hidden is asked before each list; mostly nothing is.
CREATE INDEX batch_hidden ON batch (id) WHERE hidden = 1;

-- How the last run of each configured job ended: one row a job, however often it runs.
CREATE TABLE job_state (
  job TEXT NOT NULL PRIMARY KEY CHECK (length(job) BETWEEN 1 AND 64),
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL CHECK (ended_at >= started_at),
  -- The name of its exit code and, when it is not `ok`, what was said.
  result TEXT NOT NULL CHECK (result <> ''),
  message TEXT CHECK ((message IS NULL) = (result = 'ok')),
  -- The end of the last run that was `ok`.
  succeeded_at INTEGER,
  -- Runs that were not `ok`, of all that ended: how many there were since somebody was told is a difference of two.
  failed_runs INTEGER NOT NULL DEFAULT 0 CHECK (failed_runs >= 0),
  CHECK (result <> 'ok' OR succeeded_at = ended_at)
) STRICT, WITHOUT ROWID;

-- How many bytes the files of a job may send in a period of the local calendar, whichever engine sends them; what was
-- sent is in the attempts.
CREATE TABLE job_quota (
  job TEXT NOT NULL PRIMARY KEY CHECK (length(job) BETWEEN 1 AND 64),
  bytes INTEGER NOT NULL CHECK (bytes >= 1),
  period TEXT NOT NULL CHECK (period = 'day' OR period = 'week' OR period = 'month'),
  -- When an engine last held back a file because of it.
  reached_at INTEGER
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Files.

-- One local file and one remote key in one generation.
CREATE TABLE file (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid BLOB NOT NULL,
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  destination_id INTEGER NOT NULL REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED,
  generation INTEGER NOT NULL CHECK (generation >= 1),
  -- 1 for the generation that stands for its (destination, key) now, else NULL. A column of its own, so that the index
  -- of the natural key is not touched each time the state changes; and a done file stays done when it is replaced.
  live INTEGER CHECK (live = 1),
  -- The local path and the remote key.
  path BLOB NOT NULL CHECK (path <> x''),
  key BLOB NOT NULL,
  -- The file is there and comes here: nothing local is known of it before it was written.
  is_download INTEGER CHECK (is_download = 1),
  -- Size and digests that the content of a download has to have (JSON), where they were known before it was asked for.
  expected TEXT CHECK (expected IS NULL OR is_download IS NOT NULL),
  -- What rules set for the object of an upload when it was recorded (JSON): media type, storage class, headers, tags.
  properties TEXT CHECK (properties IS NULL OR is_download IS NULL),
  -- Identity of the source as it was admitted; under which identity the same content was seen since is in `sighting`.
  -- Of a download: of its partial file, and the times of the local file when that had its name.
  size INTEGER CHECK (size >= 0),
  mtime_ns INTEGER,
  ctime_ns INTEGER,
  inode INTEGER,
  device INTEGER,
  -- The boot in which `device` was seen (the first 64 bits of the kernel's boot id); 0 when it is not known.
  boot INTEGER NOT NULL DEFAULT 0,
  mode INTEGER NOT NULL,
  -- A copy of the source that is sent instead of it: its name in the folder for such copies beside the ledger.
  staged TEXT CHECK (staged <> ''),
  state TEXT NOT NULL CHECK (state = 'settling' OR state = 'pending' OR state = 'active' OR state = 'finishing'
    OR state = 'done' OR state = 'paused' OR state = 'failed' OR state = 'cancelled' OR state = 'unknown'
    OR state = 'superseded'),
  cause TEXT REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED,
  message TEXT,
  -- What a person asks of a file that an engine has. The engine sees it within a quarter of a second, and every
  -- transition that takes the file out of its hands honours it, also the recovery after a crash. Files that nobody
  -- works on change at once; but one that settles goes on to do so, and is paused when it has.
  wish TEXT CHECK (wish IS NULL OR ((wish = 'pause' OR wish = 'pause-now' OR wish = 'cancel' OR wish = 'remove')
    AND state IN ('active', 'finishing')) OR wish = 'pause' AND state = 'settling'),
  -- Tidied away: left out of lists, never out of reports.
  hidden INTEGER CHECK (hidden IS NULL OR (hidden = 1
    AND (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded'))),
  priority INTEGER NOT NULL,
  not_before INTEGER,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  run_id INTEGER REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  chunk_size INTEGER CHECK (chunk_size >= 0),
  chunk_count INTEGER CHECK (chunk_count >= 1),
  -- A file of which nothing is stored may be cut anew, into shorter chunks: the length of its chunks at first, which
  -- older attempts may have sent of one.
  first_chunk_size INTEGER CHECK (first_chunk_size > chunk_size),
  -- It came to rest once while a chunk of it was stored. Never taken back: it says where to look, not what is there.
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
  -- A source that could not even be looked at is recorded as failed, without an identity.
  CHECK (is_download IS NOT NULL OR state = 'failed' OR state = 'superseded' OR (size IS NOT NULL AND mtime_ns IS NOT NULL AND ctime_ns IS NOT NULL AND inode IS NOT NULL
    AND device IS NOT NULL)),
  CHECK (finished_at >= started_at)
) STRICT;
-- 26 bytes. People name rows by the beginning of their uid, and a merge asks which files it has already. Most of it are
-- the 16 bytes of the uid; new ones lie at its end, because they begin with the time.
CREATE INDEX file_uid ON file (uid);
-- The natural key: one row stands for each key, older generations are beside it. 28 bytes, most of them the key: each
-- file that is added is looked for here.
CREATE UNIQUE INDEX file_live ON file (destination_id, key) WHERE live = 1;
CREATE UNIQUE INDEX file_past ON file (destination_id, key, generation) WHERE live IS NULL;
-- Two downloads of one machine never write the same file.
CREATE UNIQUE INDEX file_written ON file (path, id / 1000000000000) WHERE live = 1 AND is_download = 1;
-- Which download wrote the file that stands at a path: the newest that is done.
CREATE INDEX file_kept ON file (path, id) WHERE is_download = 1 AND state = 'done';
-- All files of a batch, 9 bytes each, in the order of admission, so that what is written together lies together.
CREATE INDEX file_batch ON file (batch_id);
-- The states, apart: each index also holds what `status`, `list` and `report` add up, and every file is in exactly one
-- of file_ready, file_waiting, file_running, file_done and file_rest. Ready and waiting are apart: files in backoff in
-- the index of the ready ones would be stepped over by every claim.
CREATE INDEX file_ready ON file (priority DESC) WHERE state = 'pending' AND not_before IS NULL;
-- The same within a batch, so that a claim need not step over the files of batches that are held back.
CREATE INDEX file_ready_batch ON file (batch_id, priority DESC, id, size, state, not_before)
  WHERE state = 'pending' AND not_before IS NULL;
CREATE INDEX file_waiting ON file (not_before, batch_id, size, state) WHERE state = 'pending' AND not_before IS NOT NULL;
CREATE INDEX file_running ON file (run_id) WHERE state IN ('active', 'finishing');
-- 23 bytes. Sums are kept by blocks of numbers, and those that are not kept yet are read from here: so the number comes
-- before the size.
CREATE INDEX file_done ON file (batch_id, id, size, hidden, state) WHERE state = 'done';
CREATE INDEX file_rest ON file (state, batch_id, cause, size, finished_at, hidden)
  WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing';
-- Of few files only.
CREATE INDEX file_settling ON file (batch_id) WHERE state = 'settling';
CREATE INDEX file_staged ON file (staged) WHERE staged IS NOT NULL;
CREATE INDEX file_wish ON file (wish, run_id) WHERE wish IS NOT NULL AND run_id IS NOT NULL;
CREATE INDEX file_hidden ON file (batch_id) WHERE hidden IS NOT NULL;
-- Who else needs the source that is to be removed: files that are not done, by their paths. Each file is in the first
-- of them until it ends.
CREATE INDEX file_needed ON file (path) WHERE finished_at IS NULL AND is_download IS NULL;
CREATE INDEX file_failed ON file (path) WHERE state = 'failed' AND is_download IS NULL;
-- The same source by another path: a symbolic or hard link, or another mount.
CREATE INDEX file_source ON file (inode) WHERE is_download IS NULL AND (finished_at IS NULL OR state = 'failed');
CREATE INDEX file_partial ON file (batch_id, state) WHERE holds IS NOT NULL AND run_id IS NULL AND state <> 'done';

-- The newest identity under which a file was found to hold what was sent of it: another ctime (permissions, owner, hard
-- links) or another device number (mounted again) without another content.
CREATE TABLE sighting (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  ctime_ns INTEGER NOT NULL,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

-- Files of other batches that a listing named: they wait or are in work there, go on there, or were refused before.
-- They count as files of the `pull` that the listing is of. Those of its own batch are found through their numbers.
CREATE TABLE listed_file (
  listing_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (listing_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listed_file_named ON listed_file (file_id);

-- A settling file: when its source was seen first as its row says, and from when on it may be sent if it is the same
-- then, in milliseconds of the boot clock of `boot`, which nobody sets. In another boot the time counts anew.
CREATE TABLE look (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  boot INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  due_ms INTEGER NOT NULL CHECK (due_ms > since_ms),
  -- The run that is at work has seen it change, and does not wait for it again.
  is_changing INTEGER CHECK (is_changing = 1)
) STRICT;
CREATE INDEX look_due ON look (is_changing, boot, due_ms);
CREATE INDEX look_since ON look (boot, since_ms);

-- What is done with a source when its file is done: it begins with the receipt, in the same transaction. A try is
-- counted before it touches anything. Only tries that failed bring it nearer to its end (`failures`); one that is put
-- off, because nothing could be tried, does not.
CREATE TABLE removal (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- That of its source: by it the removals of one source for several batches find each other.
  inode INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state = 'pending' OR state = 'done' OR state = 'skipped' OR state = 'failed'),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- Since when it has been put off for its cause; NULL when it is not put off.
  put_off_at INTEGER,
  -- Why the source is still there.
  cause TEXT REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED,
  message TEXT,
  recorded_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'pending') = (ended_at IS NULL)),
  CHECK (state <> 'done' OR (attempts >= 1 AND cause IS NULL)),
  CHECK ((state <> 'skipped' AND state <> 'failed') OR cause IS NOT NULL),
  CHECK (failures <= attempts AND (state <> 'failed' OR failures >= 1)),
  CHECK (put_off_at IS NULL OR state = 'pending')
) STRICT;
CREATE INDEX removal_pending ON removal (file_id) WHERE state = 'pending';
CREATE INDEX removal_kept ON removal (file_id) WHERE state = 'skipped' OR state = 'failed';
CREATE INDEX removal_source ON removal (inode) WHERE state <> 'done';

-- ---------------------------------------------------------------------------------------------------------------------
-- Callbacks: who is told what became of files and of runs of jobs.

-- Whom a batch or a job tells of one kind of event. Never a secret: a URL that is one is a reference (`env:NAME` …),
-- and so is the key that signs.
CREATE TABLE callback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  batch_id INTEGER REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  job TEXT CHECK (job <> ''),
  -- Of a batch: how a file of it came to rest. Of a job: that a run of it began, and how it ended.
  event TEXT NOT NULL CHECK (event = 'done' OR event = 'failed' OR event = 'unknown' OR event = 'started'
    OR event = 'succeeded' OR event = 'unsuccessful'),
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

-- What is to be told: written by a trigger in the transaction of the state that it tells of, or with the row of a job.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  callback_id INTEGER NOT NULL REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED,
  file_id INTEGER REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- Of a job: the run that it tells of, and the document. That of a file is made of its rows when it is delivered.
  uid BLOB,
  body TEXT CHECK (body >= '{' AND body < '|'),
  -- Of the end of a run: how it ended, and `failed_runs` of its job then. What the next one is compared with.
  result TEXT CHECK (result <> ''),
  failed_runs INTEGER,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state = 'waiting' OR state = 'delivering' OR state = 'delivered'
    OR state = 'gave_up' OR state = 'cancelled'),
  not_before INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- NULL of a file whose outcome is unknown: nobody knows when.
  recorded_at INTEGER,
  ended_at INTEGER,
  CHECK ((file_id IS NULL) = (uid IS NOT NULL AND body IS NOT NULL)),
  CHECK ((result IS NULL) = (failed_runs IS NULL) AND (result IS NULL OR file_id IS NULL)),
  CHECK ((state = 'waiting' OR state = 'delivering') = (ended_at IS NULL))
) STRICT;
CREATE INDEX outbox_due ON outbox (callback_id, not_before, id) WHERE state = 'waiting';
CREATE INDEX outbox_delivering ON outbox (id) WHERE state = 'delivering';
-- What must be delivered before, of one receiver and one file or job.
CREATE INDEX outbox_open ON outbox (callback_id, file_id, id) WHERE state = 'waiting' OR state = 'delivering';
CREATE INDEX outbox_given_up ON outbox (id) WHERE state = 'gave_up';
CREATE INDEX outbox_file ON outbox (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX outbox_of ON outbox (callback_id, id);

-- Callbacks that were given up and whose rows were deleted since: how many of each receiver, and when the first and the
-- last of them were recorded. Written by a trigger with each deletion.
CREATE TABLE callback_loss (
  callback_id INTEGER PRIMARY KEY REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED,
  callbacks INTEGER NOT NULL CHECK (callbacks >= 1),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL CHECK (last_at >= first_at)
) STRICT;

-- One try to deliver, recorded before it begins.
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
  -- The beginning of what came back, at most 4 KiB, secrets masked.
  output BLOB CHECK (length(output) <= 4096),
  PRIMARY KEY (outbox_id, n),
  CHECK ((outcome = 'open') = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

-- The last complete scan of each set of sources for a job, or for a place of which no job was named. One that ended
-- with an error is not here: a job that sees nothing, or that sees nothing any more, shows in the time and the counts.
CREATE TABLE scan (
  id INTEGER PRIMARY KEY,
  -- '' for none.
  job TEXT NOT NULL,
  place TEXT NOT NULL,
  -- What was named (JSON): files, folders, patterns or a list, and the rules.
  sources TEXT NOT NULL CHECK (sources LIKE '{%}'),
  completed_at INTEGER NOT NULL,
  took_ms INTEGER NOT NULL CHECK (took_ms >= 0),
  -- Files that were seen, without what rules left out.
  files INTEGER NOT NULL CHECK (files >= 0),
  new INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  settling INTEGER NOT NULL,
  not_ready INTEGER NOT NULL,
  excluded INTEGER NOT NULL,
  unreadable INTEGER NOT NULL,
  UNIQUE (job, place, sources)
) STRICT;
CREATE INDEX scan_completed ON scan (completed_at);

-- In a copy of a ledger: files that were not at rest when it was made. Its original may have sent them since. A row
-- goes when its doubt was settled or a person trusts the copy.
CREATE TABLE doubt (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is done for a file.

-- One upload session at a server, recorded before the request that creates it is sent.
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  state TEXT NOT NULL CHECK (state = 'intended' OR state = 'open' OR state = 'completed' OR state = 'aborted'
    OR state = 'gone'),
  remote_id TEXT CHECK (remote_id <> ''),
  -- Names and values of the protocol's own (a JSON object): tokens, how far the last steps are.
  notes TEXT CHECK (notes LIKE '{%}'),
  -- What belonged to it at the server when it was given up (a JSON array of what the chunks held as `remote`): the
  -- chunks may have been begun anew, in another session, before its end is asked for.
  remotes TEXT CHECK (remotes LIKE '[%]'),
  -- The attempt that began as one which must not be repeated, and whose own request opened this session: from then on
  -- the server can be asked what became of it, so recovery asks instead of leaving its file unknown.
  opened_by INTEGER REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  intended_at INTEGER NOT NULL,
  opened_at INTEGER,
  expires_at INTEGER,
  ended_at INTEGER,
  -- Set when the session has to be ended at the server; the time of the next try.
  abort_after INTEGER,
  CHECK ((state = 'completed' OR state = 'aborted' OR state = 'gone') = (ended_at IS NOT NULL)),
  CHECK (remote_id IS NOT NULL OR state NOT IN ('open', 'completed')),
  CHECK ((remote_id IS NULL) = (opened_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX session_live ON session (file_id) WHERE state IN ('intended', 'open') AND abort_after IS NULL;
CREATE INDEX session_abort ON session (abort_after) WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL;
CREATE INDEX session_file ON session (file_id);
-- Whether a session that a server lists is ours is asked while an engine waits for the answer.
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
  -- Bytes from its start that the server holds while it is not done.
  acked INTEGER NOT NULL DEFAULT 0 CHECK (acked >= 0 AND acked <= length),
  -- A request for it lost its answer, and the server was not asked since.
  uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain = 0 OR uncertain = 1),
  -- What the server said about it (a JSON object): the URL of an upload of its own, values for the last steps.
  remote TEXT,
  etag TEXT,
  digest TEXT,
  md5 TEXT,
  confirmation TEXT CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  -- The attempt that stored it, which a prune may have deleted since.
  done_attempt INTEGER,
  -- How often the server lost it after it had acknowledged it.
  losses INTEGER NOT NULL DEFAULT 0 CHECK (losses >= 0),
  -- Of a download: its bytes were not fetched. They were in a local file, which still had them, and the server says
  -- that its version is that of the local file.
  reused INTEGER CHECK (reused IS NULL OR (reused = 1 AND state = 'done')),
  -- 13 bytes. The chunks of a file, in order; nothing else leads to them.
  UNIQUE (file_id, seq),
  CHECK ((state = 'waiting') = (not_before IS NOT NULL)),
  CHECK ((state = 'done') = (done_attempt IS NOT NULL)),
  CHECK ((state = 'done') = (confirmation IS NOT NULL)),
  CHECK ((state = 'done') = (etag IS NOT NULL)),
  CHECK (state = 'done' OR (digest IS NULL AND md5 IS NULL))
) STRICT;
CREATE INDEX chunk_pending ON chunk (file_id, seq) WHERE state = 'pending';
CREATE INDEX chunk_waiting ON chunk (not_before) WHERE state = 'waiting';
-- Of few files only: how much of a file was not fetched.
CREATE INDEX chunk_reused ON chunk (file_id, length) WHERE reused = 1;

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
  -- Body bytes, sent in an upload and received in a download; and those of them that are known to be stored.
  bytes_transferred INTEGER NOT NULL DEFAULT 0 CHECK (bytes_transferred >= 0),
  bytes_acked INTEGER NOT NULL DEFAULT 0 CHECK (bytes_acked >= 0),
  dns_ms INTEGER,
  connect_ms INTEGER,
  tls_ms INTEGER,
  sent_ms INTEGER,
  first_byte_ms INTEGER,
  total_ms INTEGER,
  -- NULL when no rate held a body back.
  held_ms INTEGER CHECK (held_ms > 0),
  remote_ip TEXT,
  http_version TEXT,
  request_id TEXT,
  retry_after_ms INTEGER,
  backoff_ms INTEGER,
  reply_excerpt BLOB,
  may_have_arrived INTEGER NOT NULL DEFAULT 0 CHECK (may_have_arrived IN (0, 1)),
  -- Host and port, where it was sent to a mirror and not to the server of its destination.
  mirror TEXT,
  CHECK ((outcome = 'open') = (ended_at IS NULL)),
  CHECK (operation <> 'part' OR chunk_id IS NOT NULL),
  CHECK (operation = 'part' OR operation = 'prepare' OR operation = 'probe' OR chunk_id IS NULL),
  CHECK (ended_at >= started_at)
) STRICT;
-- 22 bytes. The attempts of a file; those for a chunk by their number, so that the next one is found without reading
-- the others.
CREATE UNIQUE INDEX attempt_file ON attempt (file_id, operation, chunk_id, n);
-- NULLs are distinct in a unique index, so the attempts without a chunk need their own.
CREATE UNIQUE INDEX attempt_control ON attempt (file_id, operation, n) WHERE chunk_id IS NULL;
-- At most one open attempt a chunk; and the list of what is in flight.
CREATE UNIQUE INDEX attempt_open ON attempt (file_id, chunk_id) WHERE outcome = 'open';
-- Attempts that went wrong, with what the list of failures says of them.
CREATE INDEX attempt_failed ON attempt (error_code, id, file_id, started_at, ended_at) WHERE error_code IS NOT NULL;

-- What a request that did not store its chunk had read of the file: bytes that the server may say it has.
CREATE TABLE sent_body (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length > 0),
  digest TEXT NOT NULL
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- What came of it.

-- What is known of the object at the server, and of the local file of a download. The first receipt of a file is the
-- proof with which it was done; others follow when it is looked for later: the object is still there (`found`), is lost
-- or is another one (`differs`), the local file is intact, has changed or is missing.
CREATE TABLE receipt (
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  n INTEGER NOT NULL DEFAULT 1 CHECK (n >= 1),
  -- Of a later one; NULL in the proof.
  finding TEXT CHECK (finding = 'found' OR finding = 'lost' OR finding = 'differs' OR finding = 'intact'
    OR finding = 'changed' OR finding = 'missing'),
  -- Bytes of the object, or of the local file as it was found.
  size INTEGER CHECK (size >= 0),
  -- The attempt whose answer says so, which a prune may have deleted since; NULL for the word of a person, and for what
  -- was seen here.
  attempt_id INTEGER,
  confirmation TEXT NOT NULL CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  -- algorithm:hex
  digest TEXT,
  remote_digest TEXT,
  etag TEXT NOT NULL,
  version_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  server_date TEXT NOT NULL,
  location TEXT NOT NULL,
  -- Why a person says that it is done, whose outcome was unknown. Its chunks stay as they were: nobody acknowledged
  -- them.
  note TEXT CHECK (note IS NULL OR (note <> '' AND confirmation = 'none')),
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (file_id, n),
  CHECK ((n = 1) = (finding IS NULL)),
  CHECK ((attempt_id IS NULL) = (note IS NOT NULL OR finding IS 'intact' OR finding IS 'changed' OR finding IS 'missing'))
) STRICT, WITHOUT ROWID;

-- Which local file had this content: of receipts with a digest that nobody can make another file for.
CREATE INDEX receipt_content ON receipt (digest) WHERE digest >= 'sha2' AND digest < 'sha6' AND finding IS NULL;

-- What people and the engine did: a row for what a verb did to the files of one batch, or to none, in one transaction.
-- A verb on very many files takes several of them: the later rows name the first one, and lists show them as one. A row
-- says all that it ever will when it is committed, so that who reads on from the last number misses nothing.
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  verb TEXT NOT NULL CHECK (verb <> ''),
  batch_id INTEGER REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  part_of INTEGER REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  detail TEXT NOT NULL,
  -- Of an event that was merged: where it comes from, and its number there.
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

-- The files of an event, all of its batch: ranges of numbers, in order and apart. Ranges are short, so that those which
-- hold a file are among the few that begin not far below its number.
CREATE TABLE event_range (
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  first_file INTEGER NOT NULL CHECK (first_file >= 1),
  last_file INTEGER NOT NULL CHECK (last_file >= first_file AND last_file < first_file + 4096),
  PRIMARY KEY (event_id, first_file)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_range_file ON event_range (first_file, last_file);

-- An append-only log of what receipts, ended attempts and events say: a Merkle tree (RFC 6962 section 2), so that
-- nobody can change what was recorded without its head being another. Each transaction that ends such rows appends one
-- row here with their leaves. docs/receipts.md says which bytes a leaf is the hash of.
CREATE TABLE log_group (
  -- Place of its first leaf in the tree, from 0.
  first_leaf INTEGER PRIMARY KEY CHECK (first_leaf >= 0),
  leaves INTEGER NOT NULL CHECK (leaves >= 1),
  -- Of which row each leaf is: a byte for the kind (1 receipt, 2 attempt, 3 event, 4 attempt with credited bytes, 5
  -- prune), then its number and, of a receipt, which one of its file, of a credit the bytes transferred and
  -- acknowledged before it, 7 bits a byte.
  entries BLOB NOT NULL,
  hashes BLOB NOT NULL CHECK (length(hashes) = 32 * leaves)
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- History that was deleted. What a prune deletes it records first, in the same transaction: which rows go, what they
-- add up to, and a leaf of the log with all of this.

-- One transaction of a `store prune`.
CREATE TABLE prune (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  at INTEGER NOT NULL,
  -- Nothing of files goes that came to rest at this time or later.
  before_at INTEGER NOT NULL,
  CHECK (before_at <= at)
) STRICT;

-- Numbers of the rows that it deleted; `history` are files that stay, without their attempts and sessions. Every number
-- of a range went. Ranges of one kind are apart.
CREATE TABLE pruned_range (
  kind TEXT NOT NULL CHECK (kind = 'file' OR kind = 'history' OR kind = 'chunk' OR kind = 'session' OR kind = 'attempt'),
  first_id INTEGER NOT NULL CHECK (first_id >= 1),
  last_id INTEGER NOT NULL CHECK (last_id >= first_id),
  prune_id INTEGER NOT NULL REFERENCES prune (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (kind, first_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pruned_range_of ON pruned_range (prune_id, kind, first_id);

-- What the deleted rows of a file that stays added up to.
CREATE TABLE pruned_file (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  bytes_transferred INTEGER NOT NULL CHECK (bytes_transferred >= 0),
  -- What cut off attempts may have transferred beyond that.
  bytes_untold INTEGER NOT NULL CHECK (bytes_untold >= 0),
  -- Of its deleted chunks: what was not fetched.
  bytes_reused INTEGER NOT NULL CHECK (bytes_reused >= 0)
) STRICT;

-- What the deleted attempts of one batch and run added up to that began within one quarter of an hour: every zone
-- begins its days at a quarter. The columns are those of attempt_sum, and what histories of hosts ask besides.
CREATE TABLE pruned_sum (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  prune_id INTEGER NOT NULL REFERENCES prune (id) DEFERRABLE INITIALLY DEFERRED,
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  -- Number of the quarter: milliseconds since 1970 UTC by 900,000.
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
  -- Milliseconds that connecting and the first byte of an answer took, and how many took so long; as latencies.
  connects BLOB NOT NULL,
  first_bytes BLOB NOT NULL,
  -- By HTTP status, and by version of HTTP: how many.
  statuses TEXT NOT NULL CHECK (statuses LIKE '{%}'),
  versions TEXT NOT NULL CHECK (versions LIKE '{%}'),
  UNIQUE (prune_id, batch_id, run_id, quarter)
) STRICT;
CREATE INDEX pruned_sum_batch ON pruned_sum (batch_id);
CREATE INDEX pruned_sum_quarter ON pruned_sum (quarter);

-- ---------------------------------------------------------------------------------------------------------------------
-- Sums. A closed attempt and a done file stay as they are, so that what a report adds up need not be read again for
-- each report. Runs write them, over 4,096 numbers each; what they do not hold yet is added up when it is asked for.
-- They say nothing that the rows of attempt and file do not say: without them reports are only slower, and `store
-- check` compares them.

-- Of the attempts number block * 4096 and up, all of them closed, those of one batch.
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
  -- By error code: how many, the newest of them, the first start, the last end.
  errors TEXT NOT NULL CHECK (errors LIKE '{%}'),
  -- Milliseconds of parts that succeeded and how many took so long; times in which one was in flight. Numbers of 7 bits
  -- a byte.
  latencies BLOB NOT NULL,
  active BLOB NOT NULL,
  -- Milliseconds in which requests made connections and waited for answers, and in which bodies went that do not count;
  -- bytes of those. By error code: how many attempts were repeated, and how long was waited before.
  connect_ms INTEGER NOT NULL,
  server_ms INTEGER NOT NULL,
  resent_ms INTEGER NOT NULL,
  bytes_unacked INTEGER NOT NULL,
  backoff TEXT NOT NULL CHECK (backoff LIKE '{%}'),
  UNIQUE (batch_id, block)
) STRICT;
CREATE INDEX attempt_sum_block ON attempt_sum (block);

-- Of the files number block * 4096 and up, the done ones of one batch.
CREATE TABLE file_sum (
  batch_id INTEGER NOT NULL REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED,
  block INTEGER NOT NULL CHECK (block >= 0),
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hidden_files INTEGER NOT NULL,
  hidden_bytes INTEGER NOT NULL,
  -- Those whose receipt proves nothing.
  unverified INTEGER NOT NULL,
  -- The three that took longest: pairs of milliseconds and number.
  slowest TEXT NOT NULL CHECK (slowest LIKE '[%]'),
  PRIMARY KEY (batch_id, block)
) STRICT, WITHOUT ROWID;
