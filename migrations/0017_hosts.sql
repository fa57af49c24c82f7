-- What runs learned of a host, for the next run: how many requests at a time were worth while there.
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
BEGIN SELECT RAISE(FAIL, 'what is known of a host is written by a run that has not ended'); END;
CREATE TRIGGER host_state_change BEFORE UPDATE ON host_state
WHEN NEW.host <> OLD.host OR NOT EXISTS (SELECT 1 FROM engine_run WHERE id = NEW.run_id AND ended_at IS NULL)
BEGIN SELECT RAISE(FAIL, 'what is known of a host is written by a run that has not ended'); END;
