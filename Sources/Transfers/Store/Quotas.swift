import TransferLedger
package import TransferModel

extension TransferStore {
  /// Sets the quota of a job for all engines, or removes it if nil; durable on return. Writes only changes, and does
  /// not create a ledger only to remove a quota.
  package func setQuota(ofJob job: String, _ quota: JobQuota?) throws(TransferError) {
    guard let ledger = try quota == nil ? openForReading() : open(.create)
    else { return }
    defer { ledger.close() }
    guard try ledger.read({ reader in try reader.quota(ofJob: job)?.quota }) != quota else { return }
    let writing = try open(.existing)
    defer { writing.close() }
    try writing.write { tx in try tx.setQuota(ofJob: job, quota) }
  }
}
