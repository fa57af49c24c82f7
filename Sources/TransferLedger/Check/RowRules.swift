extension LedgerReader {
  /// Rules of files, chunks and receipts.
  static let rowRules: [(name: String, sql: String)] = [
    ("I01 references exist", #"SELECT "table", rowid, parent FROM pragma_foreign_key_check"#),
    ("I02 the file is sound", "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
    (
      "I03 chunks tile the file",
      """
      SELECT f.id FROM file f LEFT JOIN chunk c ON c.file_id = f.id WHERE f.chunk_count IS NOT NULL
        AND NOT (EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
          AND NOT EXISTS (SELECT 1 FROM chunk x WHERE x.file_id = f.id)) GROUP BY f.id
      HAVING count(c.id) <> f.chunk_count OR min(c.offset) <> 0 OR sum(c.length) <> f.size
        OR max(c.offset + c.length) <> f.size
      """
    ),
    (
      "I04 no gap and no overlap",
      """
      SELECT a.file_id, a.seq FROM chunk a JOIN chunk b ON b.file_id = a.file_id AND b.seq = a.seq + 1
      WHERE a.offset + a.length <> b.offset
      """
    ),
    (
      "I05 chunks are numbered without gaps",
      "SELECT file_id FROM chunk GROUP BY file_id HAVING min(seq) <> 0 OR count(*) <> max(seq) + 1"
    ),
    (
      "I06 a done file has only done chunks",
      """
      SELECT f.id FROM file f WHERE f.state IN ('done', 'finishing')
        AND (SELECT count(*) FROM chunk c WHERE c.file_id = f.id AND c.state = 'done') IS NOT f.chunk_count
        AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.file_id = f.id AND r.n = 1 AND r.note IS NOT NULL)
        AND NOT (EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
          AND NOT EXISTS (SELECT 1 FROM chunk x WHERE x.file_id = f.id))
      """
    ),
    (
      "I07 a file has a receipt exactly when it is done",
      """
      SELECT f.id FROM file f LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE (f.state = 'done') <> (r.file_id IS NOT NULL) OR (f.state = 'done' AND f.finished_at IS NULL)
      """
    ),
    (
      "I63 a file is done when its receipt is recorded",
      """
      SELECT f.id FROM file f JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE f.state = 'done' AND f.finished_at IS NOT max(coalesce(f.started_at, 0), r.recorded_at)
      """
    ),
    (
      "I08 digests agree",
      """
      SELECT file_id FROM receipt WHERE confirmation = 'digest' AND digest <> remote_digest
        OR digest <> sha256 AND digest > 'sha256:' AND digest < 'sha256;'
      """
    ),
    (
      "I36 the history of a file that a person resolved as done says so",
      """
      SELECT r.file_id FROM receipt r WHERE r.n = 1 AND r.note IS NOT NULL AND (r.confirmation <> 'none' OR NOT EXISTS (
        SELECT 1 FROM event_range g JOIN event e ON e.id = g.event_id
        WHERE g.first_file BETWEEN r.file_id - 4095 AND r.file_id AND g.last_file >= r.file_id
          AND e.verb = 'resolved' AND e.detail = 'done: ' || r.note))
      """
    ),
    (
      "I09 a done chunk names its winning attempt",
      """
      SELECT c.id FROM chunk c LEFT JOIN attempt a ON a.id = c.done_attempt
      WHERE c.state = 'done' AND NOT (a.id IS NULL AND coalesce((SELECT last_id FROM pruned_range
          WHERE kind = 'attempt' AND first_id <= c.done_attempt ORDER BY first_id DESC LIMIT 1) >= c.done_attempt, 0))
        AND (a.id IS NULL OR a.outcome <> 'ok'
        OR (a.chunk_id IS NOT c.id AND NOT (a.operation IN ('verify', 'probe', 'create') AND a.file_id = c.file_id)))
      """
    ),
    (
      "I65 a done chunk has no partly stored bytes, nothing to wait for and no failures",
      "SELECT id FROM chunk WHERE state = 'done' AND (acked <> 0 OR not_before IS NOT NULL OR failures <> 0)"
    ),
    (
      "I55 a source is removed after its receipt, and only if its batch asks for it",
      """
      SELECT m.file_id FROM removal m JOIN file f ON f.id = m.file_id JOIN batch b ON b.id = f.batch_id
        LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE r.file_id IS NULL OR f.state <> 'done' OR b.after IS NULL AND m.state = 'pending' OR m.state = 'done' AND m.attempts = 0
      """
    ),
    (
      "I58 a hidden file has no pending removal",
      "SELECT m.file_id FROM removal m JOIN file f ON f.id = m.file_id WHERE m.state = 'pending' AND f.hidden IS NOT NULL"
    ),
    (
      "I56 a done file whose source is not kept has a removal",
      """
      SELECT f.id FROM batch b JOIN file f ON f.batch_id = b.id
      WHERE b.after IS NOT NULL AND b.origin_id IS NULL AND f.state = 'done' AND f.is_download IS NULL
        AND NOT EXISTS (SELECT 1 FROM removal m WHERE m.file_id = f.id)
      """
    ),
    (
      "I60 a done file has a callback for each receiver that its batch notifies of done files",
      """
      SELECT f.id, c.id FROM callback c JOIN file f ON f.batch_id = c.batch_id JOIN batch b ON b.id = f.batch_id
      WHERE f.state = 'done' AND c.event = 'done' AND b.origin_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.file_id = f.id AND o.callback_id = c.id)
        AND NOT EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
      """
    ),
    (
      "I61 a callback is delivering exactly while a delivery is open, and delivered by one that succeeded",
      """
      SELECT o.id FROM outbox o WHERE (o.state = 'delivering')
          <> EXISTS (SELECT 1 FROM delivery d WHERE d.outbox_id = o.id AND d.outcome = 'open')
        OR o.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.outbox_id = o.id AND d.outcome = 'ok')
        OR o.failures > (SELECT count(*) FROM delivery d WHERE d.outbox_id = o.id AND d.outcome = 'failed')
      """
    ),
    (
      "I57 a file has a look exactly while its source may still be written",
      """
      SELECT f.id FROM file f LEFT JOIN look l ON l.file_id = f.id
      WHERE (l.file_id IS NOT NULL) <> (f.state = 'settling' AND f.cause IS 'source.settling')
      """
    ),
    (
      "I62 the segments of a series follow one another without gaps up to its end, and have their copies until they end",
      """
      SELECT s.id FROM series s LEFT JOIN segment g ON g.series_id = s.id LEFT JOIN file f ON f.id = g.file_id
      GROUP BY s.id HAVING s.size IS NOT sum(f.size) OR max(g.start) IS NOT s.start
        OR sum(f.staged IS NULL AND f.finished_at IS NULL) > 0
      """
    ),
    (
      "I31 a pending file has no failed or unknown chunk",
      """
      SELECT f.id FROM file f JOIN chunk c ON c.file_id = f.id
      WHERE f.state = 'pending' AND c.state IN ('failed', 'unknown')
      """
    ),
    (
      "I35 a file at rest with stored bytes is marked so",
      """
      SELECT f.id FROM file f WHERE f.holds IS NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.chunk_count IS NOT NULL
        AND EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = f.id AND (c.state = 'done' OR c.acked > 0))
      """
    ),
    (
      "I20 one live generation for each destination and key",
      """
      SELECT destination_id, hex(key) FROM file WHERE state NOT IN ('done', 'failed', 'cancelled', 'superseded')
      GROUP BY destination_id, key HAVING count(*) > 1
      """
    ),
    (
      "I27 no secrets",
      """
      SELECT kind, id FROM (
        SELECT 'destination' AS kind, id, place AS text FROM destination
        -- The text of a profile is full of colons and @, and contains templates instead of secrets.
        UNION ALL SELECT 'batch', id,
          destination || ' ' || iif(json_valid(settings), json_remove(settings, '$.profile.text'), settings) FROM batch
        UNION ALL SELECT 'receipt', file_id, location FROM receipt
        UNION ALL SELECT 'callback', id, target FROM callback WHERE kind <> 'exec'
        UNION ALL SELECT 'run', id, argv FROM engine_run)
      WHERE text LIKE '%X-Amz-Signature=%' OR text LIKE '%://%:%@%/%' OR text LIKE '%?sig=%' OR text LIKE '%&sig=%'
      """
    ),
    (
      "I34 identifiers and protocol state are well-formed",
      """
      SELECT 'file', id FROM file WHERE length(uid) <> 16
      UNION ALL SELECT 'attempt', id FROM attempt WHERE length(uid) <> 16 OR length(reply_excerpt) > 4096
      UNION ALL SELECT 'session', id FROM session WHERE notes NOT LIKE '{%}' OR remotes NOT LIKE '[%]'
      UNION ALL SELECT 'chunk', id FROM chunk WHERE remote NOT LIKE '{%}'
      """
    ),
    (
      "I37 the sums of done files match their rows",
      """
      SELECT s.batch_id, s.block FROM file_sum s
      WHERE (s.files, s.bytes, s.hidden_files, s.hidden_bytes, s.unverified) IS NOT (
          SELECT count(*), sum_bytes(f.size), count(f.hidden), sum_bytes(iif(f.hidden, f.size, 0)),
            coalesce(sum(r.confirmation = 'none'), 0)
          FROM file f LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
          WHERE f.state = 'done' AND f.batch_id = s.batch_id AND f.id BETWEEN s.block << 12 AND (s.block << 12) + 4095)
        OR s.slowest <> (SELECT coalesce(json_group_array(json_array(ms, id)), '[]') FROM (
          SELECT f.finished_at - f.started_at ms, f.id FROM file f
          WHERE f.state = 'done' AND f.batch_id = s.batch_id AND f.id BETWEEN s.block << 12 AND (s.block << 12) + 4095
            AND f.started_at IS NOT NULL
          ORDER BY 1 DESC, 2 LIMIT 3))
      """
    ),
    (
      "I29 generations of a key are numbered without duplicates and gaps",
      """
      SELECT destination_id, hex(key) FROM file GROUP BY destination_id, key
      HAVING count(*) <> count(DISTINCT generation)
        OR count(*) <> max(generation) AND NOT EXISTS (SELECT 1 FROM pruned_range WHERE kind = 'file')
      """
    ),
  ]
}
