/// What `store prune` deletes, or would delete, and what stays.
public struct PruneOutcome: Sendable, Hashable {
  /// Rows of one kind.
  public struct Rows: Sendable, Hashable {
    /// Replaced generations, with everything of them.
    public var files: Int64 = 0
    /// Done files that stay with their receipts, and whose attempts, sessions and mostly chunks go.
    public var histories: Int64 = 0
    public var attempts: Int64 = 0
    public var sessions: Int64 = 0
    public var chunks: Int64 = 0
    /// Body bytes that these attempts transferred.
    public var bytesTransferred: Int64 = 0

    public init() {}

    public static func += (sum: inout Rows, more: Rows) {
      sum.files +|= more.files
      sum.histories +|= more.histories
      sum.attempts +|= more.attempts
      sum.sessions +|= more.sessions
      sum.chunks +|= more.chunks
      sum.bytesTransferred +|= more.bytesTransferred
    }
  }

  /// Only what came to rest before this was pruned, in milliseconds since 1970 UTC.
  public var beforeMs: Int64
  public var pruned = Rows()
  /// Files that came to rest before that and keep their history: not done and not replaced, in doubt, merged from
  /// another ledger, or with a session that may be open at its server.
  public var kept: Int64 = 0
  /// Bytes of pages of the ledger that are free for new rows now, that were not before. nil where nothing was changed.
  public var bytesFreed: Int64?
  /// Bytes of the ledger's file, in which free pages count.
  public var fileBytes: Int64 = 0

  public init(beforeMs: Int64) { self.beforeMs = beforeMs }
}

/// When a row went that a person names.
public struct PrunedRow: Sendable, Hashable {
  /// As people type it: `a17`.
  public var id: String
  /// Milliseconds since 1970 UTC.
  public var atMs: Int64

  public init(id: String, atMs: Int64) { (self.id, self.atMs) = (id, atMs) }
}

/// Deleted attempts that a selection may mean, and that its figures do not count: sums do not tell what it asks for.
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
