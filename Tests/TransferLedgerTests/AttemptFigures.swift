import TransferModel

@testable import TransferLedger

/// What the reports say of attempts: of everything, of the first batch, and of a window, which are added up in
/// different ways.
struct AttemptFigures {
  /// Attempts, retries and errors of periods, of batches, of hosts and of the summary.
  let counts: Set<[Int64]>
  /// Retries in the list of batches.
  let batchRetries: Set<Int64>

  init(_ ledger: Ledger) throws {
    var windowed = RowFilter()
    windowed.untilMs = .max
    let filters = [RowFilter(), .batch(BatchID(rawValue: 1)), windowed]
    (counts, batchRetries) = try ledger.read { reader -> (Set<[Int64]>, Set<Int64>) in
      var found: Set<[Int64]> = []
      for filter in filters {
        let flows =
          try reader.periods(.day, filter).map(\.flow) + reader.batchHistories(filter).map(\.flow)
          + reader.hosts(filter).map(\.flow)
        for flow in flows { found.insert([flow.attempts, Int64(flow.retries), Int64(flow.errors)]) }
        let totals = try reader.attemptTotals(filter)
        found.insert([totals.attempts, Int64(try reader.totals(filter).retries), totals.byOutcome["retry"] ?? 0])
      }
      let rows = try reader.batches(RowFilter(), after: 0, limit: 9, withAttempts: true)
      return (found, Set(rows.map { Int64($0.totals.retries) }))
    }
  }
}
