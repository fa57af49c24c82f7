-- Generated from migrations/ by a test: what a ledger is made of.

CREATE TABLE absent_source (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  seen_at INTEGER NOT NULL
) STRICT;

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

CREATE TRIGGER removal_absent AFTER INSERT ON absent_source
BEGIN
  UPDATE removal SET waits_for = NULL
  WHERE inode = (SELECT inode FROM file WHERE id = NEW.file_id) AND state <> 'done' AND +waits_for = x'';
END;

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

CREATE UNIQUE INDEX attempt_control ON attempt (file_id, operation, n) WHERE chunk_id IS NULL;

CREATE INDEX attempt_failed ON attempt (error_code, id, file_id, started_at, ended_at) WHERE error_code IS NOT NULL;

CREATE UNIQUE INDEX attempt_file ON attempt (file_id, operation, chunk_id, n);

CREATE INDEX attempt_mirror ON attempt (file_id) WHERE mirror IS NOT NULL;

CREATE UNIQUE INDEX attempt_open ON attempt (file_id, chunk_id) WHERE outcome = 'open';

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

CREATE TRIGGER attempt_excerpt BEFORE UPDATE OF reply_excerpt ON attempt WHEN length(NEW.reply_excerpt) > 4096
BEGIN SELECT RAISE(FAIL, 'at most 4096 bytes of an answer are kept'); END;

CREATE TRIGGER attempt_fixed BEFORE UPDATE OF id, uid, file_id, chunk_id, session_id, run_id, operation, n,
  is_repeatable, started_at ON attempt
BEGIN SELECT RAISE(FAIL, 'the identity of an attempt does not change'); END;

CREATE TRIGGER attempt_once BEFORE INSERT ON attempt
WHEN NEW.chunk_id IS NOT NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id = NEW.chunk_id AND n = NEW.n)
  OR NEW.chunk_id IS NULL AND EXISTS (SELECT 1 FROM attempt
    WHERE file_id = NEW.file_id AND operation = NEW.operation AND chunk_id IS NULL AND n = NEW.n)
BEGIN SELECT RAISE(FAIL, 'the number of an attempt is unique'); END;

CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'attempt' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

CREATE TRIGGER attempt_sum_late AFTER UPDATE OF bytes_transferred, bytes_acked ON attempt
WHEN OLD.outcome <> 'open'
  AND (NEW.bytes_transferred <> OLD.bytes_transferred OR NEW.bytes_acked <> OLD.bytes_acked)
BEGIN DELETE FROM attempt_sum WHERE block = OLD.id >> 12; END;

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

CREATE TRIGGER attempt_sum_fixed BEFORE UPDATE ON attempt_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;

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

CREATE INDEX batch_hidden ON batch (id) WHERE hidden = 1;

CREATE INDEX batch_job ON batch (job, id) WHERE job IS NOT NULL;

CREATE INDEX batch_limits ON batch (id)
  WHERE rate IS NOT NULL OR workers IS NOT NULL OR deadline_at IS NOT NULL;

CREATE UNIQUE INDEX batch_name ON batch (name) WHERE origin_id IS NULL;

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

CREATE TRIGGER removal_kept AFTER UPDATE OF after ON batch WHEN NEW.after IS NOT OLD.after
BEGIN UPDATE removal SET waits_for = NULL WHERE waits_for = x''; END;

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

CREATE TRIGGER callback_birth BEFORE INSERT ON callback WHEN EXISTS (SELECT 1 FROM callback WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM callback
    WHERE batch_id = NEW.batch_id AND event = NEW.event AND kind = NEW.kind AND target = NEW.target)
  OR EXISTS (SELECT 1 FROM callback
    WHERE job = NEW.job AND event = NEW.event AND kind = NEW.kind AND target = NEW.target AND secret = NEW.secret)
BEGIN SELECT RAISE(FAIL, 'a receiver is recorded once'); END;

CREATE TRIGGER callback_fixed BEFORE UPDATE ON callback
BEGIN SELECT RAISE(FAIL, 'a receiver does not change'); END;

CREATE TRIGGER callback_stays BEFORE DELETE ON callback BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE callback_loss (
  callback_id INTEGER PRIMARY KEY REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED,
  callbacks INTEGER NOT NULL CHECK (callbacks >= 1),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL CHECK (last_at >= first_at)
) STRICT;

CREATE TRIGGER callback_loss_birth BEFORE INSERT ON callback_loss
WHEN EXISTS (SELECT 1 FROM callback_loss WHERE callback_id = NEW.callback_id)
BEGIN SELECT RAISE(FAIL, 'a receiver has one count of lost callbacks'); END;

CREATE TRIGGER callback_loss_grows BEFORE UPDATE ON callback_loss
WHEN NEW.callback_id <> OLD.callback_id OR NEW.callbacks <= OLD.callbacks OR NEW.first_at > OLD.first_at
  OR NEW.last_at < OLD.last_at
BEGIN SELECT RAISE(FAIL, 'the count of lost callbacks only grows'); END;

CREATE TRIGGER callback_loss_stays BEFORE DELETE ON callback_loss
BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE INDEX chunk_reused ON chunk (file_id, reused) WHERE reused IS NOT NULL;

CREATE INDEX chunk_upload ON chunk (remote) WHERE remote > '{"url":"http';

CREATE INDEX chunk_waiting ON chunk (not_before) WHERE state = 'waiting';

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

CREATE TRIGGER chunk_fixed BEFORE UPDATE OF id, file_id, seq, offset, length ON chunk
WHEN NEW.id <> OLD.id OR NEW.file_id <> OLD.file_id OR NEW.seq <> OLD.seq OR OLD.state <> 'pending'
  OR NOT EXISTS (
    SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'active' AND first_chunk_size IS NOT NULL
      AND (OLD.acked = 0 OR is_download = 1 AND OLD.acked < NEW.length)
      AND NEW.offset = NEW.seq * chunk_size
      AND NEW.length = iif(NEW.seq = chunk_count - 1, size - NEW.offset, chunk_size))
BEGIN SELECT RAISE(FAIL, 'a chunk keeps its range, or gets the one of a finer layout'); END;

CREATE TRIGGER chunk_history BEFORE UPDATE OF etag, digest, md5, confirmation, done_attempt, acked, failures, not_before,
  uncertain, losses ON chunk
WHEN OLD.state = 'done' AND NEW.state = 'done'
BEGIN SELECT RAISE(FAIL, 'the confirmation of a chunk does not change'); END;

CREATE TRIGGER chunk_number BEFORE UPDATE ON chunk WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'the number of a chunk does not change'); END;

CREATE TRIGGER chunk_remote BEFORE UPDATE OF remote ON chunk WHEN NEW.remote NOT LIKE '{%}'
BEGIN SELECT RAISE(FAIL, 'remote state of a chunk is a JSON object'); END;

CREATE TRIGGER chunk_reuse BEFORE UPDATE OF reused ON chunk
WHEN NEW.reused IS NOT NULL AND (OLD.state <> 'pending' AND OLD.state <> 'in_flight' OR NEW.state <> 'done'
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND is_download = 1))
BEGIN SELECT RAISE(FAIL, 'only a chunk of a download is reused, when it becomes done'); END;

CREATE TRIGGER chunk_stays BEFORE DELETE ON chunk
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'chunk' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

