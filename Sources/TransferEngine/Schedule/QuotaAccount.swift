import TransferModel

/// The part of one job's quota that is still available. A file is begun if its remaining bytes fit, or if nothing was
/// sent in the period yet and no other file is active: otherwise a file that is larger than the quota would never be
/// sent. A file that was begun may end, even if it has to send bytes again. A value; times are milliseconds of the
/// run's clock.
struct QuotaAccount: Sendable {
  let quota: JobQuota
  /// The beginning of the period.
  let startMs: Int64
  /// Bytes that were sent in the period, except those of active files.
  private var sent: Int64
  /// For active files: the bytes that they need, and those that they have sent.
  private var inWork: [FileID: (needed: Int64, sent: Int64)] = [:]
  /// A file did not fit: no file is begun after it, so that smaller files cannot overtake a large one forever.
  private(set) var isUsedUp = false

  init(_ quota: JobQuota, startMs: Int64, sent: Int64) {
    (self.quota, self.startMs, self.sent) = (quota, startMs, sent)
  }

  private var spoken: Int64 { inWork.values.reduce(sent) { $0 +| max($1.needed, $1.sent) } }

  /// Whether a file that needs this many bytes may begin; if not, the account is used up.
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

  /// A file has ended or waits. True if there may be capacity again.
  mutating func end(_ file: FileID) -> Bool {
    guard let work = inWork.removeValue(forKey: file) else { return false }
    sent +|= work.sent
    guard isUsedUp, work.sent < work.needed else { return false }
    isUsedUp = false
    return true
  }

  /// The account of the next period: active files stay, and need only their remaining bytes.
  func next(startMs: Int64) -> QuotaAccount {
    var next = QuotaAccount(quota, startMs: startMs, sent: 0)
    next.inWork = inWork.mapValues { (max(0, $0.needed - $0.sent), 0) }
    return next
  }
}
