-- What a server said in its own words was recorded from the start; now it can be read too.

DROP VIEW v_attempts;
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
  a.bytes_sent AS bytes_sent,
  a.bytes_acked AS bytes_acked,
  a.dns_ms AS dns_ms,
  a.connect_ms AS connect_ms,
  a.tls_ms AS tls_ms,
  a.first_byte_ms AS first_byte_ms,
  a.total_ms AS total_ms,
  a.remote_ip AS remote_ip,
  a.http_version AS http_version,
  a.request_id AS request_id,
  a.retry_after_ms AS retry_after_ms,
  a.backoff_ms AS backoff_ms,
  a.is_repeatable AS is_repeatable,
  a.may_have_arrived AS may_have_arrived,
  a.reply_excerpt AS reply_excerpt
FROM attempt a;

INSERT INTO view_doc (view, "column", type, unit, text) VALUES
  ('v_attempts', 'reply_excerpt', 'BLOB', 'bytes of a text',
    'The beginning of the body of the answer, without our secrets; not always UTF-8. NULL when there was none.');
