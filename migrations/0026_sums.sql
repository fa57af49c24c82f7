-- What a report adds up must not be read again for each report: a closed attempt and a done file stay as they are, so their sums do.
-- The rows below are such sums, over 4,096 numbers each; runs write them. What they do not hold yet is added up when it is asked for.
-- They say nothing that the rows of attempt and file do not say: without them reports are only slower, and `store check` compares.

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
  bytes_sent INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- By error code: how many, the newest of them, the first start, the last end.
  errors TEXT NOT NULL CHECK (errors LIKE '{%}'),
  -- Milliseconds of parts that succeeded and how many took so long; times in which one was in flight. Numbers of 7 bits a byte.
  latencies BLOB NOT NULL,
  active BLOB NOT NULL,
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

-- A sum is not changed; it goes when a file comes to it or is hidden, and a run writes it anew.
CREATE TRIGGER attempt_sum_fixed BEFORE UPDATE ON attempt_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;
CREATE TRIGGER file_sum_fixed BEFORE UPDATE ON file_sum BEGIN SELECT RAISE(FAIL, 'a sum does not change'); END;
CREATE TRIGGER file_sum_late AFTER UPDATE OF state ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;
CREATE TRIGGER file_sum_hidden AFTER UPDATE OF hidden ON file
WHEN NEW.state = 'done' AND EXISTS (SELECT 1 FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12)
BEGIN DELETE FROM file_sum WHERE batch_id = NEW.batch_id AND block = NEW.id >> 12; END;

-- People name rows by the beginning of their uid.
CREATE INDEX file_uid ON file (uid);
