/// What the files of an `add` or a plan came to. Counts are files unless they say otherwise.
public struct SourceCounts: Sendable, Hashable {
  /// Recorded as work, or to be recorded.
  public var added = 0
  /// Of the added: those that take the place of an older version.
  public var changed = 0
  public var unchanged = 0
  /// Of the unchanged: their sources stay although sources are to go, because another batch sent them.
  public var staying = 0
  /// Already waiting or in work, from an earlier batch.
  public var queued = 0
  /// Had failed before, unchanged since: tried again, in their earlier batch.
  public var requeued = 0
  /// Named more than once; taken once.
  public var repeated = 0
  /// The outcome of their last upload is unknown: they are not sent again by themselves.
  public var unknown = 0
  /// Could not be read or cannot be expressed at the destination.
  public var failed = 0
  /// Links, FIFOs, sockets, devices, and the ledger's own files.
  public var special = 0
  /// A folder that is not entered counts as one.
  public var excluded = 0
  /// The excluded by the rule that left them out, as typed: `--exclude *.tmp`.
  public var excludedBy: [String: Int] = [:]
  /// Of the added and the queued: not sent before they have been quiet for their settle time.
  public var settling = 0
  /// Not recorded, because the file that shows that they are complete is not there.
  public var notReady = 0
  /// Of the added, in bytes.
  public var bytes: Int64 = 0

  public init() {}

  /// Adds what a scan saw and gave to nobody.
  public mutating func add(unrecorded seen: SourceCounts) {
    special += seen.special
    excluded += seen.excluded
    notReady += seen.notReady
    excludedBy.merge(seen.excludedBy, uniquingKeysWith: +)
  }
}
