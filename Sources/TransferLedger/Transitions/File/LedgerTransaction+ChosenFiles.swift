import TransferModel

/// Transitions of many files at once. Their IDs are written into a temporary table first, so that each statement has a
/// constant text and can use an index, and no list of IDs is passed as a parameter. SQLite does not know the size of
/// that table: `CROSS JOIN` makes it the outer loop; otherwise all files would be read to find a few of them.
extension LedgerTransaction {
  func choose(_ files: [FileID]) throws {
    try db.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (id INTEGER PRIMARY KEY); DELETE FROM temp.chosen")
    for file in files { try db.run("INSERT INTO temp.chosen VALUES (?)", .id(file)) }
  }

  /// pending → paused. A settling file is paused when it has settled.
  func pauseChosen() throws {
    try recordChosen("paused", in: [.pending, .settling])
    try db.run(
      "UPDATE file SET requested_action = 'pause' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'settling' AND requested_action IS NULL"
    )
    try db.run(
      """
      UPDATE file SET state = 'paused', not_before = NULL, cause = nullif(cause, 'policy.deadline')
      WHERE id IN (SELECT id FROM temp.chosen) AND state = 'pending'
      """)
    try wakeChunksOfChosen()
  }

  /// paused → pending, without the rest of a backoff. Also withdraws the request to pause from files that an engine
  /// still has or that have not settled yet.
  func resumeChosen() throws {
    try db.run(
      "UPDATE file SET state = 'pending' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'paused'")
    try db.run(
      "UPDATE file SET requested_action = NULL WHERE id IN (SELECT id FROM temp.chosen) AND requested_action IN ('pause', 'pause-now')"
    )
    try wakeChunksOfChosen()
    try recordChosen("resumed")
  }

  /// settling, pending, paused, unknown → cancelled; their sessions are marked for abort. What was unknown may have
  /// arrived, and is not sent again unless a person retries it. The sources of done files are kept.
  func cancelChosen() throws {
    try recordChosen("cancelled", in: [.settling, .pending, .paused, .unknown])
    try db.run(
      """
      UPDATE file SET state = 'cancelled', live = NULL, not_before = NULL, requested_action = NULL, cause = 'policy.cancelled',
        message = iif(state = 'unknown', 'a request whose answer was lost may have taken effect', NULL),
        may_have_arrived = iif(state = 'unknown', 1, may_have_arrived),
        finished_at = max(coalesce(started_at, 0), ?)
      WHERE id IN (SELECT id FROM temp.chosen) AND state IN ('settling', 'pending', 'paused', 'unknown')
      """, .int(wallMs))
    try wakeChunksOfChosen()
    try dropSessionsOfChosen(.cancelled)
    try revokeRemovalsOfChosen("its file was cancelled")
  }

  /// Cancels the files that have not ended, and hides all of them. Only this gives up objects that may be the only
  /// copies.
  func removeChosen() throws {
    try giveUpCopiesOfChosen()
    try cancelChosen()
    try hideChosen()
    try releaseCopiesOfChosen()
    try recordChosen("removed")
  }

  /// Hides the files that have ended.
  func cleanChosen() throws {
    try hideChosen()
    try recordChosen("cleaned")
  }

  /// Hides the files that have ended, which says nothing about their objects, and revokes their removals: a hidden file
  /// must not remove its source.
  func hideChosen() throws {
    try revokeRemovalsOfChosen("its file was hidden")
    try db.run(
      """
      UPDATE file SET hidden = 1 WHERE id IN (SELECT id FROM temp.chosen) AND hidden IS NULL
        AND state IN ('done', 'failed', 'cancelled', 'superseded')
      """)
  }

  /// Records a request to the engine that has the files. Repeating a request changes nothing and records no event.
  func askChosen(_ requestedAction: RequestedAction) throws {
    var asked = EventRanges()
    _ = try db.rows(
      """
      SELECT f.id, f.batch_id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
      WHERE f.state IN ('active', 'finishing') AND f.requested_action IS NOT ? ORDER BY c.id
      """, .raw(requestedAction)
    ) { asked.add($0.id(0), of: $0.id(1)) }
    try record("asked", asked, requestedAction.rawValue)
    try db.run(
      """
      UPDATE file SET requested_action = ?1
      WHERE id IN (SELECT id FROM temp.chosen) AND state IN ('active', 'finishing') AND requested_action IS NOT ?1
      """, .raw(requestedAction))
  }

  /// failed, cancelled, unknown → pending, with their failed and unknown chunks; their failure counts are reset. With
  /// `startsOver`, the state on the server is discarded too: chunks that were done are sent again and the session is
  /// marked for abort. The chosen files must not include rows that never had a source
  /// (``admitFailed(path:key:code:message:to:)``) or that have a newer generation, which must both be pushed again, nor
  /// downloads whose path belongs to another download. Of chosen files with one name for the target folder, only the
  /// first is retried.
  func retryChosen(startsOver: Bool) throws {
    try dropOtherCasesFromChosen()
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

  private func dropOtherCasesFromChosen() throws {
    try db.run(
      """
      DELETE FROM temp.chosen WHERE id IN (
        SELECT f.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
        WHERE f.folded IS NOT NULL AND EXISTS (SELECT 1 FROM temp.chosen d CROSS JOIN file g ON g.id = d.id
          WHERE d.id < c.id AND g.folded = f.folded))
      """)
  }
}
