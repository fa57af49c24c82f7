-- A statement that may fail in the middle of more than one write keeps a journal of its own (SQLite: usesStmtJournal), into which
-- it copies each page before it changes it; a statement with triggers counts as more than one write. That was a quarter of the
-- price of a file. Nothing here needs it: what changes one row changes nothing before all is checked, and the program rolls back the
-- transaction of whatever fails. A statement can do without where nothing in it may ABORT or call a function (which may fail):
-- * triggers say FAIL (what other programs changed by the same statement before, stays in their transaction; it was legal by itself),
-- * references are checked at the commit,
-- * CHECKs of files, chunks and attempts, and the triggers of their births and transitions, call no functions. What needs one is
--   asked when its column is set, by a statement of its own (below); only the length of an identifier is left to `store check`.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(replace(replace(sql,
  'REFERENCES batch (id)', 'REFERENCES batch (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES destination (id)', 'REFERENCES destination (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES file (id)', 'REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES chunk (id)', 'REFERENCES chunk (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES session (id)', 'REFERENCES session (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES attempt (id)', 'REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED'),
  'REFERENCES engine_run (id)', 'REFERENCES engine_run (id) DEFERRABLE INITIALLY DEFERRED')
WHERE type = 'table';
UPDATE sqlite_schema SET sql = replace(sql,
  'REFERENCES error_code (code)', 'REFERENCES error_code (code) DEFERRABLE INITIALLY DEFERRED')
WHERE type = 'table';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql,
  ' CHECK (length(uid) = 16)', ''),
  'CHECK (length(path) > 0)', 'CHECK (path <> x'''')'),
  'CHECK (staged <> '''' AND staged NOT LIKE ''%/%'')', 'CHECK (staged <> '''')'),
  ' CHECK (length(reply_excerpt) <= 4096)', '')
WHERE type = 'table' AND name IN ('file', 'attempt');
UPDATE sqlite_schema SET sql = replace(sql, ' CHECK (remote LIKE ''{%}'')', '') WHERE type = 'table' AND name = 'chunk';
UPDATE sqlite_schema SET sql = replace(sql, 'WHEN NEW.state <> ''pending''', 'WHEN NEW.state <> ''pending'' OR NEW.remote IS NOT NULL')
WHERE type = 'trigger' AND name = 'chunk_birth';
UPDATE sqlite_schema SET sql = replace(sql, 'WHEN NEW.outcome <> ''open''', 'WHEN NEW.outcome <> ''open'' OR NEW.reply_excerpt IS NOT NULL')
WHERE type = 'trigger' AND name = 'attempt_birth';
UPDATE sqlite_schema SET sql = replace(sql, 'RAISE(ABORT', 'RAISE(FAIL') WHERE type = 'trigger';
PRAGMA writable_schema = RESET;

DROP TRIGGER file_birth;
CREATE TRIGGER file_birth BEFORE INSERT ON file
WHEN NEW.state <> 'settling' AND NEW.state <> 'pending' AND NEW.state <> 'failed'
  OR NEW.staged IS NOT NULL
  OR EXISTS (SELECT 1 FROM file WHERE id = NEW.id)
  -- One generation lives at a time; that is asked here too, because INSERT OR REPLACE would delete the one that does.
  OR EXISTS (SELECT 1 FROM file
    WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1
      AND (NEW.live = 1 OR generation >= NEW.generation))
  -- The next generation: none is newer, and the one before is there.
  OR EXISTS (SELECT 1 FROM file
    WHERE destination_id = NEW.destination_id AND key = NEW.key AND live IS NULL AND generation >= NEW.generation)
  OR NEW.generation <> 1
    AND NOT EXISTS (SELECT 1 FROM file
      WHERE destination_id = NEW.destination_id AND key = NEW.key AND live IS NULL AND generation = NEW.generation - 1)
    AND NOT EXISTS (SELECT 1 FROM file
      WHERE destination_id = NEW.destination_id AND key = NEW.key AND live = 1 AND generation = NEW.generation - 1)
BEGIN SELECT RAISE(FAIL, 'a file begins settling, pending or failed, in the next generation'); END;

CREATE TRIGGER file_staged BEFORE UPDATE OF staged ON file WHEN NEW.staged LIKE '%/%'
BEGIN SELECT RAISE(FAIL, 'a staged copy has a name without folders'); END;

CREATE TRIGGER chunk_remote BEFORE UPDATE OF remote ON chunk WHEN NEW.remote NOT LIKE '{%}'
BEGIN SELECT RAISE(FAIL, 'what the server said of a chunk is an object'); END;

CREATE TRIGGER attempt_excerpt BEFORE UPDATE OF reply_excerpt ON attempt WHEN length(NEW.reply_excerpt) > 4096
BEGIN SELECT RAISE(FAIL, 'of an answer 4096 bytes are kept'); END;
