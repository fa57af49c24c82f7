import TransferModel

/// Transitions of many files at once. Which ones is written into a temporary table first, so that each statement stays
/// one text with an index behind it, and no list of ids travels through a parameter. SQLite knows nothing of its size:
/// `CROSS JOIN` says that it comes first, or else all files would be read to find a few of them.
extension LedgerTransaction {
  func choose(_ files: [FileID]) throws {
    try db.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (id INTEGER PRIMARY KEY); DELETE FROM temp.chosen")
    for file in files { try db.run("INSERT INTO temp.chosen VALUES (?)", .id(file)) }
  }

  /// pending → paused. What settles is paused when it has settled.
  func pauseChosen() throws {
    try recordChosen("paused", in: [.pending, .settling])
    try db.run(
      "UPDATE file SET wish = 'pause' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'settling' AND wish IS NULL")
    try db.run(
      """
      UPDATE file SET state = 'paused', not_before = NULL, cause = nullif(cause, 'policy.deadline')
      WHERE id IN (SELECT id FROM temp.chosen) AND state = 'pending'
      """)
    try wakeChunksOfChosen()
  }

  /// paused → pending, without the rest of a backoff; what an engine was asked to pause and still has goes on, and so
  /// does what has not settled yet.
  func resumeChosen() throws {
    try db.run(
      "UPDATE file SET state = 'pending' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'paused'")
    try db.run(
      "UPDATE file SET wish = NULL WHERE id IN (SELECT id FROM temp.chosen) AND wish IN ('pause', 'pause-now')")
    try wakeChunksOfChosen()
    try recordChosen("resumed")
  }

  /// settling, pending, paused, unknown → cancelled; their sessions are marked for abort. What is done keeps
  /// its source.
  func cancelChosen() throws {
    try recordChosen("cancelled", in: [.settling, .pending, .paused, .unknown])
    try db.run(
      """
      UPDATE file SET state = 'cancelled', live = NULL, not_before = NULL, wish = NULL, cause = 'policy.cancelled',
        message = iif(state = 'unknown', 'a request whose answer was lost may have taken effect', NULL),
        finished_at = max(coalesce(started_at, 0), ?)
      WHERE id IN (SELECT id FROM temp.chosen) AND state IN ('settling', 'pending', 'paused', 'unknown')
      """, .int(wallMs))
    try wakeChunksOfChosen()
    try dropSessionsOfChosen(.cancelled)
    try revokeRemovalsOfChosen("its file was cancelled before it was removed")
  }

  /// Cancels what is not at rest, and hides all of it.
  func removeChosen() throws {
    try cancelChosen()
    try hideChosen()
    try recordChosen("removed")
  }

  /// Hides what is at rest.
  func cleanChosen() throws {
    try hideChosen()
    try recordChosen("cleaned")
  }

  /// Hides what is at rest, and keeps its sources: what nobody sees any more removes nothing.
  func hideChosen() throws {
    try revokeRemovalsOfChosen("its file was tidied away before it was removed")
    try db.run(
      """
      UPDATE file SET hidden = 1 WHERE id IN (SELECT id FROM temp.chosen) AND hidden IS NULL
        AND state IN ('done', 'failed', 'cancelled', 'superseded')
      """)
  }

  /// Tells the engine that has them. Asking for the same again changes nothing and is no event.
  func askChosen(_ wish: Wish) throws {
    var asked = EventRanges()
    _ = try db.rows(
      """
      SELECT f.id, f.batch_id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
      WHERE f.state IN ('active', 'finishing') AND f.wish IS NOT ? ORDER BY c.id
      """, .raw(wish)
    ) { asked.add($0.id(0), of: $0.id(1)) }
    try record("asked", asked, wish.rawValue)
    try db.run(
      """
      UPDATE file SET wish = ?1
      WHERE id IN (SELECT id FROM temp.chosen) AND state IN ('active', 'finishing') AND wish IS NOT ?1
      """, .raw(wish))
  }

  /// failed, cancelled, unknown → pending, and their failed and unknown chunks with them; their failures are forgotten.
  /// With `startsOver` so is what the server has: chunks that were done are sent again and the session is marked for
  /// abort. Not among the chosen: rows that never had a source (``admitFailed(path:key:code:message:to:)``) and those
  /// with a newer generation, which must both be pushed again; nor downloads whose path another one has.
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
}
