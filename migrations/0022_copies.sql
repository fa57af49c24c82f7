-- A copy of a ledger does not know what its original did since: what was pending there may have been sent, and where it cannot be
-- asked for and must not be repeated, nobody can know. `store backup` and `store snapshot` write these into the copy.

-- Files that were not at rest when the copy was made. A row goes when its doubt was settled or a person trusts the copy.
CREATE TABLE doubt (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Of a copy: the uid of the ledger that it was made of, and when.
ALTER TABLE store_meta ADD COLUMN origin_uid BLOB CHECK (length(origin_uid) = 16);
ALTER TABLE store_meta ADD COLUMN copied_at INTEGER;

INSERT INTO error_code (code, blame, hint) VALUES
  ('engine.copied', 'engine', 'the ledger is a copy, and its original may have sent the file since; look at the server, then "transfers resolve"');

-- A copy gets a uid of its own, and keeps that of its original.
DROP TRIGGER store_meta_fixed;
CREATE TRIGGER store_meta_fixed BEFORE UPDATE ON store_meta
WHEN NEW.id <> OLD.id OR NEW.created_by <> OLD.created_by OR NEW.created_at <> OLD.created_at
  OR NEW.uid <> OLD.uid AND (NEW.copied_at IS OLD.copied_at OR NEW.origin_uid IS NOT coalesce(OLD.origin_uid, OLD.uid))
BEGIN SELECT RAISE(FAIL, 'who made a store does not change'); END;
