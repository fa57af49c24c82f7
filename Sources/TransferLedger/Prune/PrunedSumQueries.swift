import TransferModel

/// Sums of deleted attempts, for reports that add up attempts.
extension LedgerReader {
  /// The sums of the deleted attempts that the filter selects, if it selects whole batches; with a time window, only
  /// sums that are entirely inside it. Empty if the filter asks for details that sums do not have.
  func prunedSums(_ filter: RowFilter) throws -> [PrunedSumRow] {
    guard let batches = filter.prunedScope else { return [] }
    return try prunedRows(batches).filter { $0.place(in: filter) == .inside }
  }

  /// Deleted attempts that the filter may select and ``prunedSums(_:)`` leaves out.
  /// - Parameter isSummed: false for a report that adds up none of them.
  package func prunedHistory(_ filter: RowFilter, isSummed: Bool) throws -> PrunedHistory {
    let batches = filter.prunedScope
    let rows = if let batches { try prunedRows(batches) } else { try prunedRows(filter.withinBatches) }
    return rows.reduce(into: PrunedHistory()) { found, row in
      let place = row.place(in: filter)
      guard place != .outside, batches == nil || !isSummed || place == .onEdge else { return }
      found.add(attempts: row.attempts, firstMs: row.sums.firstMs, lastMs: row.sums.lastMs)
    }
  }

  /// Deleted attempts of a run.
  package func prunedHistory(of run: RunID) throws -> PrunedHistory {
    try prunedRows(nil).reduce(into: PrunedHistory()) { found, row in
      guard row.run == run.rawValue else { return }
      found.add(attempts: row.attempts, firstMs: row.sums.firstMs, lastMs: row.sums.lastMs)
    }
  }

  private func prunedRows(_ batches: [Int64]?) throws -> [PrunedSumRow] {
    guard let batches else { return try db.rows(Self.allPruned, row: PrunedSumRow.init) }
    return try db.rows(Self.prunedOfBatches, .text(try jsonText(batches)), row: PrunedSumRow.init)
  }

  private static let allPruned: StaticString = """
    SELECT batch_id, quarter, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at, last_at, errors,
      latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff, run_id, files, bytes_acked,
      bytes_untold, connects, first_bytes, statuses, versions, after_end FROM pruned_sum
    """
  private static let prunedOfBatches: StaticString = """
    SELECT batch_id, quarter, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at, last_at, errors,
      latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff, run_id, files, bytes_acked,
      bytes_untold, connects, first_bytes, statuses, versions, after_end
    FROM pruned_sum WHERE batch_id IN (SELECT value FROM json_each(?1))
    """
}

extension RowFilter {
  /// The batches whose deleted attempts the filter selects: `.some(nil)` for all of them, nil if it asks for details
  /// that a sum does not have.
  fileprivate var prunedScope: [Int64]?? {
    var anyTime = self
    (anyTime.sinceMs, anyTime.untilMs) = (nil, nil)
    switch SumScope(anyTime) {
    case .everything: return .some(nil)
    case .batches(let ids): return .some(ids)
    case nil: return nil
    }
  }
}

extension PrunedSumRow {
  enum Place { case inside, onEdge, outside }

  /// Where its attempts are relative to the filter's window; an attempt counts in every window that it overlaps.
  fileprivate func place(in filter: RowFilter) -> Place {
    let (since, until) = (filter.sinceMs ?? .min, filter.untilMs ?? .max)
    // All of them began within one quarter.
    let lastStartMs = min(sums.lastMs, startedMs +| (PrunedSums.quarterMs - 1))
    if sums.lastMs < since || sums.firstMs >= until { return .outside }
    return (sums.firstMs >= since || startedMs >= since) && lastStartMs < until ? .inside : .onEdge
  }
}

extension AttemptSums {
  mutating func add(_ row: PrunedSumRow) {
    addWithoutErrors(row.sums)
    for (code, hits) in row.errors { add(hits, of: code) }
  }
}
