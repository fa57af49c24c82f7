/// The rows that `store prune` deletes, or would delete, and those it keeps.
public struct PruneOutcome: Sendable, Hashable {
  /// Rows of one kind.
  public struct Rows: Sendable, Hashable {
    /// Superseded generations, deleted with all their rows.
    public var files: Int64 = 0
    /// Done files that keep their receipts but lose their attempts, sessions and usually chunks.
    public var histories: Int64 = 0
    public var attempts: Int64 = 0
    public var sessions: Int64 = 0
    public var chunks: Int64 = 0
    /// Ended callbacks, of these files and of batches.
    public var callbacks: Int64 = 0
    /// Body bytes that these attempts transferred.
    public var bytesTransferred: Int64 = 0

    public init() {}

    public static func += (sum: inout Rows, more: Rows) {
      sum.files +|= more.files
      sum.histories +|= more.histories
      sum.attempts +|= more.attempts
      sum.sessions +|= more.sessions
      sum.chunks +|= more.chunks
      sum.callbacks +|= more.callbacks
      sum.bytesTransferred +|= more.bytesTransferred
    }
  }

  /// Only files that ended before this time are pruned, in milliseconds since 1970 UTC.
  public var beforeMs: Int64
  public var pruned = Rows()
  /// Files that ended before that time and keep their history: not done and not superseded, uncertain, merged from
  /// another ledger, or with a session that may be open on its server.
  public var kept: Int64 = 0
  /// Bytes of pages that became free for new rows. nil if nothing was changed.
  public var bytesFreed: Int64?
  /// Bytes of the ledger's file, including free pages.
  public var fileBytes: Int64 = 0

  public init(beforeMs: Int64) { self.beforeMs = beforeMs }
}

/// A pruned row, with the time.
public struct PrunedRow: Sendable, Hashable {
  /// As people type it: `a17`.
  public var id: String
  /// Milliseconds since 1970 UTC.
  public var atMs: Int64

  public init(id: String, atMs: Int64) { (self.id, self.atMs) = (id, atMs) }
}

/// Deleted attempts that may match a selection but are not included in its figures, because the sums are not detailed
/// enough.
public struct PrunedHistory: Sendable, Hashable {
  public var attempts: Int64 = 0
  /// Start of the first and end of the last of them, in milliseconds since 1970 UTC.
  public var firstMs, lastMs: Int64?

  public init() {}

  public mutating func add(attempts more: Int64, firstMs first: Int64, lastMs last: Int64) {
    attempts +|= more
    firstMs = min(firstMs ?? first, first)
    lastMs = max(lastMs ?? last, last)
  }
}
