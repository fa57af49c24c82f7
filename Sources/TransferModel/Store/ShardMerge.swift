/// The result of one shard in a merge.
public struct ShardMerge: Sendable, Hashable {
  public enum Outcome: String, Sendable, CaseIterable {
    /// All of its current rows are in the merged ledger.
    case merged
    /// It has not changed since it was merged: nothing was written.
    case unchanged
    /// A newer state of it was merged before: nothing was written.
    case older
    /// It was given twice: nothing was written the second time.
    case repeated
  }

  /// The path as given.
  public var path: String
  public var outcome: Outcome
  /// Its number in the merged ledger: its row 7 is row number · 10¹² + 7 there.
  public var number: Int64
  /// The 36-character UUID of the shard or, of a copy, of the ledger that it was copied from.
  public var uid: String
  /// The host of its last engine; empty if there was none.
  public var host: String
  /// Rows of it in the merged ledger.
  public var files: Int64
  public var attempts: Int64
  /// Its engine was running, or was killed: this is an intermediate state.
  public var isUnfinished: Bool
  /// How many of its done uploads have a key that a shard with a lower number has sent, too.
  public var equalKeys: Int64 = 0
  /// How many of these have other content: only what was sent last is at the destination.
  package var otherContents: Int64 = 0

  package init(
    path: String, outcome: Outcome, number: Int64, uid: String, host: String, files: Int64, attempts: Int64,
    isUnfinished: Bool
  ) {
    (self.path, self.outcome, self.number, self.uid, self.host) = (path, outcome, number, uid, host)
    (self.files, self.attempts, self.isUnfinished) = (files, attempts, isUnfinished)
  }
}