CREATE TABLE content (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  digest TEXT NOT NULL CHECK (digest > 'sha256:' AND digest < 'sha256;'),
  -- The file that delivered this content; NULL if this file was sent.
  same_as INTEGER REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX content_same ON content (same_as) WHERE same_as IS NOT NULL;

CREATE INDEX content_sent ON content (digest) WHERE same_as IS NULL;

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

CREATE TRIGGER delivery_arrow BEFORE UPDATE ON delivery
WHEN OLD.outcome <> 'open' OR NEW.outcome = 'open' OR NEW.outbox_id <> OLD.outbox_id OR NEW.n <> OLD.n
  OR NEW.started_at <> OLD.started_at
BEGIN SELECT RAISE(FAIL, 'a delivery ends once'); END;

CREATE TRIGGER delivery_birth BEFORE INSERT ON delivery
WHEN NEW.outcome <> 'open' OR NEW.n <> 1 + (SELECT count(*) FROM delivery WHERE outbox_id = NEW.outbox_id)
  OR NOT EXISTS (SELECT 1 FROM outbox WHERE id = NEW.outbox_id AND state = 'delivering')
  OR EXISTS (SELECT 1 FROM delivery WHERE outbox_id = NEW.outbox_id AND outcome = 'open')
BEGIN SELECT RAISE(FAIL, 'one delivery of a callback at a time, in order'); END;

CREATE TRIGGER delivery_stays BEFORE DELETE ON delivery
WHEN EXISTS (SELECT 1 FROM outbox WHERE id = OLD.outbox_id AND ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'deliveries cannot be deleted before their callback has ended'); END;

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

CREATE UNIQUE INDEX destination_merged ON destination (origin_id, place) WHERE origin_id IS NOT NULL;

CREATE UNIQUE INDEX destination_place ON destination (place) WHERE origin_id IS NULL;

CREATE INDEX destination_site ON destination (site) WHERE site IS NOT NULL;

CREATE TRIGGER destination_birth BEFORE INSERT ON destination
WHEN EXISTS (SELECT 1 FROM destination WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM destination
    WHERE place = NEW.place AND origin_id IS NULL AND NEW.origin_id IS NULL)
  OR EXISTS (SELECT 1 FROM destination WHERE origin_id = NEW.origin_id AND place = NEW.place)
BEGIN SELECT RAISE(FAIL, 'a destination is recorded once'); END;

CREATE TRIGGER destination_fixed BEFORE UPDATE ON destination
BEGIN SELECT RAISE(FAIL, 'a destination does not change'); END;

CREATE TRIGGER destination_stays BEFORE DELETE ON destination BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE doubt (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  -- The newest event when the doubt began: a later one may end it.
  after_event INTEGER NOT NULL,
  -- The file is unknown because of it, or a person has it retried: it is no reason any more not to send the file.
  is_decided INTEGER CHECK (is_decided = 1)
) STRICT;

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

CREATE INDEX engine_run_ended ON engine_run (ended_at, first_attempt) WHERE ended_at IS NOT NULL;

CREATE UNIQUE INDEX engine_run_live ON engine_run (ended_at IS NULL) WHERE ended_at IS NULL AND origin_id IS NULL;

CREATE TRIGGER engine_run_birth BEFORE INSERT ON engine_run
WHEN (NEW.ended_at IS NOT NULL) <> (NEW.origin_id IS NOT NULL) OR EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM engine_run WHERE uid = NEW.uid)
  OR NEW.origin_id IS NULL AND EXISTS (SELECT 1 FROM engine_run WHERE ended_at IS NULL AND origin_id IS NULL)
BEGIN SELECT RAISE(FAIL, 'a run begins open, while no other run is open; a merged run has ended'); END;

CREATE TRIGGER engine_run_closed BEFORE UPDATE ON engine_run WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(FAIL, 'an ended run does not change'); END;

CREATE TRIGGER engine_run_fixed BEFORE UPDATE ON engine_run
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.argv <> OLD.argv OR NEW.version <> OLD.version OR NEW.host <> OLD.host
  OR NEW.boot_id <> OLD.boot_id OR NEW.pid <> OLD.pid OR NEW.started_at <> OLD.started_at OR NEW.origin_id IS NOT OLD.origin_id
BEGIN SELECT RAISE(FAIL, 'the identity of a run does not change'); END;

CREATE TRIGGER engine_run_stays BEFORE DELETE ON engine_run BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE error_code (
  code TEXT PRIMARY KEY,
  category TEXT NOT NULL CHECK (category = 'source' OR category = 'local' OR category = 'network' OR category = 'server'
    OR category = 'auth' OR category = 'policy' OR category = 'engine'),
  hint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER error_code_birth BEFORE INSERT ON error_code WHEN EXISTS (SELECT 1 FROM error_code WHERE code = NEW.code)
BEGIN SELECT RAISE(FAIL, 'this code exists already'); END;

CREATE TRIGGER error_code_fixed BEFORE UPDATE ON error_code BEGIN SELECT RAISE(FAIL, 'an error code does not change'); END;

CREATE TRIGGER error_code_stays BEFORE DELETE ON error_code BEGIN SELECT RAISE(FAIL, 'error codes stay'); END;

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

CREATE INDEX event_batch ON event (batch_id) WHERE batch_id IS NOT NULL;

CREATE INDEX event_decided ON event (id)
  WHERE verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved');

CREATE UNIQUE INDEX event_merged ON event (origin_id, origin_event) WHERE origin_id IS NOT NULL;

CREATE INDEX event_part ON event (part_of) WHERE part_of IS NOT NULL;

CREATE INDEX event_slept ON event (at) WHERE verb = 'slept';

CREATE TRIGGER event_birth BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
  OR NEW.part_of IS NOT NULL AND NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.part_of AND part_of IS NULL
    AND verb = NEW.verb AND batch_id IS NEW.batch_id AND detail = NEW.detail)
BEGIN SELECT RAISE(FAIL, 'an event is recorded once, and continues a first event with the same verb, batch and detail'); END;

CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(FAIL, 'an event does not change'); END;

CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE event_range (
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  first_file INTEGER NOT NULL CHECK (first_file >= 1),
  last_file INTEGER NOT NULL CHECK (last_file >= first_file AND last_file < first_file + 4096),
  PRIMARY KEY (event_id, first_file)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_range_file ON event_range (first_file, last_file);

CREATE TRIGGER event_range_birth BEFORE INSERT ON event_range
WHEN NEW.event_id IS NOT (SELECT max(id) FROM event)
  OR NEW.first_file <= (SELECT last_file FROM event_range WHERE event_id = NEW.event_id ORDER BY first_file DESC LIMIT 1)
  OR (SELECT batch_id FROM file WHERE id = NEW.first_file) IS NOT (SELECT batch_id FROM event WHERE id = NEW.event_id)
  OR (SELECT batch_id FROM file WHERE id = NEW.last_file) IS NOT (SELECT batch_id FROM event WHERE id = NEW.event_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.first_file)
BEGIN SELECT RAISE(FAIL, 'only the newest event gets files, of its batch and in order'); END;

CREATE TRIGGER event_range_fixed BEFORE UPDATE ON event_range BEGIN SELECT RAISE(FAIL, 'an event does not change'); END;

CREATE TRIGGER event_range_stays BEFORE DELETE ON event_range BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE INDEX file_backing_off ON file (batch_id) WHERE state = 'pending' AND not_before IS NOT NULL;

CREATE INDEX file_batch ON file (batch_id);

CREATE INDEX file_done ON file (batch_id, id, size, hidden, state) WHERE state = 'done';

CREATE INDEX file_failed ON file (path) WHERE state = 'failed' AND is_download IS NULL;

CREATE UNIQUE INDEX file_folded ON file (folded, id / 1000000000000) WHERE folded IS NOT NULL AND live = 1;

CREATE INDEX file_hidden ON file (batch_id) WHERE hidden IS NOT NULL;

CREATE INDEX file_in_doubt ON file (destination_id, key, generation) WHERE may_have_arrived = 1;

CREATE INDEX file_kept ON file (path, id) WHERE is_download = 1 AND state = 'done';

CREATE UNIQUE INDEX file_live ON file (destination_id, key) WHERE live = 1;

CREATE INDEX file_needed ON file (path) WHERE finished_at IS NULL AND is_download IS NULL;

CREATE INDEX file_partial ON file (batch_id, state) WHERE holds IS NOT NULL AND run_id IS NULL AND state <> 'done';

CREATE UNIQUE INDEX file_past ON file (destination_id, key, generation) WHERE live IS NULL;

CREATE INDEX file_ready ON file (priority DESC) WHERE state = 'pending' AND not_before IS NULL;

CREATE INDEX file_ready_batch ON file (batch_id, priority DESC, id, size, state, not_before)
  WHERE state = 'pending' AND not_before IS NULL;

CREATE INDEX file_requested_action ON file (requested_action, run_id) WHERE requested_action IS NOT NULL AND run_id IS NOT NULL;

CREATE INDEX file_rest ON file (state, batch_id, cause, size, finished_at, hidden)
  WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing';

CREATE INDEX file_running ON file (run_id) WHERE state IN ('active', 'finishing');

CREATE INDEX file_sent ON file (inode) WHERE is_download IS NULL AND state = 'done';

CREATE INDEX file_settling ON file (batch_id) WHERE state = 'settling';

CREATE INDEX file_source ON file (inode) WHERE is_download IS NULL AND state <> 'done';

CREATE INDEX file_staged ON file (staged) WHERE staged IS NOT NULL;

CREATE INDEX file_uid ON file (uid);

CREATE INDEX file_waiting ON file (not_before, batch_id, size, state) WHERE state = 'pending' AND not_before IS NOT NULL;

CREATE UNIQUE INDEX file_written ON file (path, id / 1000000000000) WHERE live = 1 AND is_download = 1;

CREATE TRIGGER absent_source_again AFTER UPDATE OF state ON file
WHEN (OLD.state = 'failed' OR OLD.state = 'cancelled' OR OLD.state = 'superseded')
  AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'superseded'
BEGIN DELETE FROM absent_source WHERE file_id = NEW.id; END;

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

CREATE TRIGGER file_evidence BEFORE UPDATE OF state ON file
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND NOT EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id AND n = 1)
BEGIN SELECT RAISE(FAIL, 'a done file has a receipt'); END;

CREATE TRIGGER file_finish BEFORE UPDATE OF state ON file
WHEN NEW.state IN ('finishing', 'done') AND OLD.state NOT IN ('finishing', 'done')
  AND (SELECT count(*) FROM chunk WHERE file_id = NEW.id AND state = 'done') IS NOT NEW.chunk_count
  AND NOT ((OLD.state = 'unknown' OR OLD.state = 'cancelled') AND EXISTS (SELECT 1 FROM receipt WHERE file_id = NEW.id AND n = 1 AND note IS NOT NULL))
BEGIN SELECT RAISE(FAIL, 'a file can finish only when all its chunks are done'); END;

CREATE TRIGGER file_fixed BEFORE UPDATE OF id, uid, batch_id, destination_id, generation, key, is_download, expected,
  properties, mode, root, created_at ON file
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;

CREATE TRIGGER file_history BEFORE UPDATE OF started_at, finished_at, cause, message, holds, priority, failures, folded
  ON file WHEN OLD.state = 'done'
BEGIN SELECT RAISE(FAIL, 'the history of a done file does not change'); END;

CREATE TRIGGER file_holds AFTER UPDATE OF state ON file
WHEN NEW.run_id IS NULL AND NEW.state <> 'done' AND OLD.run_id IS NOT NULL AND NEW.holds IS NULL AND NEW.chunk_count IS NOT NULL
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state = 'done' OR acked > 0))
BEGIN UPDATE file SET holds = 1 WHERE id = NEW.id; END;

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

CREATE TRIGGER file_learned BEFORE UPDATE OF size, inode, device, boot ON file
WHEN (OLD.is_download IS NOT NULL OR OLD.state <> 'settling' OR NEW.state <> 'settling'
    OR NOT EXISTS (SELECT 1 FROM look WHERE file_id = OLD.id)) AND (
  OLD.is_download IS NULL OR OLD.state <> 'active' OR OLD.size IS NOT NULL AND NEW.size IS NOT OLD.size
  OR (NEW.inode IS NOT OLD.inode OR NEW.device IS NOT OLD.device OR NEW.boot IS NOT OLD.boot)
    AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.id AND (state = 'done' OR acked > 0)))
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;

CREATE TRIGGER file_named BEFORE UPDATE OF path ON file WHEN OLD.is_download IS NULL OR OLD.state <> 'finishing'
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;

CREATE TRIGGER file_number BEFORE UPDATE ON file WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(FAIL, 'the number of a file does not change'); END;

CREATE TRIGGER file_partial_of BEFORE UPDATE OF partial_of ON file
WHEN OLD.state <> 'active' OR NEW.partial_of IS NOT (SELECT uid FROM store_meta WHERE copied_at IS NOT NULL)
  OR NOT EXISTS (SELECT 1 FROM doubt WHERE file_id = OLD.id)
  OR EXISTS (SELECT 1 FROM chunk WHERE file_id = OLD.id AND (state = 'done' OR acked > 0))
BEGIN SELECT RAISE(FAIL, 'only a file in doubt gets a partial file of this copy'); END;

CREATE TRIGGER file_placed BEFORE UPDATE OF mtime_ns, ctime_ns ON file WHEN (OLD.is_download IS NULL OR OLD.state <> 'finishing')
  AND (OLD.is_download IS NOT NULL OR OLD.state <> 'settling' OR NEW.state <> 'settling'
    OR NOT EXISTS (SELECT 1 FROM look WHERE file_id = OLD.id))
BEGIN SELECT RAISE(FAIL, 'the identity of a file does not change; a new version is a new generation'); END;

CREATE TRIGGER file_removal AFTER UPDATE OF state ON file
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND NEW.is_download IS NULL
  AND EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND after IS NOT NULL)
BEGIN INSERT INTO removal (file_id, inode, recorded_at) VALUES (NEW.id, NEW.inode, NEW.finished_at); END;

CREATE TRIGGER file_rest BEFORE UPDATE OF state ON file
WHEN OLD.state IN ('active', 'finishing') AND NEW.state NOT IN ('active', 'finishing')
  AND EXISTS (SELECT 1 FROM attempt WHERE file_id = NEW.id AND outcome = 'open' AND operation <> 'abort')
BEGIN SELECT RAISE(FAIL, 'a file with an open attempt cannot come to rest'); END;

CREATE TRIGGER file_revival BEFORE UPDATE OF live ON file
WHEN NEW.live = 1 AND OLD.live IS NULL AND EXISTS (SELECT 1 FROM file
  WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1)
BEGIN SELECT RAISE(FAIL, 'only one generation is live at a time'); END;

CREATE TRIGGER file_settled AFTER UPDATE OF state ON file WHEN OLD.state = 'settling' AND NEW.state <> 'settling'
BEGIN DELETE FROM look WHERE file_id = NEW.id; END;

CREATE TRIGGER file_staged BEFORE UPDATE OF staged ON file WHEN NEW.staged LIKE '%/%'
BEGIN SELECT RAISE(FAIL, 'the name of a staged copy contains no slash'); END;

CREATE TRIGGER file_stays BEFORE DELETE ON file
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.id ORDER BY first_id DESC LIMIT 1) >= OLD.id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

CREATE TRIGGER file_sum_hidden AFTER UPDATE OF hidden ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;

CREATE TRIGGER file_sum_late AFTER UPDATE OF state ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;

