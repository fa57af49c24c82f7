import TransferModel

/// What the quota of one job leaves room for. A file is begun when all that is left of it fits, or alone when nothing
/// was sent in the period yet: a file that is larger than the quota would otherwise never be sent. What is begun may
/// end, whatever it sends again. A value; times are milliseconds of the run's clock.
struct QuotaAccount: Sendable {
  let quota: JobQuota
  /// The beginning of the period.
  let startMs: Int64
  /// Bytes that were sent in the period, but for those of files in work.
  private var sent: Int64
  /// Of files in work: what they need, and what they have sent.
  private var inWork: [FileID: (needed: Int64, sent: Int64)] = [:]
  /// A file did not fit: none is begun after it, so that a large one is not passed by for ever.
  private(set) var isUsedUp = false

  init(_ quota: JobQuota, startMs: Int64, sent: Int64) {
    (self.quota, self.startMs, self.sent) = (quota, startMs, sent)
  }

  private var spoken: Int64 { inWork.values.reduce(sent) { $0 +| max($1.needed, $1.sent) } }

  /// Whether a file may begin that needs so many bytes; if not, the account is used up.
  mutating func begin(_ file: FileID, bytes: Int64) -> Bool {
    let spoken = spoken
    guard !isUsedUp, spoken +| bytes <= quota.bytes || (sent == 0 && inWork.isEmpty) else {
      isUsedUp = true
      return false
    }
    inWork[file] = (bytes, 0)
    return true
  }

  mutating func moved(_ bytes: Int64, of file: FileID) { inWork[file]?.sent +|= bytes }

  /// A file has ended or waits. True if there may be room again.
  mutating func end(_ file: FileID) -> Bool {
    guard let work = inWork.removeValue(forKey: file) else { return false }
    sent +|= work.sent
    guard isUsedUp, work.sent < work.needed else { return false }
    isUsedUp = false
    return true
  }

  /// The next period: files in work stay, and need what is left of them.
  func next(startMs: Int64) -> QuotaAccount {
    var next = QuotaAccount(quota, startMs: startMs, sent: 0)
    next.inWork = inWork.mapValues { (max(0, $0.needed - $0.sent), 0) }
    return next
  }
}
