import TransferModel

extension LedgerReader {
  /// Checks every file that the filter selects with its chunks and receipts, and the whole log.
  package func lossProof(_ filter: RowFilter) throws -> LossProof {
    var (files, bytes): ([FileState: Int], Int64) = ([:], 0)
    // Only the counts are kept in memory. A sum in SQL would fail for sizes near 2^63.
    _ = try db.rows("SELECT f.state, f.size FROM file f WHERE {files}", filter) { row throws(SQLiteError) in
      let state: FileState = try row.named(0)
      files[state, default: 0] += 1
      if state == .done { bytes +|= row.int64(1) }
    }
    let broken = try Self.lossRules.flatMap { rule, sql in
      try db.rows(sql, filter, .int(LossProof.most)) { row in
        LossProof.Violation(file: row.id(0), rule, detail: row.text(2), path: row.name(1))
      }
    }
    let replaced = try replacedByShards(filter, limit: LossProof.most)
    let log = try logFindings().map { LossProof.Violation(file: nil, .log, detail: $0, path: nil) }
    let pruned = try db.first(
      "SELECT count(*) FROM pruned_file q CROSS JOIN file f ON f.id = q.file_id WHERE {files}", filter
    ) { $0.int(0) }
    return LossProof(
      files: files, bytes: bytes, pruned: pruned ?? 0, leftOut: try leftOut(filter), violations: broken + replaced + log
    )
  }

  /// What the last scans for the jobs and places of the selected files left out.
  private func leftOut(_ filter: RowFilter) throws -> LossProof.LeftOut {
    try db.first(
      """
      SELECT count(*), coalesce(sum(s.excluded), 0), coalesce(sum(s.not_ready), 0), coalesce(sum(s.special), 0),
        coalesce(sum(s.known), 0), coalesce(sum(s.refused), 0)
      FROM scan s WHERE (s.job, s.place) IN (
        SELECT DISTINCT coalesce(b.job, ''), d.place
        FROM file f CROSS JOIN batch b ON b.id = f.batch_id CROSS JOIN destination d ON d.id = f.destination_id
        WHERE {files})
      """, filter
    ) {
      LossProof.LeftOut(
        scans: $0.int(0), excluded: $0.int(1), notReady: $0.int(2), special: $0.int(3), known: $0.int(4),
        refused: $0.int(5))
    } ?? LossProof.LeftOut()
  }

  /// Each statement returns the files that break a rule, with their paths and a reason. If the receipt of a file has a
  /// note, a person confirmed the file, and its chunks need no evidence.
  static let lossRules: [(LossProof.Rule, StaticString)] = [
    (
      .ended,
      """
      SELECT f.id, f.path, 'is ' || f.state FROM file f
      WHERE f.state NOT IN ('done', 'failed', 'cancelled', 'superseded') AND {files} ORDER BY f.id LIMIT ?1
      """
    ),
    (
      .tiled,
      """
      SELECT f.id, f.path, 'its chunks do not cover it' FROM file f
      WHERE (f.chunk_count IS NOT (SELECT nullif(count(*), 0) FROM chunk c WHERE c.file_id = f.id)
          AND NOT (EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
            AND NOT EXISTS (SELECT 1 FROM chunk x WHERE x.file_id = f.id))
        OR f.state = 'done' AND f.chunk_count IS NULL
          AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.file_id = f.id AND r.n = 1 AND r.note IS NOT NULL)
        OR EXISTS (SELECT 1 FROM chunk c LEFT JOIN chunk n ON n.file_id = c.file_id AND n.seq = c.seq + 1
          WHERE c.file_id = f.id AND (c.offset + c.length <> coalesce(n.offset, f.size)
            OR c.seq = 0 AND c.offset <> 0 OR c.seq >= f.chunk_count)))
        AND {files} ORDER BY f.id LIMIT ?1
      """
    ),
    (
      .won,
      """
      SELECT f.id, f.path, 'chunk ' || (SELECT min(c.seq) FROM chunk c LEFT JOIN attempt a ON a.id = c.done_attempt
          WHERE c.file_id = f.id AND (c.state <> 'done' AND f.state = 'done'
            OR c.state = 'done' AND (a.outcome IS NOT 'ok' OR a.file_id <> f.id)))
        || ' has no attempt that succeeded'
      FROM file f
      WHERE EXISTS (SELECT 1 FROM chunk c LEFT JOIN attempt a ON a.id = c.done_attempt
          WHERE c.file_id = f.id AND (c.state <> 'done' AND f.state = 'done'
            OR c.state = 'done' AND (a.outcome IS NOT 'ok' OR a.file_id <> f.id)))
        AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.file_id = f.id AND r.n = 1 AND r.note IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
        AND {files} ORDER BY f.id LIMIT ?1
      """
    ),
    (
      .receipt,
      """
      SELECT f.id, f.path, iif(f.state <> 'done', 'has a receipt but is not done',
          iif(r.file_id IS NULL, 'has no receipt', 'the digests of its receipt differ'))
      FROM file f LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE ((f.state = 'done') <> (r.file_id IS NOT NULL) OR r.confirmation = 'digest' AND r.digest <> r.remote_digest)
        AND {files} ORDER BY f.id LIMIT ?1
      """
    ),
    (
      .kept,
      """
      SELECT f.id, f.path, iif(r.finding = 'differs', 'is now another object', 'was later found ' || r.finding)
      FROM file f JOIN receipt r ON r.file_id = f.id
      WHERE r.n = (SELECT max(n) FROM receipt WHERE file_id = f.id)
        AND r.finding IN ('lost', 'differs', 'changed', 'missing')
        AND NOT {replaced}
        AND {files} ORDER BY f.id LIMIT ?1
      """
    ),
  ]
}