CREATE TRIGGER file_uncertain BEFORE UPDATE OF may_have_arrived ON file
WHEN NEW.may_have_arrived IS NOT OLD.may_have_arrived
  AND ((NEW.state = 'unknown' OR OLD.state = 'unknown' AND NEW.state = 'cancelled') AND NEW.may_have_arrived = 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'only a file that was unknown may have arrived'); END;

CREATE TRIGGER removal_given_up AFTER UPDATE OF hidden, cause ON file
WHEN NEW.is_download IS NULL AND (NEW.hidden IS NOT OLD.hidden OR NEW.cause IS 'source.missing' AND NEW.cause IS NOT OLD.cause)
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;

CREATE TRIGGER removal_pruned AFTER DELETE ON file WHEN OLD.is_download IS NULL
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = OLD.inode AND state <> 'done' AND +waits_for = x''; END;

CREATE TRIGGER segment_alone BEFORE INSERT ON file
WHEN NEW.generation > 1 AND EXISTS (SELECT 1 FROM file f CROSS JOIN segment g ON g.file_id = f.id
  WHERE f.destination_id = NEW.destination_id AND f.key = NEW.key AND f.live IS NULL)
BEGIN SELECT RAISE(FAIL, 'a segment of a growing file has no other generation'); END;

CREATE TRIGGER segment_copied BEFORE UPDATE OF state ON file
WHEN NEW.state = 'pending' AND OLD.state <> 'pending' AND NEW.staged IS NULL
  AND EXISTS (SELECT 1 FROM segment WHERE file_id = NEW.id)
BEGIN SELECT RAISE(FAIL, 'a segment of a growing file is sent from its staged copy only'); END;

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

CREATE TRIGGER file_sum_fixed BEFORE UPDATE ON file_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;

CREATE TABLE host_state (
  -- Scheme, name and port.
  host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 300),
  requests_at_once INTEGER NOT NULL CHECK (requests_at_once BETWEEN 1 AND 256),
  -- The run that wrote it last, and when.
  run_id INTEGER NOT NULL REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED,
  noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER host_state_birth BEFORE INSERT ON host_state
WHEN NOT EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL)
  OR EXISTS (SELECT 1 FROM host_state WHERE host = NEW.host)
BEGIN SELECT RAISE(FAIL, 'the state of a host is written once, by a run that has not ended'); END;

CREATE TRIGGER host_state_change BEFORE UPDATE ON host_state
WHEN NEW.host <> OLD.host OR NOT EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'the state of a host is written by a run that has not ended'); END;

CREATE TRIGGER host_state_stays BEFORE DELETE ON host_state BEGIN SELECT RAISE(FAIL, 'the state of a host stays'); END;

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

CREATE TRIGGER removal_unlisted AFTER DELETE ON job_destination
BEGIN UPDATE removal SET waits_for = NULL WHERE waits_for = x''; END;

CREATE TABLE job_quota (
  job TEXT NOT NULL PRIMARY KEY CHECK (length(job) BETWEEN 1 AND 64),
  bytes INTEGER NOT NULL CHECK (bytes >= 1),
  period TEXT NOT NULL CHECK (period = 'day' OR period = 'week' OR period = 'month'),
  -- When an engine last held back a file because of it.
  reached_at INTEGER,
  -- The newest event when it was set: only a later one permits a change.
  after_event INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TRIGGER job_state_birth BEFORE INSERT ON job_state
WHEN EXISTS (SELECT 1 FROM job_state WHERE job = NEW.job)
BEGIN SELECT RAISE(FAIL, 'a job has one state'); END;

CREATE TRIGGER job_state_failures BEFORE UPDATE ON job_state WHEN NEW.failed_runs < OLD.failed_runs
BEGIN SELECT RAISE(FAIL, 'the count of failed runs does not decrease'); END;

CREATE TRIGGER job_state_stays BEFORE DELETE ON job_state BEGIN SELECT RAISE(FAIL, 'the state of a job stays'); END;

CREATE TRIGGER job_state_success BEFORE UPDATE ON job_state
WHEN NEW.job <> OLD.job OR NEW.result <> 'ok' AND NEW.succeeded_at IS NOT OLD.succeeded_at
  AND NOT (NEW.result = 'work_left' AND NEW.succeeded_at IS NEW.ended_at)
BEGIN SELECT RAISE(FAIL, 'the last success of a job stays until the next'); END;

CREATE TABLE listed_file (
  listing_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  file_id INTEGER NOT NULL REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (listing_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listed_file_named ON listed_file (file_id);

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

CREATE TRIGGER log_group_birth BEFORE INSERT ON log_group
WHEN NEW.first_leaf <> coalesce((SELECT first_leaf + leaves FROM log_group
    WHERE first_leaf < 1000000000000 ORDER BY first_leaf DESC LIMIT 1), 0)
BEGIN SELECT RAISE(FAIL, 'leaves are only appended'); END;

CREATE TRIGGER log_group_fixed BEFORE UPDATE ON log_group BEGIN SELECT RAISE(FAIL, 'a leaf does not change'); END;

CREATE TRIGGER log_group_stays BEFORE DELETE ON log_group BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE TRIGGER look_birth BEFORE INSERT ON look
WHEN EXISTS (SELECT 1 FROM look WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND state = 'settling' AND is_download IS NULL)
BEGIN SELECT RAISE(FAIL, 'a settling source has one look'); END;

CREATE TRIGGER look_fixed BEFORE UPDATE ON look WHEN NEW.file_id <> OLD.file_id
BEGIN SELECT RAISE(FAIL, 'the file of a look does not change'); END;

CREATE TRIGGER look_stays BEFORE DELETE ON look
WHEN EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id AND state = 'settling' AND cause = 'source.settling')
BEGIN SELECT RAISE(FAIL, 'the look at a source ends when its file stops settling'); END;

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

CREATE TRIGGER origin_store_birth BEFORE INSERT ON origin_store
WHEN EXISTS (SELECT 1 FROM origin_store WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM origin_store WHERE uid = NEW.uid)
  OR EXISTS (SELECT 1 FROM store_meta WHERE uid = NEW.uid)
BEGIN SELECT RAISE(FAIL, 'another ledger is recorded once'); END;

CREATE TRIGGER origin_store_fixed BEFORE UPDATE ON origin_store WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid
BEGIN SELECT RAISE(FAIL, 'the uid of another ledger does not change'); END;

CREATE TRIGGER origin_store_stays BEFORE DELETE ON origin_store BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE INDEX outbox_batch_ended ON outbox (ended_at) WHERE file_id IS NULL AND uid IS NULL AND ended_at IS NOT NULL;

CREATE INDEX outbox_delivering ON outbox (id) WHERE state = 'delivering';

CREATE INDEX outbox_due ON outbox (callback_id, not_before, id) WHERE state = 'waiting';

CREATE INDEX outbox_file ON outbox (file_id) WHERE file_id IS NOT NULL;

CREATE INDEX outbox_given_up ON outbox (id) WHERE state = 'gave_up';

CREATE INDEX outbox_of ON outbox (callback_id, id);

CREATE INDEX outbox_open ON outbox (callback_id, file_id, id) WHERE state = 'waiting' OR state = 'delivering';

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

CREATE TRIGGER outbox_birth BEFORE INSERT ON outbox
WHEN NEW.state <> 'waiting' OR NEW.failures <> 0 OR EXISTS (SELECT 1 FROM outbox WHERE id = NEW.id)
  OR NOT EXISTS (SELECT 1 FROM callback c LEFT JOIN file f ON f.id = NEW.file_id WHERE c.id = NEW.callback_id
    AND CASE WHEN c.event = 'batch_done' OR c.event = 'batch_failed' THEN NEW.file_id IS NULL AND NEW.uid IS NULL
      ELSE c.batch_id IS f.batch_id AND (f.id IS NULL OR f.state = c.event) AND (f.id IS NULL) = (NEW.file_id IS NULL)
        AND (NEW.file_id IS NULL) = (NEW.uid IS NOT NULL) END)
BEGIN SELECT RAISE(FAIL, 'a callback begins waiting, for a receiver of its batch or job, and reports the current state'); END;

CREATE TRIGGER outbox_delivered BEFORE UPDATE OF state ON outbox
WHEN NEW.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM delivery WHERE outbox_id = NEW.id AND outcome = 'ok')
BEGIN SELECT RAISE(FAIL, 'a delivered callback has a successful delivery'); END;

CREATE TRIGGER outbox_fixed BEFORE UPDATE ON outbox
WHEN NEW.id <> OLD.id OR NEW.callback_id <> OLD.callback_id OR NEW.file_id IS NOT OLD.file_id
  OR NEW.uid IS NOT OLD.uid OR NEW.body IS NOT OLD.body OR NEW.recorded_at IS NOT OLD.recorded_at
  OR NEW.result IS NOT OLD.result OR NEW.failed_runs IS NOT OLD.failed_runs
  OR OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT NULL
BEGIN SELECT RAISE(FAIL, 'the content of a callback does not change'); END;

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

CREATE TRIGGER outbox_stays BEFORE DELETE ON outbox WHEN OLD.ended_at IS NULL
BEGIN SELECT RAISE(FAIL, 'a callback cannot be deleted before it has ended'); END;

CREATE TABLE prune (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id INTEGER NOT NULL REFERENCES event (id) DEFERRABLE INITIALLY DEFERRED,
  at INTEGER NOT NULL,
  -- Files that came to rest at this time or later are not pruned.
  before_at INTEGER NOT NULL,
  CHECK (before_at <= at)
) STRICT;

CREATE TRIGGER prune_birth BEFORE INSERT ON prune
WHEN EXISTS (SELECT 1 FROM prune WHERE id = NEW.id)
  OR NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.event_id AND verb = 'pruned' AND at = NEW.at)
