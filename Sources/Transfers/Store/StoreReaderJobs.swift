import TransferLedger
package import TransferModel

/// What is known of configured jobs.
extension StoreReader {
  /// How the last run of each job ended, by name.
  package func jobs() throws -> [JobRow] { try reader.jobs() }

  /// The newest batches that a job made, newest first.
  package func newestBatches(ofJob job: String, limit: Int) throws -> [BatchID] {
    try reader.newestBatches(ofJob: job, limit: limit)
  }

  /// Whether a job has made a batch, or has run.
  package func knowsJob(_ job: String) throws -> Bool { try reader.knowsJob(job) }

  /// The files that are not at rest: of a job, or with nil of all.
  package func unfinished(ofJob job: String?) throws -> UnfinishedFiles { try reader.unfinished(ofJob: job) }
}
