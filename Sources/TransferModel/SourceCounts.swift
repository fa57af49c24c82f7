/// The result of an `add` or a plan. Counts are files unless stated otherwise.
public struct SourceCounts: Sendable, Hashable {
  /// Recorded for transfer, or to be recorded.
  public var added = 0
  /// Of the added: those that supersede an older version.
  public var changed = 0
  public var unchanged = 0
  /// Unchanged files whose sources stay although sources are to be removed, because another batch sent them.
  public var staying = 0
  /// Already waiting or active, from an earlier batch.
  public var queued = 0
  /// Not recorded: an older version is being sent right now.
  public var busy = 0
  /// Failed before and unchanged since: retried in their earlier batch.
  public var requeued = 0
  /// Duplicates, which are recorded once.
  public var repeated = 0
  /// The outcome of their last upload is unknown: they are not sent again automatically.
  public var unknown = 0
  /// Could not be read or cannot be expressed at the destination.
  public var failed = 0
  /// Links, FIFOs, sockets, devices, and the ledger's own files.
  public var special = 0
  /// A folder that is not entered counts as one.
  public var excluded = 0
  /// The excluded files by the rule that excluded them, as typed: `--exclude *.tmp`.
  public var excludedBy: [String: Int] = [:]
  /// Of the added and the queued: those that must be unchanged for their settle time first.
  public var settling = 0
  /// Not recorded, because their marker file does not exist.
  public var notReady = 0
  /// Not recorded, because a list of the destination shows that it has them.
  public var known = 0
  /// Of the added, in bytes.
  public var bytes: Int64 = 0

  package init() {}

  /// Adds findings of a scan that were not recorded.
  package mutating func add(unrecorded seen: SourceCounts) {
    special += seen.special
    excluded += seen.excluded
    notReady += seen.notReady
    known += seen.known
    excludedBy.merge(seen.excludedBy, uniquingKeysWith: +)
  }
}