BEGIN SELECT RAISE(FAIL, 'a prune is recorded once, with its event'); END;

CREATE TRIGGER prune_fixed BEFORE UPDATE ON prune BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;

CREATE TRIGGER prune_stays BEFORE DELETE ON prune BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE pruned_file (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  bytes_transferred INTEGER NOT NULL CHECK (bytes_transferred >= 0),
  -- What crashed attempts may have transferred beyond that.
  bytes_untold INTEGER NOT NULL CHECK (bytes_untold >= 0),
  -- Bytes of its deleted chunks that were not fetched.
  bytes_reused INTEGER NOT NULL CHECK (bytes_reused >= 0)
) STRICT;

CREATE TRIGGER pruned_file_birth BEFORE INSERT ON pruned_file
WHEN EXISTS (SELECT 1 FROM pruned_file WHERE file_id = NEW.file_id)
  OR (SELECT last_id >= NEW.file_id AND prune_id = (SELECT max(id) FROM prune) FROM pruned_range
    WHERE kind = 'history' AND first_id <= NEW.file_id ORDER BY first_id DESC LIMIT 1) IS NOT 1
BEGIN SELECT RAISE(FAIL, 'only the newest prune records the sums of its files, once each'); END;

CREATE TRIGGER pruned_file_fixed BEFORE UPDATE ON pruned_file BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;

CREATE TRIGGER pruned_file_stays BEFORE DELETE ON pruned_file BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE pruned_range (
  kind TEXT NOT NULL CHECK (kind = 'file' OR kind = 'history' OR kind = 'chunk' OR kind = 'session' OR kind = 'attempt'),
  first_id INTEGER NOT NULL CHECK (first_id >= 1),
  last_id INTEGER NOT NULL CHECK (last_id >= first_id),
  prune_id INTEGER NOT NULL REFERENCES prune (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (kind, first_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pruned_range_of ON pruned_range (prune_id, kind, first_id);

CREATE TRIGGER pruned_range_attempts BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'attempt' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM attempt a WHERE a.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= a.file_id ORDER BY first_id DESC LIMIT 1) >= a.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= a.file_id ORDER BY first_id DESC LIMIT 1) >= a.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;

CREATE TRIGGER pruned_range_birth BEFORE INSERT ON pruned_range
WHEN NEW.prune_id IS NOT (SELECT max(id) FROM prune)
  OR (SELECT last_id FROM pruned_range WHERE kind = NEW.kind AND first_id <= NEW.last_id ORDER BY first_id DESC LIMIT 1)
    >= NEW.first_id
BEGIN SELECT RAISE(FAIL, 'only the newest prune records what it deletes, each row once'); END;

CREATE TRIGGER pruned_range_chunks BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'chunk' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM chunk c WHERE c.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= c.file_id ORDER BY first_id DESC LIMIT 1) >= c.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= c.file_id ORDER BY first_id DESC LIMIT 1) >= c.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;

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

CREATE TRIGGER pruned_range_fixed BEFORE UPDATE ON pruned_range BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;

CREATE TRIGGER pruned_range_sessions BEFORE INSERT ON pruned_range
WHEN NEW.kind = 'session' AND NEW.last_id - NEW.first_id + 1 IS NOT (
  SELECT count(*) FROM session s WHERE s.id BETWEEN NEW.first_id AND NEW.last_id AND (
    (SELECT last_id FROM pruned_range WHERE kind = 'history' AND first_id <= s.file_id ORDER BY first_id DESC LIMIT 1) >= s.file_id
    OR (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= s.file_id ORDER BY first_id DESC LIMIT 1) >= s.file_id))
BEGIN SELECT RAISE(FAIL, 'a prune deletes rows of the files that it names'); END;

CREATE TRIGGER pruned_range_stays BEFORE DELETE ON pruned_range BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE TRIGGER pruned_sum_birth BEFORE INSERT ON pruned_sum
WHEN NEW.prune_id IS NOT (SELECT max(id) FROM prune) OR EXISTS (SELECT 1 FROM pruned_sum WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM pruned_sum WHERE prune_id = NEW.prune_id AND batch_id = NEW.batch_id AND run_id = NEW.run_id
    AND quarter = NEW.quarter)
BEGIN SELECT RAISE(FAIL, 'only the newest prune records the sums of its attempts, once each'); END;

CREATE TRIGGER pruned_sum_fixed BEFORE UPDATE ON pruned_sum BEGIN SELECT RAISE(FAIL, 'a prune does not change'); END;

CREATE TRIGGER pruned_sum_stays BEFORE DELETE ON pruned_sum BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE INDEX receipt_content ON receipt (digest) WHERE digest >= 'sha2' AND digest < 'sha6' AND finding IS NULL;

CREATE INDEX receipt_contradiction ON receipt (file_id) WHERE finding IN ('lost', 'differs', 'changed', 'missing');

CREATE INDEX receipt_sha256 ON receipt (sha256) WHERE sha256 IS NOT NULL AND finding IS NULL;

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

CREATE INDEX removal_due ON removal (file_id) WHERE state = 'pending' AND waits_for IS NULL;

CREATE INDEX removal_kept ON removal (file_id) WHERE state = 'skipped' OR state = 'failed';

CREATE INDEX removal_pending ON removal (file_id) WHERE state = 'pending';

CREATE INDEX removal_source ON removal (inode) WHERE state <> 'done';

CREATE INDEX removal_wait ON removal (waits_for, file_id, due_at) WHERE waits_for IS NOT NULL;

CREATE TRIGGER removal_another AFTER INSERT ON removal
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;

