public import TransferModel

/// Quotas of jobs. Every engine observes them, whoever started it.
extension LedgerTransaction {
  /// Sets the quota of a job, or removes it if nil. Setting a quota clears the time at which the old one was reached.
  public func setQuota(ofJob job: String, _ quota: JobQuota?) throws {
    guard let quota else {
      try db.run("DELETE FROM job_quota WHERE job = ?", .text(job))
      return
    }
    try db.run(
      """
      INSERT INTO job_quota (job, bytes, period) VALUES (?1, ?2, ?3)
      ON CONFLICT (job) DO UPDATE SET bytes = ?2, period = ?3, reached_at = NULL
      """, .text(job), .integer(quota.bytes), .raw(quota.period))
  }

  /// Records that a file of the job was held back now because the quota leaves no room for it.
  public func noteQuotaReached(_ job: String, _ quota: JobQuota) throws {
    try db.run(
      "UPDATE job_quota SET reached_at = ?2 WHERE job = ?1 AND bytes = ?3 AND period = ?4", .text(job), .int(wallMs),
      .integer(quota.bytes), .raw(quota.period))
  }
}
