import TransferModel

/// What people do to files. Each verb changes at once what no engine has, asks the engine for the rest, and writes events;
/// all of it is durable on return of the write.
extension LedgerTransaction {
  /// Does what the verb says; the named functions below are the same, one by one.
  public func control(_ verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    switch verb {
    case .pause(let now): try pauseFiles(filter, now: now)
    case .resume: try resumeFiles(filter)
    case .cancel: try cancelFiles(filter)
    case .retry(let startsOver): try retryFiles(filter, startsOver: startsOver)
    case .remove: try hideFiles(filter)
    case .clean(let failed): try hideFinished(filter, failed: failed)
    }
  }

  /// pending → paused; files in an engine's hands are asked.
  public func pauseFiles(_ filter: RowFilter, now: Bool) throws -> ControlOutcome {
    let outcome = try selection(filter).outcome(of: .pause(now: now))
    try choose(outcome.changed)
    try pauseChosen()
    try choose(outcome.asked)
    try askChosen(now ? .pauseNow : .pause)
    return outcome
  }

  /// paused → pending, without the rest of a backoff; what an engine was asked to pause and still has goes on.
  public func resumeFiles(_ filter: RowFilter) throws -> ControlOutcome {
    let outcome = try selection(filter).outcome(of: .resume)
    try choose(outcome.changed)
    try db.run(
      "UPDATE file SET state = 'pending' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'paused'")
    try db.run(
      "UPDATE file SET wish = NULL WHERE id IN (SELECT id FROM temp.chosen) AND wish IN ('pause', 'pause-now')")
    try wakeChunksOfChosen()
    try recordChosen("resumed")
    return outcome
  }

  /// settling, pending, paused, unknown → cancelled, their sessions marked for abort; files in an engine's hands are asked.
  public func cancelFiles(_ filter: RowFilter) throws -> ControlOutcome {
    let outcome = try selection(filter).outcome(of: .cancel)
    try choose(outcome.changed)
    try cancelChosen()
    try choose(outcome.asked)
    try askChosen(.cancel)
    return outcome
  }

  /// Cancels what is not at rest and hides all of it; a batch that has nothing else goes with its files.
  public func hideFiles(_ filter: RowFilter) throws -> ControlOutcome {
    let (outcome, batches) = try (selection(filter).outcome(of: .remove), selection(filter).batches())
    try choose(outcome.changed)
    try cancelChosen()
    try hideChosen()
    try recordChosen("removed")
    try hideEmptied(batches)
    try choose(outcome.asked)
    try askChosen(.remove)
    return outcome
  }

  /// Hides done, cancelled and superseded files, and failed ones when `failed`; batches that have nothing else go with
  /// them.
  public func hideFinished(_ filter: RowFilter, failed: Bool) throws -> ControlOutcome {
    let clean = ControlVerb.clean(failed: failed)
    let (outcome, batches) = try (selection(filter).outcome(of: clean), selection(filter).batches())
    try choose(outcome.changed)
    try hideChosen()
    try db.run(
      """
      INSERT INTO event (at, verb, batch_id, detail)
      SELECT ?, 'cleaned', f.batch_id, count(*) || ' files hidden'
      FROM temp.chosen c JOIN file f ON f.id = c.id GROUP BY f.batch_id
      """, .int(wallMs))
    try hideEmptied(batches)
    return outcome
  }

  private func selection(_ filter: RowFilter) -> LedgerSelection { LedgerSelection(db: db, filter: filter) }

  /// Of these batches, those without a visible file. One that never had a file may still be filling: it counts when it is
  /// an hour old.
  private func hideEmptied(_ batches: [BatchStanding]) throws {
    for batch in batches {
      try db.run(
        """
        UPDATE batch SET hidden = 1 WHERE id = ?1 AND hidden IS NULL
          AND NOT EXISTS (SELECT 1 FROM file WHERE batch_id = ?1 AND hidden IS NULL)
          AND (created_at < ?2 OR EXISTS (SELECT 1 FROM file WHERE batch_id = ?1))
        """, .id(batch.id), .int(wallMs - 3_600_000))
    }
  }
}