CREATE TRIGGER removal_arrow BEFORE UPDATE ON removal
WHEN OLD.state <> 'pending' AND (OLD.state = 'skipped' AND OLD.cause = 'policy.cancelled' AND NEW.state = 'done') IS NOT 1
    AND (OLD.only_copy = 1 AND NEW.only_copy IS NULL AND NEW.state = OLD.state AND NEW.attempts = OLD.attempts
      AND NEW.failures = OLD.failures AND NEW.cause IS OLD.cause AND NEW.message IS OLD.message
      AND NEW.ended_at = OLD.ended_at) IS NOT 1
  OR NEW.only_copy = 1 AND OLD.only_copy IS NULL AND OLD.state <> 'pending'
  OR NEW.file_id <> OLD.file_id OR NEW.inode <> OLD.inode OR NEW.recorded_at <> OLD.recorded_at OR NEW.attempts < OLD.attempts OR NEW.state = 'done' AND NEW.attempts <> OLD.attempts
  OR NEW.failures <> OLD.failures AND NEW.failures <> OLD.failures + 1
BEGIN SELECT RAISE(FAIL, 'an ended removal does not change'); END;

CREATE TRIGGER removal_birth BEFORE INSERT ON removal
WHEN NEW.state <> 'pending' OR NEW.attempts <> 0 OR NEW.put_off_at IS NOT NULL OR EXISTS (SELECT 1 FROM removal WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
    WHERE f.id = NEW.file_id AND f.state = 'done' AND f.is_download IS NULL)
BEGIN SELECT RAISE(FAIL, 'a source is removed once, after the receipt of its file'); END;

CREATE TRIGGER removal_ended AFTER UPDATE OF state ON removal WHEN NEW.state <> OLD.state
BEGIN UPDATE removal SET waits_for = NULL WHERE inode = NEW.inode AND state <> 'done' AND +waits_for = x''; END;

CREATE TRIGGER removal_stays BEFORE DELETE ON removal BEGIN SELECT RAISE(FAIL, 'history stays'); END;

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

CREATE TRIGGER scan_birth BEFORE INSERT ON scan
WHEN EXISTS (SELECT 1 FROM scan WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM scan WHERE job = NEW.job AND place = NEW.place AND sources = NEW.sources)
BEGIN SELECT RAISE(FAIL, 'a set of sources has one last scan'); END;

CREATE TRIGGER scan_fixed BEFORE UPDATE ON scan
WHEN NEW.id <> OLD.id OR NEW.job <> OLD.job OR NEW.place <> OLD.place OR NEW.sources <> OLD.sources
  OR NEW.completed_at = OLD.completed_at
BEGIN SELECT RAISE(FAIL, 'a scan is replaced by another one of the same sources only'); END;

CREATE TRIGGER scan_stays BEFORE DELETE ON scan WHEN (SELECT count(*) FROM scan) <= 1000
BEGIN SELECT RAISE(FAIL, 'the last 1000 scans stay'); END;

CREATE TABLE segment (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  series_id INTEGER NOT NULL REFERENCES series (id) DEFERRABLE INITIALLY DEFERRED,
  -- Offset in the growing file. Its end is that plus the size of the file.
  start INTEGER NOT NULL CHECK (start >= 0),
  -- SHA-256 of its bytes.
  digest TEXT NOT NULL CHECK (digest > 'sha256:' AND digest < 'sha256;')
) STRICT;

CREATE UNIQUE INDEX segment_start ON segment (series_id, start);

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

CREATE TABLE sent_body (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length > 0),
  digest TEXT NOT NULL
) STRICT;

CREATE TRIGGER sent_body_birth BEFORE INSERT ON sent_body
WHEN EXISTS (SELECT 1 FROM sent_body WHERE attempt_id = NEW.attempt_id)
  OR NOT EXISTS (SELECT 1 FROM attempt WHERE id = NEW.attempt_id AND outcome = 'open' AND operation = 'part')
BEGIN SELECT RAISE(FAIL, 'the sent body of a part is recorded once, while its attempt is open'); END;

CREATE TRIGGER sent_body_fixed BEFORE UPDATE ON sent_body BEGIN SELECT RAISE(FAIL, 'a sent body does not change'); END;

CREATE TRIGGER sent_body_stays BEFORE DELETE ON sent_body
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'attempt' AND first_id <= OLD.attempt_id ORDER BY first_id DESC LIMIT 1) >= OLD.attempt_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

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

CREATE INDEX series_source ON series (destination_id, inode);

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

CREATE INDEX session_abort ON session (abort_after) WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL;

CREATE INDEX session_file ON session (file_id);

CREATE UNIQUE INDEX session_live ON session (file_id) WHERE state IN ('intended', 'open') AND abort_after IS NULL;

CREATE INDEX session_remote ON session (remote_id) WHERE remote_id IS NOT NULL;

CREATE INDEX session_unchanged ON session (file_id, state, unchanged) WHERE unchanged IS NOT NULL;

CREATE TRIGGER session_arrow BEFORE UPDATE OF state ON session
WHEN OLD.state <> NEW.state AND NOT CASE OLD.state
  WHEN 'intended' THEN NEW.state = 'open' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  WHEN 'open' THEN NEW.state = 'completed' OR NEW.state = 'aborted' OR NEW.state = 'gone'
  ELSE 0 END
BEGIN SELECT RAISE(FAIL, 'illegal transition of a session'); END;

CREATE TRIGGER session_birth BEFORE INSERT ON session
WHEN NEW.state <> 'intended' AND (NEW.ended_at IS NULL OR NOT EXISTS (SELECT 1 FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id = NEW.file_id AND b.origin_id IS NOT NULL))
  OR EXISTS (SELECT 1 FROM session WHERE id = NEW.id)
  OR NEW.abort_after IS NULL AND EXISTS (SELECT 1 FROM session
    WHERE file_id = NEW.file_id AND state IN ('intended', 'open') AND abort_after IS NULL)
BEGIN SELECT RAISE(FAIL, 'a session begins intended, while its file has no other live one'); END;

CREATE TRIGGER session_fixed BEFORE UPDATE OF id, file_id, run_id, intended_at ON session
BEGIN SELECT RAISE(FAIL, 'the identity of a session does not change'); END;

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

CREATE TRIGGER session_unchanged BEFORE UPDATE OF unchanged ON session
WHEN OLD.state <> 'open' OR NEW.unchanged IS NULL OR NEW.unchanged < OLD.unchanged
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = OLD.file_id AND state = 'active' AND is_download = 1
    AND (key = x'' OR substr(key, -1) = x'2F'))
BEGIN SELECT RAISE(FAIL, 'only a running listing finds unchanged files'); END;

CREATE TABLE sighting (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  ctime_ns INTEGER NOT NULL,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

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

CREATE TRIGGER sighting_birth BEFORE INSERT ON sighting
WHEN EXISTS (SELECT 1 FROM sighting WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'active' OR state = 'finishing' OR state = 'done'))
BEGIN SELECT RAISE(FAIL, 'only a file that is active, finishing or done has a sighting, and only one'); END;

CREATE TRIGGER sighting_fixed BEFORE UPDATE ON sighting WHEN NEW.file_id <> OLD.file_id
BEGIN SELECT RAISE(FAIL, 'the file of a sighting does not change'); END;

CREATE TRIGGER sighting_stays BEFORE DELETE ON sighting
WHEN (SELECT last_id FROM pruned_range WHERE kind = 'file' AND first_id <= OLD.file_id ORDER BY first_id DESC LIMIT 1) >= OLD.file_id IS NOT 1
BEGIN SELECT RAISE(FAIL, 'history stays, except for what a prune records'); END;

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

