import TransferLedger
package import TransferModel

/// Queries that turn the input of people into a filter.
extension StoreReader {
  /// The batch with this number (`b12`) or name; a name takes precedence.
  package func batch(named text: String) throws -> BatchID? { try reader.batch(named: text) }

  /// The same; in a merged store, a name selects the batches with that name of all shards.
  package func batches(named text: String) throws -> [BatchID] { try reader.batches(named: text) }

  package func newestBatch() throws -> BatchID? { try reader.newestBatch() }

  /// The first id that the filter names and that does not exist, as people type it. For a range, one existing row is
  /// enough.
  package func firstMissing(_ filter: RowFilter) throws -> String? { try reader.firstMissing(filter) }

  /// When the first missing row that the filter names was deleted; nil if there never was such a row.
  package func firstPruned(_ filter: RowFilter) throws -> PrunedRow? { try reader.firstPruned(filter) }

  /// Deleted attempts that the filter may select, and that a report does not count.
  /// - Parameter isSummed: the report includes the sums that were kept of deleted attempts.
  package func prunedHistory(_ filter: RowFilter, isSummed: Bool) throws -> PrunedHistory {
    try reader.prunedHistory(filter, isSummed: isSummed)
  }

  /// Ids (`b12`, `f345`, `a77`) of the rows whose uid has this prefix, at most `limit`; attempts only if
  /// `findsAttempts`.
  package func rows(withUID prefix: UIDPrefix, limit: Int, findsAttempts: Bool) throws -> [String] {
    try reader.rows(withUID: prefix, limit: limit, findsAttempts: findsAttempts)
  }

  /// Whether an error code matches this pattern.
  package func knowsError(_ glob: String) throws -> Bool { try reader.knowsError(glob) }

  /// Whether anything is hidden.
  package func hasHiddenRows() throws -> Bool { try reader.hasHiddenRows() }

  /// All files that are not hidden.
  package func shown() throws -> RowFilter { try reader.shown() }
}
