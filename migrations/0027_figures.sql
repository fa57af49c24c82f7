-- Figures that stay true when answers are lost and engines die.

-- A closed attempt is history but for one thing: what it sent, and a later question of the same file found at the server, counts
-- as acknowledged by it. What a killed engine sent was not written down; what of it was found was sent at least.
DROP TRIGGER attempt_closed;
CREATE TRIGGER attempt_closed BEFORE UPDATE ON attempt
WHEN NEW.id <> OLD.id OR OLD.outcome <> 'open' AND (
  OLD.operation <> 'part' OR OLD.outcome = 'ok'
  OR NEW.bytes_acked <= OLD.bytes_acked OR NEW.bytes_acked > NEW.bytes_sent
  OR NEW.bytes_sent <> OLD.bytes_sent AND (
    OLD.outcome <> 'crashed' OR NEW.bytes_sent < OLD.bytes_sent OR NEW.bytes_sent <> NEW.bytes_acked)
  OR NOT EXISTS (SELECT 1 FROM attempt q WHERE q.file_id = OLD.file_id AND q.id > OLD.id AND q.outcome = 'ok')
  OR NEW.outcome <> OLD.outcome OR NEW.ended_at IS NOT OLD.ended_at OR NEW.error_code IS NOT OLD.error_code
  OR NEW.message IS NOT OLD.message OR NEW.http_status IS NOT OLD.http_status OR NEW.curl_code IS NOT OLD.curl_code
  OR NEW.errno IS NOT OLD.errno OR NEW.dns_ms IS NOT OLD.dns_ms OR NEW.connect_ms IS NOT OLD.connect_ms
  OR NEW.tls_ms IS NOT OLD.tls_ms OR NEW.first_byte_ms IS NOT OLD.first_byte_ms OR NEW.total_ms IS NOT OLD.total_ms
  OR NEW.remote_ip IS NOT OLD.remote_ip OR NEW.http_version IS NOT OLD.http_version
  OR NEW.request_id IS NOT OLD.request_id OR NEW.retry_after_ms IS NOT OLD.retry_after_ms
  OR NEW.backoff_ms IS NOT OLD.backoff_ms OR NEW.reply_excerpt IS NOT OLD.reply_excerpt
  OR NEW.may_have_arrived <> OLD.may_have_arrived)
BEGIN SELECT RAISE(FAIL, 'a closed attempt is history'); END;
-- What was added up of it is added up anew.
CREATE TRIGGER attempt_sum_late AFTER UPDATE OF bytes_sent ON attempt
WHEN OLD.outcome <> 'open' AND NEW.bytes_sent <> OLD.bytes_sent
BEGIN DELETE FROM attempt_sum WHERE block = OLD.id >> 12; END;

-- Bodies of which nobody knows how much was sent: their engine died, or they are being sent now. A body is not longer than what
-- was left of its chunk; a file that was cut anew since had longer ones.
CREATE VIEW v_cut_off AS
SELECT
  a.id AS attempt_id,
  a.file_id AS file_id,
  a.outcome AS outcome,
  a.bytes_sent AS bytes_sent,
  max(a.bytes_sent, max(c.length, coalesce(f.first_chunk_size, 0)) - iif(c.losses > 0, 0, (SELECT coalesce(sum(e.bytes_acked), 0) FROM attempt e
    WHERE e.file_id = a.file_id AND e.operation = 'part' AND e.chunk_id = a.chunk_id AND e.n < a.n))) AS bytes_sent_at_most
FROM attempt a
JOIN chunk c ON c.id = a.chunk_id
JOIN file f ON f.id = a.file_id
WHERE a.operation = 'part' AND (a.error_code = 'engine.orphaned' OR a.outcome = 'open');

DROP VIEW v_files;
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
  f.wish AS wish,
  f.hidden AS hidden,
  (SELECT count(*) FROM attempt a WHERE a.file_id = f.id) AS attempts,
  f.failures AS failures,
  f.not_before AS not_before,
  f.priority AS priority,
  f.chunk_count AS chunks,
  (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id) AS bytes_acked,
  (SELECT coalesce(sum(a.bytes_sent), 0) FROM attempt a WHERE a.file_id = f.id) AS bytes_sent,
  (SELECT coalesce(sum(a.bytes_sent), 0) FROM attempt a WHERE a.file_id = f.id)
    + (SELECT coalesce(sum(o.bytes_sent_at_most - o.bytes_sent), 0) FROM v_cut_off o WHERE o.file_id = f.id) AS bytes_sent_at_most,
  r.confirmation AS confirmed_by,
  r.note AS proof_note,
  r.digest AS digest,
  r.remote_digest AS remote_digest,
  r.etag AS etag,
  r.version_id AS version_id,
  r.location AS location,
  r.request_id AS request_id,
  f.created_at AS created_at,
  f.started_at AS started_at,
  f.finished_at AS finished_at
FROM file f
JOIN destination d ON d.id = f.destination_id
LEFT JOIN receipt r ON r.file_id = f.id;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_files', 'bytes_sent_at_most', 'INTEGER', 'bytes', 'The same with all that its attempts in v_cut_off may have sent.'),
  ('v_cut_off', 'attempt_id', 'INTEGER', 'id', 'The attempt, as in v_attempts.'),
  ('v_cut_off', 'file_id', 'INTEGER', 'id', 'Its file.'),
  ('v_cut_off', 'outcome', 'TEXT', '', 'crashed, or open while it runs.'),
  ('v_cut_off', 'bytes_sent', 'INTEGER', 'bytes', 'Body bytes that it sent at least: a later question found them at the server.'),
  ('v_cut_off', 'bytes_sent_at_most', 'INTEGER', 'bytes', 'Body bytes that it may have sent: what was left of its chunk.');
UPDATE view_doc SET text = 'Body bytes sent by all its attempts, at least: of those in v_cut_off only what was found at the server.'
WHERE view = 'v_files' AND "column" = 'bytes_sent';
UPDATE view_doc SET text = 'Body bytes that its answer acknowledged, or a later question found at the server.'
WHERE view = 'v_attempts' AND "column" = 'bytes_acked';
