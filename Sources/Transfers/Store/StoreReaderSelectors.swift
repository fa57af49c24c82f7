import TransferLedger
package import TransferModel

/// What turns the words of people into a filter.
extension StoreReader {
  /// By number (`b12`) or by name; a name wins.
  package func batch(named text: String) throws -> BatchID? { try reader.batch(named: text) }

  /// The same; in a merged store a name means the batches of that name of all shards.
  package func batches(named text: String) throws -> [BatchID] { try reader.batches(named: text) }

  package func newestBatch() throws -> BatchID? { try reader.newestBatch() }

  /// The first id that the filter names and that is not there, as people type it. Of a range, one row is enough.
  package func firstMissing(_ filter: RowFilter) throws -> String? { try reader.firstMissing(filter) }

  /// When the first row was deleted that the filter names and that is not there; nil when there never was such a row.
  package func firstPruned(_ filter: RowFilter) throws -> PrunedRow? { try reader.firstPruned(filter) }

  /// Deleted attempts that the filter may mean, and that a report does not count.
  /// - Parameter isSummed: it adds up the sums that were kept of deleted attempts.
  package func prunedHistory(_ filter: RowFilter, isSummed: Bool) throws -> PrunedHistory {
    try reader.prunedHistory(filter, isSummed: isSummed)
  }

  /// Ids (`b12`, `f345`, `a77`) of the rows whose uid begins like this, at most `limit`; attempts when they are wanted.
  package func rows(withUID prefix: UIDPrefix, limit: Int, findsAttempts: Bool) throws -> [String] {
    try reader.rows(withUID: prefix, limit: limit, findsAttempts: findsAttempts)
  }

  /// Whether an error code looks like this.
  package func knowsError(_ glob: String) throws -> Bool { try reader.knowsError(glob) }

  /// Whether anything was tidied away.
  package func hasHiddenRows() throws -> Bool { try reader.hasHiddenRows() }

  /// All files that are not hidden.
  package func shown() throws -> RowFilter { try reader.shown() }
}
