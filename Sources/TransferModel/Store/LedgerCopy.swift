/// The kinds of copies of a ledger. Both contain one consistent state, even while an engine writes.
package enum LedgerCopy: String, Sendable, CaseIterable {
  /// A read-only copy for inspection: without the URLs of upload sessions, rewritten without free pages, in rollback
  /// mode, so that everybody who may read the file can open it, also on read-only media; mode 0400.
  case snapshot
  /// A working copy: the same pages in the same positions, in WAL mode, mode 0600. Cheaper, and two backups differ only
  /// where the ledger changed, and in the uid. Unfinished files are marked (``CopyMark``), because the original may
  /// send them after the copy was made.
  case backup
}
