-- The ledger: one row for every intention, and its result.
--
-- Times are integer milliseconds since 1970 UTC by the wall clock: for people; nothing is decided by comparing two
-- of them but not_before and abort_after with "now". Order is the order of ids. Names and keys are bytes (BLOB).
-- Unsigned 64-bit numbers of the kernel (inode, device) are stored with the same bits as signed ones.
-- CHECKs, unique indexes and the triggers of 0002 repeat the rules of the program, so that no other program can store
-- what must not be true.
-- Lists of three names and more are written out with OR, also in 0002: for `IN (…)` in a CHECK or a trigger, SQLite (3.40)
-- fills a temporary B-tree at every row that is written, which doubled the price of a file.
-- This file is never edited once it was released; a change is a new file.

CREATE TABLE store_meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uid BLOB NOT NULL CHECK (length(uid) = 16),
  schema_version INTEGER NOT NULL,
  view_version INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE error_code (
  code TEXT PRIMARY KEY,
  blame TEXT NOT NULL CHECK (blame = 'source' OR blame = 'local' OR blame = 'network' OR blame = 'server'
    OR blame = 'auth' OR blame = 'policy' OR blame = 'engine'),
  hint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE view_doc (
  view TEXT NOT NULL,
  "column" TEXT NOT NULL,
  type TEXT NOT NULL,
  unit TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (view, "column")
) STRICT, WITHOUT ROWID;

CREATE TABLE engine_run (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  argv TEXT NOT NULL CHECK (argv LIKE '[%]'),
  version TEXT NOT NULL,
  host TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  ended_at INTEGER,
  how TEXT,
  CHECK ((ended_at IS NULL) = (how IS NULL)),
  CHECK (ended_at >= started_at)
) STRICT;
-- One engine owns a ledger at a time.
CREATE UNIQUE INDEX engine_run_live ON engine_run (ended_at IS NULL) WHERE ended_at IS NULL;

-- A place that keys belong to, without secrets. Two batches for one place share the row, so that the same key in it is
-- the same remote object.
CREATE TABLE destination (
  id INTEGER PRIMARY KEY,
  place TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE batch (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT UNIQUE CHECK (name <> ''),
  destination_id INTEGER NOT NULL REFERENCES destination (id),
  protocol TEXT NOT NULL,
  destination TEXT NOT NULL,
  settings TEXT NOT NULL CHECK (settings LIKE '{%}'),
  labels TEXT NOT NULL CHECK (labels LIKE '{%}'),
  priority INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL CHECK (length(uid) = 16),
  batch_id INTEGER NOT NULL REFERENCES batch (id),
  destination_id INTEGER NOT NULL REFERENCES destination (id),
  generation INTEGER NOT NULL CHECK (generation >= 1),
  -- 1 for the generation that stands for its (destination, key) now, else NULL. A column of its own, so that the index
  -- of the natural key is not touched each time the state changes; and a done file stays done when it is replaced.
  live INTEGER CHECK (live = 1),
  path BLOB NOT NULL CHECK (length(path) > 0),
  key BLOB NOT NULL,
  size INTEGER CHECK (size >= 0),
  mtime_ns INTEGER,
  ctime_ns INTEGER,
  inode INTEGER,
  device INTEGER,
  mode INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state = 'settling' OR state = 'pending' OR state = 'active' OR state = 'finishing'
    OR state = 'done' OR state = 'paused' OR state = 'failed' OR state = 'cancelled' OR state = 'unknown'
    OR state = 'superseded'),
  cause TEXT REFERENCES error_code (code),
  message TEXT,
  priority INTEGER NOT NULL,
  not_before INTEGER,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  run_id INTEGER REFERENCES engine_run (id),
  chunk_size INTEGER CHECK (chunk_size >= 0),
  chunk_count INTEGER CHECK (chunk_count >= 1),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  CHECK ((state IN ('active', 'finishing')) = (run_id IS NOT NULL)),
  CHECK ((state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded') = (finished_at IS NOT NULL)),
  CHECK (live IS NOT NULL OR (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'superseded')),
  CHECK (live IS NULL OR (state <> 'failed' AND state <> 'cancelled' AND state <> 'superseded')),
  CHECK (not_before IS NULL OR state = 'pending'),
  CHECK ((chunk_size IS NULL) = (chunk_count IS NULL)),
  CHECK (chunk_count IS NOT NULL OR state NOT IN ('finishing', 'done')),
  CHECK (cause IS NOT NULL OR state NOT IN ('failed', 'unknown')),
  -- A source that could not even be looked at is recorded as failed, without an identity.
  CHECK (state = 'failed' OR (size IS NOT NULL AND mtime_ns IS NOT NULL AND ctime_ns IS NOT NULL AND inode IS NOT NULL
    AND device IS NOT NULL)),
  CHECK (finished_at >= started_at)
) STRICT;
CREATE UNIQUE INDEX file_live ON file (destination_id, key) WHERE live = 1;
CREATE UNIQUE INDEX file_past ON file (destination_id, key, generation) WHERE live IS NULL;
CREATE INDEX file_batch ON file (batch_id);
-- Ready and waiting are apart: rows in backoff in the ready index would be stepped over by every claim.
CREATE INDEX file_ready ON file (priority DESC, id) WHERE state = 'pending' AND not_before IS NULL;
CREATE INDEX file_waiting ON file (not_before) WHERE state = 'pending' AND not_before IS NOT NULL;
CREATE INDEX file_running ON file (run_id) WHERE state IN ('active', 'finishing');
CREATE INDEX file_trouble ON file (state) WHERE state IN ('failed', 'unknown');

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES file (id),
  run_id INTEGER NOT NULL REFERENCES engine_run (id),
  state TEXT NOT NULL CHECK (state = 'intended' OR state = 'open' OR state = 'completed' OR state = 'aborted'
    OR state = 'gone'),
  remote_id TEXT CHECK (remote_id <> ''),
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

CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES file (id),
  seq INTEGER NOT NULL CHECK (seq >= 0),
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length >= 0),
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'sending' OR state = 'done' OR state = 'waiting'
    OR state = 'failed' OR state = 'unknown'),
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  not_before INTEGER,
  etag TEXT,
  digest TEXT,
  md5 TEXT,
  confirmation TEXT CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  done_attempt INTEGER REFERENCES attempt (id),
  -- How often the server lost it after it had acknowledged it.
  losses INTEGER NOT NULL DEFAULT 0 CHECK (losses >= 0),
  UNIQUE (file_id, seq),
  CHECK ((state = 'waiting') = (not_before IS NOT NULL)),
  CHECK ((state = 'done') = (done_attempt IS NOT NULL)),
  CHECK ((state = 'done') = (confirmation IS NOT NULL)),
  CHECK ((state = 'done') = (etag IS NOT NULL)),
  CHECK (state = 'done' OR (digest IS NULL AND md5 IS NULL))
) STRICT;
CREATE INDEX chunk_pending ON chunk (file_id, seq) WHERE state = 'pending';
CREATE INDEX chunk_waiting ON chunk (not_before) WHERE state = 'waiting';

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL CHECK (length(uid) = 16),
  file_id INTEGER NOT NULL REFERENCES file (id),
  chunk_id INTEGER REFERENCES chunk (id),
  session_id INTEGER REFERENCES session (id),
  run_id INTEGER NOT NULL REFERENCES engine_run (id),
  operation TEXT NOT NULL CHECK (operation = 'create' OR operation = 'probe' OR operation = 'prepare'
    OR operation = 'part' OR operation = 'finish' OR operation = 'save' OR operation = 'verify' OR operation = 'abort'
    OR operation = 'get'),
  n INTEGER NOT NULL CHECK (n >= 1),
  is_repeatable INTEGER NOT NULL CHECK (is_repeatable IN (0, 1)),
  started_at INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome = 'open' OR outcome = 'ok' OR outcome = 'retry' OR outcome = 'fatal'
    OR outcome = 'unknown' OR outcome = 'interrupted' OR outcome = 'crashed'),
  ended_at INTEGER,
  error_code TEXT REFERENCES error_code (code),
  message TEXT,
  http_status INTEGER,
  curl_code INTEGER,
  errno INTEGER,
  bytes_sent INTEGER NOT NULL DEFAULT 0 CHECK (bytes_sent >= 0),
  bytes_acked INTEGER NOT NULL DEFAULT 0 CHECK (bytes_acked >= 0),
  dns_ms INTEGER,
  connect_ms INTEGER,
  tls_ms INTEGER,
  first_byte_ms INTEGER,
  total_ms INTEGER,
  remote_ip TEXT,
  http_version TEXT,
  request_id TEXT,
  retry_after_ms INTEGER,
  backoff_ms INTEGER,
  reply_excerpt BLOB CHECK (length(reply_excerpt) <= 4096),
  may_have_arrived INTEGER NOT NULL DEFAULT 0 CHECK (may_have_arrived IN (0, 1)),
  CHECK ((outcome = 'open') = (ended_at IS NULL)),
  CHECK (operation <> 'part' OR chunk_id IS NOT NULL),
  CHECK (operation = 'part' OR operation = 'prepare' OR operation = 'probe' OR chunk_id IS NULL),
  CHECK (ended_at >= started_at)
) STRICT;
CREATE UNIQUE INDEX attempt_file ON attempt (file_id, operation, chunk_id, n);
-- NULLs are distinct in a unique index, so the attempts without a chunk need their own.
CREATE UNIQUE INDEX attempt_control ON attempt (file_id, operation, n) WHERE chunk_id IS NULL;
-- At most one open attempt a chunk; and the list of what is in flight.
CREATE UNIQUE INDEX attempt_open ON attempt (file_id, chunk_id) WHERE outcome = 'open';

CREATE TABLE receipt (
  file_id INTEGER PRIMARY KEY REFERENCES file (id),
  confirmation TEXT NOT NULL CHECK (confirmation = 'digest' OR confirmation = 'etag' OR confirmation = 'size'
    OR confirmation = 'none'),
  digest TEXT,
  remote_digest TEXT,
  etag TEXT NOT NULL,
  version_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  server_date TEXT NOT NULL,
  location TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  verb TEXT NOT NULL CHECK (verb <> ''),
  batch_id INTEGER REFERENCES batch (id),
  file_id INTEGER REFERENCES file (id),
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX event_file ON event (file_id) WHERE file_id IS NOT NULL;
