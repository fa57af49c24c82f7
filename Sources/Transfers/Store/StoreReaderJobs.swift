import TransferLedger
package import TransferModel

/// Facts about configured jobs.
extension StoreReader {
  /// How the last run of each job ended, by name.
  package func jobs() throws -> [JobRow] { try reader.jobs() }

  /// The newest batches of a job, newest first.
  package func newestBatches(ofJob job: String, limit: Int) throws -> [BatchID] {
    try reader.newestBatches(ofJob: job, limit: limit)
  }

  /// Whether a job has a batch, or has run.
  package func knowsJob(_ job: String) throws -> Bool { try reader.knowsJob(job) }

  /// The quota of a job, and what its attempts have sent in the current period; nil for a job without one.
  package func quota(ofJob job: String, nowMs: Int64) throws -> QuotaUsage? {
    guard let row = try reader.quota(ofJob: job) else { return nil }
    let startMs = row.quota.period.localStart(of: nowMs)
    return QuotaUsage(
      quota: row.quota, sent: try reader.bytesSent(ofJob: job, sinceMs: startMs), startMs: startMs,
      endMs: row.quota.period.nextLocalStart(after: nowMs), reachedMs: row.reachedMs)
  }

  /// The job that created a batch; nil if a command did.
  package func job(of batch: BatchID) throws -> String? { try reader.job(of: batch) }

  /// The jobs whose files wait for the next period of their quota.
  package func jobsAtQuota(nowMs: Int64) throws -> Set<String> {
    let reached = try reader.reachedQuotas().filter { row in
      let period = row.quota.period
      return row.reachedMs.map { (period.localStart(of: nowMs)..<period.nextLocalStart(after: nowMs)).contains($0) }
        ?? false
    }
    return Set(reached.map(\.job))
  }

  /// The files that are not at rest, of one job or, with nil, of all jobs.
  package func unfinished(ofJob job: String?) throws -> UnfinishedFiles { try reader.unfinished(ofJob: job) }

  /// The destinations for which a job has files left, with what the attempts after `mark` came to there.
  package func remaining(ofJob job: String, since mark: AddedFiles.Mark) throws -> [RemainingDestination] {
    try reader.remaining(ofJob: job, since: mark)
  }

  /// Files of a job that were not sent because another file had delivered their content.
  package func duplicates(ofJob job: String) throws -> Int { try reader.duplicates(ofJob: job) }
}
