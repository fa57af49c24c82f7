import TransferLedger
package import TransferModel

/// What has happened, by the numbers of its rows.
extension StoreReader {
  /// What was done to the files and batches that the filter selects, after number `after`, transaction by transaction
  /// as it was recorded.
  package func eventParts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, limit: Int
  ) throws -> [EventRow] { try reader.eventParts(filter, after: after, before: before, limit: limit) }

  /// Attempts that have ended, by number, after number `after` and before number `before`; only those of `ids` when it
  /// is given.
  package func endedAttempts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, among ids: [AttemptID]? = nil, limit: Int = .max
  ) throws -> [FollowedAttempt] {
    try reader.endedAttempts(filter, after: after, before: before, among: ids, limit: limit)
  }

  /// Attempts that have ended, by number, after number `after`, for programs that collect spans.
  package func spans(_ filter: RowFilter, after: Int64, limit: Int) throws -> [SpanRow] {
    try reader.spans(filter, after: after, limit: limit)
  }

  /// The numbers of the newest event and attempt; 0 where there is none.
  package func newestNumbers() throws -> (event: Int64, attempt: Int64) { try reader.newestNumbers() }

  /// The same of each part of a merged ledger; any other ledger is one part.
  package func newestNumbersOfParts() throws -> [NewestNumbers] { try reader.newestNumbersOfParts() }

  /// Attempts that have no end yet: what one who follows still has to hear of. Their errors are to come, and the states
  /// of their files will change, so that neither is asked for.
  package func openAttempts(_ filter: RowFilter) throws -> [AttemptID] { try reader.openAttempts(filter) }
}