CREATE TRIGGER source_folder_birth BEFORE INSERT ON source_folder
WHEN EXISTS (SELECT 1 FROM source_folder WHERE batch_id = NEW.batch_id AND path = NEW.path)
BEGIN SELECT RAISE(FAIL, 'a folder of sources is recorded once'); END;

CREATE TRIGGER source_folder_fixed BEFORE UPDATE ON source_folder
WHEN NEW.batch_id <> OLD.batch_id OR NEW.path <> OLD.path
BEGIN SELECT RAISE(FAIL, 'the path of a folder of sources does not change'); END;

CREATE TRIGGER source_folder_stays BEFORE DELETE ON source_folder
BEGIN SELECT RAISE(FAIL, 'the folders of sources stay'); END;

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

CREATE TRIGGER store_meta_birth BEFORE INSERT ON store_meta WHEN EXISTS (SELECT 1 FROM store_meta)
BEGIN SELECT RAISE(FAIL, 'a store is created once'); END;

CREATE TRIGGER store_meta_fixed BEFORE UPDATE ON store_meta
WHEN NEW.id <> OLD.id OR NEW.created_by <> OLD.created_by OR NEW.created_at <> OLD.created_at
  OR NEW.uid <> OLD.uid AND (NEW.copied_at IS OLD.copied_at OR NEW.origin_uid IS NOT coalesce(OLD.origin_uid, OLD.uid))
  OR NEW.uid = OLD.uid AND (NEW.copied_at IS NOT OLD.copied_at OR NEW.origin_uid IS NOT OLD.origin_uid)
  OR NEW.merged_since IS NOT OLD.merged_since AND (OLD.merged_since IS NOT NULL OR EXISTS (SELECT 1 FROM event))
BEGIN SELECT RAISE(FAIL, 'the origin of a store does not change'); END;

CREATE TRIGGER store_meta_stays BEFORE DELETE ON store_meta BEGIN SELECT RAISE(FAIL, 'history stays'); END;

CREATE TABLE view_doc (
  view TEXT NOT NULL,
  "column" TEXT NOT NULL,
  type TEXT NOT NULL,
  unit TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (view, "column")
) STRICT, WITHOUT ROWID;

CREATE TRIGGER view_doc_birth BEFORE INSERT ON view_doc
WHEN EXISTS (SELECT 1 FROM view_doc WHERE view = NEW.view AND "column" = NEW."column")
BEGIN SELECT RAISE(FAIL, 'the column is documented already'); END;

CREATE TRIGGER view_doc_fixed BEFORE UPDATE ON view_doc
BEGIN SELECT RAISE(FAIL, 'the description of a column does not change'); END;

CREATE TRIGGER view_doc_stays BEFORE DELETE ON view_doc BEGIN SELECT RAISE(FAIL, 'descriptions of columns stay'); END;

CREATE VIEW v_attempts AS
SELECT
  a.id AS id,
  lower(substr(hex(a.uid), 1, 8) || '-' || substr(hex(a.uid), 9, 4) || '-' || substr(hex(a.uid), 13, 4) || '-' ||
    substr(hex(a.uid), 17, 4) || '-' || substr(hex(a.uid), 21, 12)) AS uid,
  a.file_id AS file_id,
  a.chunk_id AS chunk_id,
  a.session_id AS session_id,
  a.run_id AS run_id,
  a.operation AS operation,
  a.n AS n,
  a.started_at AS started_at,
  a.ended_at AS ended_at,
  a.outcome AS outcome,
  a.error_code AS error_code,
  a.message AS message,
  a.http_status AS http_status,
  a.curl_code AS curl_code,
  a.errno AS errno,
  a.bytes_transferred AS bytes_transferred,
  a.bytes_acked AS bytes_acked,
  a.dns_ms AS dns_ms,
  a.connect_ms AS connect_ms,
  a.tls_ms AS tls_ms,
  a.sent_ms AS sent_ms,
  a.first_byte_ms AS first_byte_ms,
  a.total_ms AS total_ms,
  a.held_ms AS held_ms,
  a.remote_ip AS remote_ip,
  a.http_version AS http_version,
  a.request_id AS request_id,
  a.retry_after_ms AS retry_after_ms,
  a.backoff_ms AS backoff_ms,
  a.is_repeatable AS is_repeatable,
  a.may_have_arrived AS may_have_arrived,
  a.reply_excerpt AS reply_excerpt,
  a.mirror AS mirror
FROM attempt a;

CREATE VIEW v_batches AS
SELECT
  b.id AS id,
  lower(substr(hex(b.uid), 1, 8) || '-' || substr(hex(b.uid), 9, 4) || '-' || substr(hex(b.uid), 13, 4) || '-' ||
    substr(hex(b.uid), 17, 4) || '-' || substr(hex(b.uid), 21, 12)) AS uid,
  b.name AS name,
  b.direction AS direction,
  b.job AS job,
  b.protocol AS protocol,
  b.destination AS destination,
  b.labels AS labels,
  b.priority AS priority,
  b.rate AS rate,
  b.workers AS workers,
  b.deadline_at AS deadline_at,
  b.hidden AS hidden,
  b.created_at AS created_at,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state <> 'superseded') AS files,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'done') AS done,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'failed') AS failed,
  (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'unknown') AS unknown,
  (SELECT CAST(total(f.size) AS INTEGER) FROM file f WHERE f.batch_id = b.id AND f.state <> 'superseded') AS bytes,
  (SELECT CAST(total(f.size) AS INTEGER) FROM file f WHERE f.batch_id = b.id AND f.state = 'done') AS bytes_done
FROM batch b;

CREATE VIEW v_callbacks AS
SELECT
  o.id,
  c.batch_id,
  coalesce(c.job, b.job) AS job,
  o.file_id,
  c.event,
  c.kind,
  c.target,
  o.state,
  o.failures,
  (SELECT count(*) FROM delivery d WHERE d.outbox_id = o.id) AS deliveries,
  o.not_before,
  o.recorded_at,
  o.ended_at
FROM outbox o JOIN callback c ON c.id = o.callback_id LEFT JOIN batch b ON b.id = c.batch_id;

CREATE VIEW v_chunks AS
SELECT
  c.id AS id,
  c.file_id AS file_id,
  c.seq AS seq,
  c.offset AS "offset",
  c.length AS length,
  c.state AS state,
  iif(c.state = 'done', c.length, c.acked) AS bytes_acked,
  (SELECT count(*) FROM attempt a WHERE a.file_id = c.file_id AND a.operation = 'part' AND a.chunk_id = c.id) AS attempts,
  c.failures AS failures,
  c.not_before AS not_before,
  c.digest AS digest,
  c.etag AS etag,
  c.confirmation AS confirmed_by,
  c.losses AS losses,
  c.reused AS reused
FROM chunk c;

CREATE VIEW v_cut_off AS
SELECT
  a.id AS attempt_id,
  a.file_id AS file_id,
  a.outcome AS outcome,
  a.bytes_transferred AS bytes_transferred,
  max(a.bytes_transferred, max(c.length, iif(f.is_download = 1 AND EXISTS (SELECT 1 FROM chunk l
    JOIN attempt e ON e.file_id = l.file_id AND e.operation = 'part' AND e.chunk_id = l.id
    WHERE l.file_id = a.file_id AND l.seq * f.first_chunk_size >= f.size AND e.run_id <= a.run_id), 0, coalesce(f.first_chunk_size, 0)))
    - iif(c.losses > 0, 0, (SELECT coalesce(sum(e.bytes_acked), 0) FROM attempt e
    WHERE e.file_id = a.file_id AND e.operation = 'part' AND e.chunk_id = a.chunk_id AND e.n < a.n))) AS bytes_transferred_at_most
