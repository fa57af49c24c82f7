-- A file may get another ctime (permissions, owner, hard links) or another device number (mounted again) without another content.
-- What was admitted stays as it was; under which identity the same content was seen since is beside it.

-- The boot in which `device` was seen (the first 64 bits of the kernel's boot id); 0 when it is not known.
ALTER TABLE file ADD COLUMN boot INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER file_fixed;
CREATE TRIGGER file_fixed BEFORE UPDATE OF id, uid, batch_id, destination_id, generation, path, key, size, mtime_ns,
  ctime_ns, inode, device, boot, mode, created_at ON file
BEGIN SELECT RAISE(FAIL, 'what a file is does not change; a new generation does'); END;

-- The newest identity under which a file was found to hold what was sent of it.
CREATE TABLE sighting (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED,
  ctime_ns INTEGER NOT NULL,
  device INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER sighting_birth BEFORE INSERT ON sighting
WHEN EXISTS (SELECT 1 FROM sighting WHERE file_id = NEW.file_id)
  OR NOT EXISTS (SELECT 1 FROM file WHERE id = NEW.file_id AND (state = 'active' OR state = 'finishing' OR state = 'done'))
BEGIN SELECT RAISE(FAIL, 'a file that is sent or done is sighted, and has one newest sighting'); END;
CREATE TRIGGER sighting_fixed BEFORE UPDATE ON sighting WHEN NEW.file_id <> OLD.file_id
BEGIN SELECT RAISE(FAIL, 'a sighting keeps its file'); END;
CREATE TRIGGER sighting_stays BEFORE DELETE ON sighting BEGIN SELECT RAISE(FAIL, 'history stays'); END;

-- What a request that did not store its chunk had read of the file: bytes that the server may say it has.
CREATE TABLE sent_body (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id) DEFERRABLE INITIALLY DEFERRED,
  offset INTEGER NOT NULL CHECK (offset >= 0),
  length INTEGER NOT NULL CHECK (length > 0),
  digest TEXT NOT NULL
) STRICT;
CREATE TRIGGER sent_body_birth BEFORE INSERT ON sent_body
WHEN EXISTS (SELECT 1 FROM sent_body WHERE attempt_id = NEW.attempt_id)
  OR NOT EXISTS (SELECT 1 FROM attempt WHERE id = NEW.attempt_id AND outcome = 'open' AND operation = 'part')
BEGIN SELECT RAISE(FAIL, 'what a part sent is recorded once, while it is open'); END;
CREATE TRIGGER sent_body_fixed BEFORE UPDATE ON sent_body BEGIN SELECT RAISE(FAIL, 'what was sent does not change'); END;
CREATE TRIGGER sent_body_stays BEFORE DELETE ON sent_body BEGIN SELECT RAISE(FAIL, 'history stays'); END;
