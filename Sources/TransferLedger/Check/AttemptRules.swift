extension LedgerReader {
  /// Rules of attempts, and of the bytes that they are said to have transferred.
  static let attemptRules: [(name: String, sql: String)] = [
    (
      "I10 one success for each chunk that was not lost",
      """
      SELECT a.chunk_id FROM attempt a JOIN chunk c ON c.id = a.chunk_id
      WHERE a.operation = 'part' AND a.outcome = 'ok' AND a.bytes_acked = c.length
      GROUP BY a.chunk_id HAVING count(*) > 1 + c.losses
      """
    ),
    (
      "I11 one successful finish for each file",
      """
      SELECT file_id FROM attempt WHERE operation = 'finish' AND outcome = 'ok' GROUP BY file_id HAVING count(*) > 1
      """
    ),
    (
      "I12 one successful create for each session",
      """
      SELECT session_id FROM attempt WHERE operation = 'create' AND outcome = 'ok' AND session_id IS NOT NULL
      GROUP BY session_id HAVING count(*) > 1
      """
    ),
    (
      "I13 open attempts belong to a live run",
      """
      SELECT a.id FROM attempt a JOIN engine_run e ON e.id = a.run_id
      WHERE a.outcome = 'open' AND e.ended_at IS NOT NULL
      """
    ),
    (
      "I14 an attempt has an end exactly when it is not open",
      "SELECT id FROM attempt WHERE (outcome = 'open') <> (ended_at IS NULL)"
    ),
    (
      "I15 a chunk is in flight exactly while it has one open attempt",
      """
      SELECT c.id FROM chunk c LEFT JOIN attempt a ON a.file_id = c.file_id AND a.chunk_id = c.id AND a.outcome = 'open'
      GROUP BY c.id HAVING (c.state = 'in_flight') <> (count(a.id) = 1) OR count(a.id) > 1
      """
    ),
    (
      "I16 attempts are numbered without gaps",
      """
      SELECT file_id, chunk_id, operation FROM attempt GROUP BY file_id, chunk_id, operation
      HAVING count(*) <> max(n) OR min(n) <> 1
      """
    ),
    (
      "I17 no more bytes are acknowledged than were transferred, nor more than the chunk has",
      """
      SELECT a.id FROM attempt a JOIN chunk c ON c.id = a.chunk_id JOIN file f ON f.id = a.file_id
      WHERE a.bytes_acked > a.bytes_transferred OR a.bytes_acked > max(c.length,
        iif(f.is_download = 1 AND c.seq * f.first_chunk_size >= f.size, 0, coalesce(f.first_chunk_size, 0)))
      """
    ),
    (
      "I18 a file at rest has no open attempt, except to verify a done file",
      """
      SELECT f.id FROM attempt a JOIN file f ON f.id = a.file_id
      WHERE a.outcome = 'open' AND a.operation <> 'abort' AND f.state NOT IN ('active', 'finishing')
        AND NOT (f.state = 'done' AND a.chunk_id IS NULL AND a.operation IN ('verify', 'probe'))
      """
    ),
    (
      "I19 only attempts of an ended run are crashed",
      """
      SELECT a.id FROM attempt a JOIN engine_run e ON e.id = a.run_id WHERE a.outcome = 'crashed' AND e.ended_at IS NULL
      """
    ),
    (
      "I22 an unknown file has a request whose answer was lost, or an earlier one of its version, or is in doubt in a copied ledger",
      """
      SELECT f.id FROM file f WHERE f.state = 'unknown' AND f.cause <> 'engine.copied'
        AND NOT EXISTS (SELECT 1 FROM file p WHERE f.cause = 'proto.lost_answer' AND p.destination_id = f.destination_id
          AND p.key = f.key AND p.live IS NULL AND p.may_have_arrived = 1 AND p.size = f.size AND p.mtime_ns = f.mtime_ns)
        AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id
        AND (a.outcome IN ('unknown', 'crashed') OR (a.may_have_arrived AND a.outcome NOT IN ('ok', 'open'))))
      """
    ),
    (
      "I23 no row ends before it starts",
      """
      SELECT 'attempt', id FROM attempt WHERE ended_at < started_at
      UNION ALL SELECT 'file', id FROM file WHERE finished_at < started_at
      UNION ALL SELECT 'run', id FROM engine_run WHERE ended_at < started_at
      """
    ),
    (
      // A server may begin a range earlier than requested, even with the first byte of the file.
      "I26 at most one chunk is sent again for each lost connection",
      """
      SELECT a.file_id FROM attempt a JOIN chunk c ON c.id = a.chunk_id JOIN file f ON f.id = a.file_id
      WHERE a.operation = 'part' GROUP BY a.file_id
      HAVING sum(iif(a.outcome = 'ok', iif(f.is_download, 0, a.bytes_transferred - a.bytes_acked), a.bytes_transferred))
        > iif(max(f.is_download), max(f.size), max(max(c.length), coalesce(max(f.first_chunk_size), 0)))
          * sum(a.outcome <> 'ok')
      """
    ),
  ]
}
