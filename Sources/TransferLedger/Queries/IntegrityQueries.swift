import TransferModel

extension LedgerReader {
  /// How the done files that the filter selects are confirmed. Reads the first and the newest receipt of each. A later
  /// finding against a file counts no longer when a newer one is done in its place. What another shard of a merged
  /// ledger replaced with other content counts as a finding.
  package func integrity(_ filter: RowFilter) throws -> IntegrityFigures {
    var found = IntegrityFigures()
    found.methods = try db.rows(
      """
      SELECT coalesce(r.confirmation, 'missing'), count(*), sum_bytes(f.size), min(r.recorded_at), max(r.recorded_at)
      FROM file f LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE f.state = 'done' AND {files}
      GROUP BY 1 ORDER BY 1
      """, filter
    ) { row in
      IntegrityMethod(
        method: row.text(0), files: row.int(1), bytes: row.int64(2), oldestMs: row.int64OrNil(3),
        newestMs: row.int64OrNil(4))
    }
    found.checks = try db.rows(
      """
      SELECT r.finding, count(*), min(r.recorded_at), max(r.recorded_at)
      FROM file f CROSS JOIN receipt r ON r.file_id = f.id
        AND r.n = (SELECT max(n) FROM receipt WHERE file_id = f.id) AND r.n > 1
      WHERE f.state = 'done' AND {files}
        AND NOT (r.finding IN ('lost', 'differs', 'changed', 'missing') AND {replaced})
      GROUP BY r.finding ORDER BY r.finding
      """, filter
    ) { IntegrityCheck(finding: $0.text(0), files: $0.int(1), oldestMs: $0.int64(2), newestMs: $0.int64(3)) }
    if let replacement = try replacementByShards(filter) {
      found.checks.append(replacement)
      found.checks.sort { $0.finding < $1.finding }
    }
    found.mismatched =
      try db.first(
        """
        SELECT count(*) FROM file f WHERE f.state = 'failed' AND f.cause = 'integrity.mismatch' AND {files}
        """, filter
      ) { $0.int(0) } ?? 0
    return found
  }

  /// Done files of which the newest check did not find what was stored, as in ``integrity(_:)``. The cost depends only
  /// on the number of such checks and, in a merged ledger, of files at places that several shards have used.
  package func contradicted(_ filter: RowFilter) throws -> Int {
    let replaced = try replacementByShards(filter)?.files ?? 0
    let checked = try db.first(
      """
      SELECT count(*) FROM receipt r INDEXED BY receipt_contradiction CROSS JOIN file f ON f.id = r.file_id
      WHERE r.finding IN ('lost', 'differs', 'changed', 'missing') AND f.state = 'done' AND {files}
        AND NOT EXISTS (SELECT 1 FROM receipt n WHERE n.file_id = r.file_id AND n.n > r.n)
        AND NOT {replaced}
      """, filter
    ) { $0.int(0) }
    return replaced + (checked ?? 0)
  }
}
