-- What belonged to a session at the server when it was given up: the chunks of its file may have been begun anew, in another session,
-- before its end is asked for. A JSON array of what the chunks held as `remote`.
ALTER TABLE session ADD COLUMN remotes TEXT CHECK (remotes LIKE '[%]');
CREATE TRIGGER session_given_up AFTER UPDATE OF abort_after ON session
WHEN OLD.abort_after IS NULL AND NEW.abort_after IS NOT NULL
  AND EXISTS (SELECT 1 FROM chunk WHERE file_id = NEW.file_id AND remote IS NOT NULL)
BEGIN
  UPDATE session SET remotes = (SELECT '[' || group_concat(remote) || ']' FROM chunk
    WHERE file_id = NEW.file_id AND remote IS NOT NULL) WHERE id = NEW.id;
END;
