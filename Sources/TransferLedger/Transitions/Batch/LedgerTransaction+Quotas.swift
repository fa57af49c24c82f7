import TransferModel

/// Quotas of jobs. Every engine observes them, whoever started it.
extension LedgerTransaction {
  /// Sets the quota of a job, or removes it if nil, with an event. Setting a quota clears the time at which the old one
  /// was reached.
  package func setQuota(ofJob job: String, _ quota: JobQuota?) throws {
    let text = quota.map { "\($0.bytes) bytes per \($0.period.rawValue)" } ?? "none"
    try recordEvent("set", batch: nil, file: nil, detail: "quota of job \(job): \(text)")
    guard let quota else {
      try db.run("DELETE FROM job_quota WHERE job = ?", .text(job))
      return
    }
    let changes = try db.run(
      """
      UPDATE job_quota SET bytes = ?2, period = ?3, reached_at = NULL, after_event = (SELECT max(id) FROM event)
      WHERE job = ?1
      """, .text(job), .integer(quota.bytes), .raw(quota.period))
    guard changes == 0 else { return }
    try db.run(
      "INSERT INTO job_quota (job, bytes, period, after_event) VALUES (?, ?, ?, (SELECT max(id) FROM event))",
      .text(job), .integer(quota.bytes), .raw(quota.period))
  }

  /// Records that a file of the job was held back now because the quota leaves no room for it.
  package func noteQuotaReached(_ job: String, _ quota: JobQuota) throws {
    try db.run(
      "UPDATE job_quota SET reached_at = ?2 WHERE job = ?1 AND bytes = ?3 AND period = ?4", .text(job), .int(wallMs),
      .integer(quota.bytes), .raw(quota.period))
  }
}
