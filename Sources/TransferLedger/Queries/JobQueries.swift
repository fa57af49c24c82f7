public import TransferModel

extension LedgerReader {
  /// How the last run of each job ended, ordered by job name.
  package func jobs() throws -> [JobRow] {
    try db.rows("SELECT job, started_at, ended_at, result, message, succeeded_at FROM job_state ORDER BY job") { row in
      JobRow(
        job: row.text(0), startedMs: row.int64(1), endedMs: row.int64(2), result: row.text(3),
        message: row.textOrNil(4), succeededMs: row.int64OrNil(5))
    }
  }

  /// The newest batches of a job, newest first; in a merged ledger, by the clocks of its shards.
  public func newestBatches(ofJob job: String, limit: Int) throws -> [BatchID] {
    try db.rows(
      """
      SELECT b.id FROM (SELECT 0 AS n UNION ALL SELECT id FROM origin_store) s CROSS JOIN batch b
      WHERE b.id IN (SELECT id FROM batch WHERE job = ?1 AND id >= s.n * 1000000000000
        AND id < (s.n + 1) * 1000000000000 ORDER BY id DESC LIMIT ?2)
      ORDER BY iif(EXISTS (SELECT 1 FROM origin_store), b.created_at, 0) DESC, b.id DESC LIMIT ?2
      """, .text(job), .int(limit)
    ) { $0.id(0) }
  }

  /// Whether a job has created a batch or has run.
  public func knowsJob(_ job: String) throws -> Bool {
    try db.first(
      "SELECT EXISTS (SELECT 1 FROM batch WHERE job = ?1) OR EXISTS (SELECT 1 FROM job_state WHERE job = ?1)",
      .text(job)
    ) { $0.flag(0) } ?? false
  }

  /// The job that created a batch; nil if a command did.
  package func job(of batch: BatchID) throws -> String? {
    try db.first("SELECT job FROM batch WHERE id = ? AND origin_id IS NULL", .id(batch)) { $0.textOrNil(0) } ?? nil
  }

  /// The unfinished files of a job, or all of them if `job` is nil. Reads only such files, through the indexes of their
  /// states.
  package func unfinished(ofJob job: String?) throws -> UnfinishedFiles {
    var found = UnfinishedFiles()
    _ = try db.rows(Self.unfinishedFiles, .string(job)) { row in
      found.files.insert(row.id(0), of: row.id(1))
      found.count += 1
      found.oldestMs = min(found.oldestMs ?? .max, row.int64(2))
    }
    return found
  }

  /// The destinations for which a job has files left, with what the attempts after `mark` came to there, except those
  /// that the end of the run interrupted. Reads the files that are left, through the indexes of their states, and these
  /// attempts.
  package func remaining(ofJob job: String, since mark: AddedFiles.Mark) throws -> [RemainingDestination] {
    try db.rows(Self.remainingDestinations, .text(job), .integer(mark.attempt)) { row in
      RemainingDestination(url: row.text(0), hadSuccess: row.int64OrNil(1).map { $0 != 0 })
    }
  }

  /// Files of a job that were not sent because another file had delivered their content, if they are the newest
  /// generations of their keys. Reads these files and the superseded ones of the job in an index.
  public func duplicates(ofJob job: String) throws -> Int {
    try db.first(Self.duplicatesOfJob, .text(job)) { $0.int(0) } ?? 0
  }

  static let duplicatesOfJob: StaticString = """
    SELECT count(*) FROM batch b CROSS JOIN file f ON f.batch_id = b.id AND f.state = 'superseded' AND f.state <> 'done'
      AND f.state <> 'active' AND f.state <> 'pending' AND f.state <> 'finishing' AND f.cause = 'policy.duplicate'
    WHERE b.job = ?1 AND f.hidden IS NULL
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live = 1 AND n.generation > f.generation)
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live IS NULL AND n.generation > f.generation)
    """
  static let unfinishedFiles: StaticString = """
    WITH unfinished (id, batch_id, created_at) AS (
      SELECT id, batch_id, created_at FROM file WHERE state = 'pending' AND not_before IS NULL
      UNION ALL SELECT id, batch_id, created_at FROM file WHERE state = 'pending' AND not_before IS NOT NULL
      UNION ALL SELECT id, batch_id, created_at FROM file WHERE state IN ('active', 'finishing')
      UNION ALL SELECT id, batch_id, created_at FROM file WHERE state = 'settling'
      UNION ALL SELECT id, batch_id, created_at FROM file WHERE state = 'paused' AND state <> 'done'
        AND state <> 'active' AND state <> 'pending' AND state <> 'finishing')
    SELECT u.id, u.batch_id, u.created_at FROM unfinished u CROSS JOIN batch b ON b.id = u.batch_id
    WHERE ?1 IS NULL OR b.job = ?1
    """
  static let remainingDestinations: StaticString = """
    WITH remaining (batch_id) AS (
      SELECT batch_id FROM file WHERE state = 'pending' AND not_before IS NULL
      UNION ALL SELECT batch_id FROM file WHERE state = 'pending' AND not_before IS NOT NULL
      UNION ALL SELECT batch_id FROM file WHERE state IN ('active', 'finishing')),
    tried (destination, had_success) AS (
      SELECT b.destination, max(a.outcome = 'ok' OR a.bytes_acked > 0)
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id CROSS JOIN batch b ON b.id = f.batch_id
      WHERE a.id > ?2 AND a.outcome NOT IN ('open', 'interrupted') AND b.job = ?1 GROUP BY b.destination),
    found (destination, first_batch) AS (
      SELECT b.destination, min(b.id) FROM remaining r CROSS JOIN batch b ON b.id = r.batch_id
      WHERE b.job = ?1 GROUP BY b.destination)
    SELECT d.destination, t.had_success FROM found d LEFT JOIN tried t ON t.destination = d.destination
    ORDER BY d.first_batch
    """
}
