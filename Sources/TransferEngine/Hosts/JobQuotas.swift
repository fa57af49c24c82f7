import TransferLedger
import TransferModel

/// The quotas of jobs, and the room on the disks of batches: owner of the accounts, which start from the bytes that
/// attempts in the ledger have sent, and of the ``FullDiskWatch``. Used by the engine's thread.
final class JobQuotas {
  /// Interval between checks for the end of a period, in milliseconds.
  private static let lookMs: Int64 = 1_000

  private let engine: Engine
  private let claims: Claims
  private var accounts: [String: QuotaAccount] = [:]
  /// The job of a batch with a quota; nil for a batch without one.
  private var jobs: [BatchID: String?] = [:]
  private var nextLookMs: Int64 = 0
  /// Batches whose target disk has no room, whatever their quota.
  var fullDisks = FullDiskWatch()

  init(_ engine: Engine, _ claims: Claims) { (self.engine, self.claims) = (engine, claims) }

  /// Batches of which no file is begun.
  var resting: Set<BatchID> {
    if accounts.isEmpty { return fullDisks.batches }
    return fullDisks.batches.union(jobs.filter { _, job in job.flatMap { accounts[$0]?.isUsedUp } ?? false }.keys)
  }

  /// Whether a file may begin; if not, no file of its batch is begun for now.
  /// - Throws: errors of the store.
  func admits(_ file: ClaimedFile) throws(TransferError) -> Bool {
    guard file.direction == .upload, let job = try job(of: file.batch), var account = accounts[job] else { return true }
    let wasUsedUp = account.isUsedUp
    let mayBegin = account.begin(file.id, bytes: max(0, file.identity.size - file.doneBytes))
    accounts[job] = account
    if !mayBegin, !wasUsedUp {
      let quota = account.quota
      // For display only; the next run checks the quota itself.
      engine.ledger.write({ tx in try tx.noteQuotaReached(job, quota) }, then: { _ in })
    }
    return mayBegin
  }

  func moved(_ bytes: Int64, of file: FileID, in batch: BatchID) {
    if let job = jobs[batch] ?? nil { accounts[job]?.moved(bytes, of: file) }
  }

  func fileLeft(_ file: FileID, of batch: BatchID) {
    guard let job = jobs[batch] ?? nil, accounts[job]?.end(file) == true else { return }
    claims.wake()
  }

  /// Opens the accounts of a period that has started.
  func look() {
    guard !accounts.isEmpty, engine.bootMs >= nextLookMs else { return }
    nextLookMs = engine.bootMs + Self.lookMs
    for (job, account) in accounts {
      let startMs = account.quota.period.localStart(of: engine.wallMs)
      guard startMs != account.startMs else { continue }
      accounts[job] = account.next(startMs: startMs)
      claims.wake()
    }
  }

  private func job(of batch: BatchID) throws(TransferError) -> String? {
    if let known = jobs[batch] { return known }
    guard let row = try engine.ledger.read({ reader in try reader.quota(of: batch) }) else {
      jobs[batch] = .some(nil)
      return nil
    }
    if accounts[row.job] == nil {
      let startMs = row.quota.period.localStart(of: engine.wallMs)
      let sent = try engine.ledger.read { reader in try reader.bytesSent(ofJob: row.job, sinceMs: startMs) }
      accounts[row.job] = QuotaAccount(row.quota, startMs: startMs, sent: sent)
    }
    jobs[batch] = row.job
    return row.job
  }
}
