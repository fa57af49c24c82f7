import TransferLedger
package import TransferModel

/// What has happened, by the numbers of its rows.
extension StoreReader {
  /// What was done to the files and batches that the filter selects, after number `after`, transaction by transaction
  /// as it was recorded.
  package func eventParts(_ filter: RowFilter, after: Int64, limit: Int) throws -> [EventRow] {
    try reader.eventParts(filter, after: after, limit: limit)
  }

  /// Attempts that have ended, by number, after number `after`; only those of `ids` when it is given.
  package func endedAttempts(_ filter: RowFilter, after: Int64, among ids: [AttemptID]? = nil, limit: Int = .max) throws
    -> [FollowedAttempt]
  { try reader.endedAttempts(filter, after: after, among: ids, limit: limit) }

  /// Attempts that have ended, by number, after number `after`, for programs that collect spans.
  package func spans(_ filter: RowFilter, after: Int64, limit: Int) throws -> [SpanRow] {
    try reader.spans(filter, after: after, limit: limit)
  }

  /// The numbers of the newest event and attempt; 0 where there is none.
  package func newestNumbers() throws -> (event: Int64, attempt: Int64) { try reader.newestNumbers() }

  /// Attempts that have no end yet: what one who follows still has to hear of. Their errors are to come, and the states
  /// of their files will change, so that neither is asked for.
  package func openAttempts(_ filter: RowFilter) throws -> [AttemptID] { try reader.openAttempts(filter) }
}
