/// Rules that hold in a pruned ledger.
extension LedgerReader {
  static let pruneRules: [(name: String, sql: String)] = [
    (
      "I53 pruned rows are deleted and counted in sums",
      """
      SELECT 'attempt', a.id FROM pruned_range r JOIN attempt a ON a.id BETWEEN r.first_id AND r.last_id WHERE r.kind = 'attempt'
      UNION ALL SELECT 'chunk', c.id FROM pruned_range r JOIN chunk c ON c.id BETWEEN r.first_id AND r.last_id
        WHERE r.kind = 'chunk'
      UNION ALL SELECT 'session', s.id FROM pruned_range r JOIN session s ON s.id BETWEEN r.first_id AND r.last_id
        WHERE r.kind = 'session'
      UNION ALL SELECT 'file', f.id FROM pruned_range r JOIN file f ON f.id BETWEEN r.first_id AND r.last_id
        WHERE r.kind = 'file'
      UNION ALL SELECT 'prune', p.id FROM prune p
        WHERE (SELECT coalesce(sum(last_id - first_id + 1), 0) FROM pruned_range WHERE prune_id = p.id AND kind = 'attempt')
          <> (SELECT coalesce(sum(ok + retry + fatal + unknown + interrupted + crashed + after_end), 0) FROM pruned_sum WHERE prune_id = p.id)
      UNION ALL SELECT 'history', r.first_id FROM pruned_range r WHERE r.kind = 'history' AND r.last_id - r.first_id + 1
        <> (SELECT count(*) FROM pruned_file q WHERE q.file_id BETWEEN r.first_id AND r.last_id)
      UNION ALL SELECT 'history', file_id FROM pruned_file q WHERE (SELECT last_id FROM pruned_range
        WHERE kind = 'history' AND first_id <= q.file_id ORDER BY first_id DESC LIMIT 1) >= q.file_id IS NOT 1
      """
    ),
    (
      "I54 only done files have lost their history",
      """
      SELECT q.file_id FROM pruned_file q LEFT JOIN file f ON f.id = q.file_id
      WHERE f.state IS NOT 'done' OR EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = q.file_id)
      """
    ),
  ]
}
