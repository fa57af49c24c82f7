import TransferModel

extension LedgerTransaction {
  /// Records how a run of a job ended. If two runs overlap, the later end counts: a process that was stopped for hours
  /// does not overwrite a newer end with its older one. An end in the future was written before the clock was set back;
  /// any end replaces it.
  /// - Parameter run: a success if it has a ``JobRow/succeededMs``, or its result is `ok`.
  package func recordJob(_ run: JobRow) throws {
    let applied = try db.run(
      """
      UPDATE job_state SET started_at = ?2, ended_at = ?3, result = ?4, message = ?5,
        succeeded_at = ifnull(?7, succeeded_at)
      WHERE job = ?1 AND (ended_at <= ?3 OR ended_at > ?6)
      """, .text(run.job), .integer(run.startedMs), .integer(run.endedMs), .text(run.result), .string(run.message),
      .integer(wallMs), .int(run.ownSuccessMs))
    if applied == 0 { try addJob(run) }
    guard run.ownSuccessMs == nil else { return }
    try db.run("UPDATE job_state SET failed_runs = failed_runs + 1 WHERE job = ?", .text(run.job))
  }

  private func addJob(_ run: JobRow) throws {
    try db.run(
      """
      INSERT INTO job_state (job, started_at, ended_at, result, message, succeeded_at)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM job_state WHERE job = ?1)
      """, .text(run.job), .integer(run.startedMs), .integer(run.endedMs), .text(run.result), .string(run.message),
      .int(run.ownSuccessMs))
  }
}

extension JobRow {
  /// Its end if this run is a success.
  fileprivate var ownSuccessMs: Int64? { succeededMs != nil || result == "ok" ? endedMs : nil }
}
