public import TransferModel

/// The quota of a job, and when it last held a file back.
public struct QuotaRow: Sendable, Hashable {
  public var job: String
  package var quota: JobQuota
  /// When an engine last held a file back because of it, in milliseconds since 1970 UTC.
  public var reachedMs: Int64?
}

extension LedgerReader {
  /// The quota of the job that created a batch; nil if there is none.
  public func quota(of batch: BatchID) throws -> QuotaRow? {
    try db.first(
      """
      SELECT q.job, q.bytes, q.period, q.reached_at FROM batch b JOIN job_quota q ON q.job = b.job
      WHERE b.id = ? AND b.origin_id IS NULL
      """, .id(batch), row: Self.quota)
  }

  public func quota(ofJob job: String) throws -> QuotaRow? {
    try db.first("SELECT job, bytes, period, reached_at FROM job_quota WHERE job = ?", .text(job), row: Self.quota)
  }

  /// The quotas that have ever held a file back since they were set.
  package func reachedQuotas() throws -> [QuotaRow] {
    try db.rows(
      "SELECT job, bytes, period, reached_at FROM job_quota WHERE reached_at IS NOT NULL ORDER BY job", row: Self.quota)
  }

  private static func quota(_ row: SQLRow) throws(SQLiteError) -> QuotaRow {
    QuotaRow(
      job: row.text(0), quota: JobQuota(bytes: row.int64(1), per: try row.named(2)), reachedMs: row.int64OrNil(3))
  }

  /// The maximum of the body bytes sent for files of a job by attempts that began at `sinceMs` or later: how much of a
  /// chunk a crashed engine sent is not known. Open attempts do not count. Reads the attempts of the runs that ended
  /// since then or have not ended, and the sums of pruned attempts.
  public func bytesSent(ofJob job: String, sinceMs: Int64) throws -> Int64 {
    let first = try db.first(Self.firstAttempt, .integer(sinceMs)) { $0.int64OrNil(0) } ?? nil
    let sent = try first.map { first in
      try db.first(Self.bytesOfAttempts, .integer(first), .integer(sinceMs), .text(job)) { $0.int64(0) } ?? 0
    }
    let pruned = try db.first(Self.bytesOfPruned, .integer(sinceMs / 900_000), .text(job)) { $0.int64(0) }
    return (sent ?? 0) + (pruned ?? 0)
  }

  // No attempt of a run began after the run ended. This does not assume that attempts are in order of time, so the
  // clock may be set back.
  static let firstAttempt: StaticString = """
    SELECT min(first_attempt) FROM (
      SELECT first_attempt FROM engine_run WHERE ended_at >= ?1 AND origin_id IS NULL
      UNION ALL SELECT first_attempt FROM engine_run WHERE ended_at IS NULL AND origin_id IS NULL)
    """
  static let bytesOfAttempts: StaticString = """
    SELECT coalesce(sum(iif(a.error_code = 'engine.crashed',
      coalesce((SELECT o.bytes_transferred_at_most FROM v_cut_off o WHERE o.attempt_id = a.id), a.bytes_transferred),
      a.bytes_transferred)), 0)
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id CROSS JOIN batch b ON b.id = f.batch_id
    WHERE a.id >= ?1 AND a.id < 1000000000000 AND a.started_at >= ?2 AND a.outcome <> 'open' AND b.job = ?3
    """
  static let bytesOfPruned: StaticString = """
    SELECT coalesce(sum(p.bytes_transferred + p.bytes_untold), 0)
    FROM pruned_sum p CROSS JOIN batch b ON b.id = p.batch_id
    WHERE p.quarter >= ?1 AND p.id < 1000000000000 AND b.job = ?2
    """
}
