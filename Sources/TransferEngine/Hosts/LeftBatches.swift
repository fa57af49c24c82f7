import TransferLedger
import TransferModel

/// The batches whose files are left to runs of their jobs, because this run does not keep the limits of these jobs.
/// Used by the engine's thread.
final class LeftBatches {
  private let engine: Engine
  /// Whether a batch is one of them.
  private var known: [BatchID: Bool] = [:]

  init(_ engine: Engine) { self.engine = engine }

  /// Those that were found so far.
  var batches: Set<BatchID> { known.isEmpty ? [] : Set(known.filter(\.value).keys) }

  /// Whether this run may not begin files of the batch.
  /// - Throws: errors of the store.
  func contains(_ batch: BatchID) throws(TransferError) -> Bool {
    let jobs = engine.configuration.leftJobs
    if jobs.isEmpty { return false }
    if let isLeft = known[batch] { return isLeft }
    let job = try engine.ledger.read { reader in try reader.job(of: batch) }
    let isLeft = job.map(jobs.contains) ?? false
    known[batch] = isLeft
    return isLeft
  }

  /// Looks for those that have files now, so that the run does not wait until one of them is due.
  /// - Throws: errors of the store.
  func look() throws(TransferError) {
    for job in engine.configuration.leftJobs {
      let files = try engine.ledger.read { reader in try reader.unfinished(ofJob: job).files }
      for batch in files.batches { known[batch] = true }
    }
  }
}