FROM attempt a
JOIN chunk c ON c.id = a.chunk_id
JOIN file f ON f.id = a.file_id
WHERE a.operation = 'part' AND (a.error_code = 'engine.crashed' OR a.outcome = 'open');

CREATE VIEW v_deliveries AS
SELECT
  outbox_id AS callback_id,
  n,
  started_at,
  ended_at,
  outcome,
  exit_code,
  http_status,
  message,
  output
FROM delivery;

CREATE VIEW v_errors AS
SELECT
  code,
  category,
  hint
FROM error_code;

CREATE VIEW v_event_ranges AS
SELECT
  event_id,
  first_file,
  last_file
FROM event_range;

CREATE VIEW v_events AS
SELECT
  id,
  at,
  verb,
  batch_id,
  part_of,
  (SELECT coalesce(sum(r.last_file - r.first_file + 1), 0) FROM event_range r WHERE r.event_id = event.id) AS files,
  detail
FROM event;

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
  f.requested_action AS requested_action,
  f.hidden AS hidden,
  coalesce(q.attempts, 0) + (SELECT count(*) FROM attempt a WHERE a.file_id = f.id AND a.operation <> 'abort')
    - iif(f.state = 'done', (SELECT count(*) FROM attempt a WHERE a.file_id = f.id AND a.chunk_id IS NULL
      AND a.operation IN ('verify', 'probe') AND a.started_at > f.finished_at), 0) AS attempts,
  f.failures AS failures,
  f.not_before AS not_before,
  f.priority AS priority,
  f.properties AS properties,
  f.chunk_count AS chunks,
  iif(q.file_id IS NOT NULL, f.size,
    (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id)) AS bytes_acked,
  coalesce(q.bytes_reused, 0)
    + (SELECT coalesce(sum(c.reused), 0) FROM chunk c WHERE c.file_id = f.id AND c.reused IS NOT NULL) AS bytes_reused,
  coalesce(q.bytes_transferred, 0)
    + (SELECT coalesce(sum(a.bytes_transferred), 0) FROM attempt a WHERE a.file_id = f.id) AS bytes_transferred,
  coalesce(q.bytes_transferred + q.bytes_untold, 0)
    + (SELECT coalesce(sum(a.bytes_transferred), 0) FROM attempt a WHERE a.file_id = f.id)
    + (SELECT coalesce(sum(o.bytes_transferred_at_most - o.bytes_transferred), 0) FROM v_cut_off o WHERE o.file_id = f.id) AS bytes_transferred_at_most,
  r.confirmation AS confirmed_by,
  r.note AS proof_note,
  r.digest AS digest,
  r.remote_digest AS remote_digest,
  r.etag AS etag,
  r.version_id AS version_id,
  r.location AS location,
  r.request_id AS request_id,
  (SELECT c.same_as FROM content c WHERE c.file_id = f.id) AS same_as,
  f.created_at AS created_at,
  f.started_at AS started_at,
  f.finished_at AS finished_at,
  iif(q.file_id IS NULL, NULL, (SELECT p.at FROM pruned_range g CROSS JOIN prune p ON p.id = g.prune_id
    WHERE g.kind = 'history' AND g.first_id <= f.id ORDER BY g.first_id DESC LIMIT 1)) AS pruned_at
FROM file f
JOIN destination d ON d.id = f.destination_id
LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
LEFT JOIN pruned_file q ON q.file_id = f.id;

CREATE VIEW v_forgotten_callbacks AS
SELECT
  l.callback_id AS receiver_id,
  c.batch_id,
  coalesce(c.job, b.job) AS job,
  c.event,
  c.kind,
  c.target,
  l.callbacks,
  l.first_at,
  l.last_at,
  EXISTS (SELECT 1 FROM outbox o
    WHERE o.callback_id = l.callback_id AND o.state = 'delivered' AND o.ended_at >= l.last_at) AS heard_since
FROM callback_loss l JOIN callback c ON c.id = l.callback_id LEFT JOIN batch b ON b.id = c.batch_id;

CREATE VIEW v_meta AS
SELECT
  lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-' ||
    substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21, 12)) AS store_uid,
  schema_version,
  view_version,
  created_by,
  created_at
FROM store_meta;

CREATE VIEW v_pruned AS
SELECT
  s.prune_id AS prune_id,
  p.at AS pruned_at,
  p.before_at AS before_at,
  s.batch_id AS batch_id,
  s.run_id AS run_id,
  s.quarter * 900000 AS from_at,
  s.files AS files,
  s.ok + s.retry + s.fatal + s.unknown + s.interrupted + s.crashed + s.after_end AS attempts,
  s.ok AS ok,
  s.retry AS retry,
  s.fatal AS fatal,
  s.unknown AS unknown,
  s.interrupted AS interrupted,
  s.crashed AS crashed,
  s.after_end AS after_end,
  s.bytes_transferred AS bytes_transferred,
  s.bytes_acked AS bytes_acked,
  s.first_at AS first_at,
  s.last_at AS last_at,
  s.errors AS errors
FROM pruned_sum s
JOIN prune p ON p.id = s.prune_id;

CREATE VIEW v_receipts AS
SELECT
  file_id,
  n,
  coalesce(finding, 'stored') AS finding,
  size,
  attempt_id,
  confirmation AS confirmed_by,
  substr(digest, 1, instr(digest, ':') - 1) AS algorithm,
  digest,
  remote_digest,
  sha256,
  etag,
  version_id,
  request_id,
  server_date,
  location,
  note,
  recorded_at
FROM receipt;

CREATE VIEW v_removals AS
SELECT
  m.file_id,
  f.batch_id,
  b.job,
  b.after AS action,
  f.path,
  CASE WHEN m.state = 'pending' THEN 'waiting' WHEN m.state = 'done' THEN 'done'
    WHEN m.state = 'skipped' AND m.cause = 'source.missing' THEN 'gone' ELSE 'kept' END AS state,
  m.attempts,
  m.failures,
  m.put_off_at,
  m.due_at,
  m.cause,
  m.message,
  m.recorded_at,
  m.ended_at
FROM removal m JOIN file f ON f.id = m.file_id JOIN batch b ON b.id = f.batch_id;

CREATE VIEW v_runs AS
SELECT
  id,
  lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-' ||
    substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21, 12)) AS uid,
  argv,
  version,
  host,
  boot_id,
  pid,
  started_at,
  started_boot_ms,
  heartbeat_at,
  heartbeat_boot_ms,
  processor_ms,
  ended_at,
  how
FROM engine_run;

CREATE VIEW v_scans AS
SELECT
  nullif(job, '') AS job,
  place,
  sources,
  completed_at,
  took_ms,
  files,
  new,
  changed,
  unchanged,
  queued,
  settling,
  not_ready,
  excluded,
  unreadable,
  special,
  known,
  refused
FROM scan;

CREATE VIEW v_segments AS
SELECT g.file_id, g.series_id, f.key, g.start, f.size, f.state, g.digest
FROM segment g JOIN file f ON f.id = g.file_id;

CREATE VIEW v_series AS
SELECT
  s.id AS series_id,
  d.place,
  s.key,
  s.number,
  s.path,
  s.size AS bytes,
  count(g.file_id) AS segments,
  coalesce(sum(iif(f.state = 'done', f.size, 0)), 0) AS bytes_done,
  coalesce(sum(iif(f.state = 'cancelled' OR f.state = 'superseded' OR f.state = 'failed' AND f.hidden = 1, f.size, 0)), 0)
    AS bytes_missing,
  s.began_at,
  s.grown_at
FROM series s JOIN destination d ON d.id = s.destination_id LEFT JOIN segment g ON g.series_id = s.id
  LEFT JOIN file f ON f.id = g.file_id
GROUP BY s.id;
