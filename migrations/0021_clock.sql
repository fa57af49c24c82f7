-- The wall clock may be moved while a run goes on: the boot clock beside it tells by how much, and whether the run is alive.
ALTER TABLE engine_run ADD COLUMN started_boot_ms INTEGER;
ALTER TABLE engine_run ADD COLUMN heartbeat_boot_ms INTEGER;

DROP VIEW v_runs;
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
  ended_at,
  how
FROM engine_run;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_runs', 'started_boot_ms', 'INTEGER', 'ms',
    'Start by the boot clock of boot_id. It is never moved: heartbeat_at - started_at less the same of these is how far the wall clock was.'),
  ('v_runs', 'heartbeat_boot_ms', 'INTEGER', 'ms', 'Last sign of life by the boot clock.');
