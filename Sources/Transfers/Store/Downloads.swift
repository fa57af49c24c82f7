import TransferEngine
import TransferLedger
package import TransferModel

extension TransferStore {
  /// Records the files at the URLs in `options` to be fetched; touches no network. Durable on return; adding the same
  /// again while it waits records nothing.
  /// - Throws: `.usage` and `.config` before anything is recorded; errors of the store.
  package func add(_ options: DownloadOptions) throws(TransferError) -> AddResult {
    let target = try DownloadTarget(options)
    let clock = SystemClock()
    let ledger = try Ledger.open(at: path, mode: .create, clock: clock)
    defer { ledger.close() }
    let mark = try ledger.read { reader in try reader.addedMark() }
    let admission = AdmissionTarget(target.batch(options), since: mark, wallMs: clock.wallMs)
    let done = try ledger.write { tx in try tx.admitDownloads(target.files, to: admission) }
    var counts = SourceCounts()
    (counts.added, counts.queued, counts.requeued) = (done.added, done.queued, done.requeued)
    counts.repeated = done.repeated
    return AddResult(
      batch: done.batch, counts: counts, files: AddedFiles(since: mark, batch: done.batch, files: done.files))
  }
}
