import TransferLedger
package import TransferModel

/// Events and attempts, by the numbers of their rows.
extension StoreReader {
  /// Events of the files and batches that the filter selects, after number `after`, one for each transaction that
  /// recorded them.
  package func eventParts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, limit: Int
  ) throws -> [EventRow] { try reader.eventParts(filter, after: after, before: before, limit: limit) }

  /// Ended attempts by number, after number `after` and before number `before`; only those in `ids` if it is given.
  package func endedAttempts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, among ids: [AttemptID]? = nil, limit: Int = .max
  ) throws -> [FollowedAttempt] {
    try reader.endedAttempts(filter, after: after, before: before, among: ids, limit: limit)
  }

  /// Ended attempts by number, after number `after`, for programs that collect spans.
  package func spans(_ filter: RowFilter, after: Int64, limit: Int) throws -> [SpanRow] {
    try reader.spans(filter, after: after, limit: limit)
  }

  /// The numbers of the newest event and attempt; 0 if there is none.
  package func newestNumbers() throws -> (event: Int64, attempt: Int64) { try reader.newestNumbers() }

  /// The same for each part of a merged ledger; any other ledger is one part.
  package func newestNumbersOfParts() throws -> [NewestNumbers] { try reader.newestNumbersOfParts() }

  /// Attempts that have not ended, which a follower has yet to report. They are not filtered by error or file state,
  /// because their errors are not known yet and the states of their files will change.
  package func openAttempts(_ filter: RowFilter) throws -> [AttemptID] { try reader.openAttempts(filter) }
}
