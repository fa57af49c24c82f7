/// What became of one shard in a merge.
public struct ShardMerge: Sendable, Hashable {
  public enum Outcome: String, Sendable, CaseIterable {
    /// Its rows are in the merged ledger, all of them as they are now.
    case merged
    /// It is as it was when it was merged before: nothing was written.
    case unchanged
    /// A newer state of it was merged before: nothing was written.
    case older
    /// It was named twice: nothing was written the second time.
    case repeated
  }

  /// As it was named.
  public var path: String
  public var outcome: Outcome
  /// Which shard of the merged ledger it is: its row 7 is row number · 10¹² + 7 there.
  public var number: Int64
  /// The 36-character UUID of the shard or, of a copy, of the ledger that it was copied from.
  public var uid: String
  /// Where its last engine ran; empty when none did.
  public var host: String
  /// Rows of it in the merged ledger.
  public var files: Int64
  public var attempts: Int64
  /// An engine had not ended in it: this is a state in the middle of its work, or of a work that was cut off.
  public var isUnfinished: Bool

  package init(
    path: String, outcome: Outcome, number: Int64, uid: String, host: String, files: Int64, attempts: Int64,
    isUnfinished: Bool
  ) {
    (self.path, self.outcome, self.number, self.uid, self.host) = (path, outcome, number, uid, host)
    (self.files, self.attempts, self.isUnfinished) = (files, attempts, isUnfinished)
  }
}
