/// The rows that `store prune` deletes, or would delete, and those it keeps.
package struct PruneOutcome: Sendable, Hashable {
  /// Rows of one kind.
  package struct Rows: Sendable, Hashable {
    /// Superseded generations, deleted with all their rows.
    package var files: Int64 = 0
    /// Done files that keep their receipts but lose their attempts, sessions and usually chunks.
    package var histories: Int64 = 0
    package var attempts: Int64 = 0
    package var sessions: Int64 = 0
    package var chunks: Int64 = 0
    /// Ended callbacks, of these files and of batches.
    package var callbacks: Int64 = 0
    /// Body bytes that these attempts transferred.
    package var bytesTransferred: Int64 = 0

    package init() {}

    package static func += (sum: inout Rows, more: Rows) {
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
  package var beforeMs: Int64
  package var pruned = Rows()
  /// Files that ended before that time and keep their history: not done and not superseded, uncertain, merged from
  /// another ledger, or with a session that may be open on its server.
  package var kept: Int64 = 0
  /// Bytes of pages that became free for new rows. nil if nothing was changed.
  package var bytesFreed: Int64?
  /// Bytes of the ledger's file, including free pages.
  package var fileBytes: Int64 = 0

  package init(beforeMs: Int64) { self.beforeMs = beforeMs }
}

/// A pruned row, with the time.
package struct PrunedRow: Sendable, Hashable {
  /// As people type it: `a17`.
  package var id: String
  /// Milliseconds since 1970 UTC.
  package var atMs: Int64

  package init(id: String, atMs: Int64) { (self.id, self.atMs) = (id, atMs) }
}

/// Deleted attempts that may match a selection but are not included in its figures, because the sums are not detailed
/// enough.
package struct PrunedHistory: Sendable, Hashable {
  package var attempts: Int64 = 0
  /// Start of the first and end of the last of them, in milliseconds since 1970 UTC.
  package var firstMs, lastMs: Int64?

  package init() {}

  package mutating func add(attempts more: Int64, firstMs first: Int64, lastMs last: Int64) {
    attempts +|= more
    firstMs = min(firstMs ?? first, first)
    lastMs = max(lastMs ?? last, last)
  }
}
