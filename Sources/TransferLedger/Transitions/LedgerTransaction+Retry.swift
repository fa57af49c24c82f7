import TransferModel

extension LedgerTransaction {
  /// failed, cancelled, unknown → pending, and their failed and unknown chunks with them; their failures are forgotten.
  /// With `startsOver` so is what the server has: chunks that were done are sent again and the session is marked for abort.
  /// Not among the chosen: rows that never had a source (``admitFailed(path:key:code:message:to:)``) and those with a newer
  /// generation, which must both be pushed again.
  func retryChosen(startsOver: Bool) throws {
    try db.run(
      """
      UPDATE file SET state = 'pending', live = 1, hidden = NULL, cause = NULL, message = NULL, finished_at = NULL,
        not_before = NULL, failures = 0
      WHERE id IN (SELECT id FROM temp.chosen) AND state IN ('failed', 'cancelled', 'unknown')
      """)
    try db.run(
      "UPDATE batch SET hidden = NULL WHERE hidden = 1 AND id IN (SELECT batch_id FROM file WHERE id IN (SELECT id FROM temp.chosen))"
    )
    if startsOver { try dropSessionsOfChosen(.pending) }
    try reviveChunksOfChosen(startsOver: startsOver)
    try recordChosen("retried")
  }

  /// What was stored in a session that is not live any more is not there any more.
  private func reviveChunksOfChosen(startsOver: Bool) throws {
    try db.run(
      """
      UPDATE chunk SET state = 'pending', failures = 0, not_before = NULL
      WHERE file_id IN (SELECT id FROM temp.chosen) AND state IN ('failed', 'unknown', 'waiting')
      """)
    try db.run(
      """
      UPDATE chunk SET state = 'pending', failures = 0, losses = losses + (state = 'done'), etag = NULL, digest = NULL,
        md5 = NULL, confirmation = NULL, done_attempt = NULL, acked = 0, remote = NULL, uncertain = 0
      WHERE file_id IN (SELECT id FROM temp.chosen) AND (state = 'done' OR acked > 0 OR remote IS NOT NULL OR uncertain)
        AND (?1 OR (EXISTS (SELECT 1 FROM session s WHERE s.file_id = chunk.file_id)
          AND NOT EXISTS (SELECT 1 FROM session s
            WHERE s.file_id = chunk.file_id AND s.state = 'open' AND s.abort_after IS NULL)))
      """, .flag(startsOver))
  }
}
