/// What kind of copy is made of a ledger. Both are one consistent state, also while an engine writes.
public enum LedgerCopy: String, Sendable, CaseIterable {
  /// For people who look: without the URLs of upload sessions, rewritten without free pages, in rollback mode, so that
  /// it opens for anyone who may read the file, on read-only media too; mode 0400.
  case snapshot
  /// For going on: the same pages in the same places, write-ahead logging switched on, mode 0600. Cheaper, and a second
  /// backup differs from the first only where the ledger did, and in its uid. Files that were not at rest are marked
  /// (``CopyMark``): the ledger may send them after the copy was made.
  case backup
}
