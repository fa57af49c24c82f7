import TransferModel

extension LedgerReader {
  /// Sums over the files that the filter selects. Generations that were replaced count only with what they sent.
  public func totals(_ filter: RowFilter) throws -> FileTotals {
    if filter.isEverything { return try allTotals() }
    var totals = try fileTotals(filter)
    (totals.bytesSent, totals.retries) = try sent(filter)
    return totals
  }

  /// The same without a look at attempts.
  func fileTotals(_ filter: RowFilter) throws -> FileTotals {
    var totals = FileTotals()
    try addFiles(to: &totals, filter)
    totals.bytesAcked = try bytesAcked(filter)
    return totals
  }

  private func addFiles(to totals: inout FileTotals, _ filter: RowFilter) throws {
    let rows = try db.rows(
      """
      SELECT f.state, count(*), coalesce(sum(f.size), 0),
        sum(f.state = 'failed' AND f.cause = 'integrity.mismatch'), sum(f.state = 'done' AND
          (SELECT r.confirmation = 'none' FROM receipt r WHERE r.file_id = f.id))
      FROM file f
      WHERE f.state <> 'superseded'
        AND {files}
      GROUP BY f.state
      """, filter
    ) { row in (row.text(0), row.int(1), row.int64(2), row.int(3), row.int(4)) }
    for (state, count, bytes, mismatched, unverified) in rows {
      totals.add(state: state, count: count, bytes: bytes, mismatched: mismatched, unverified: unverified)
    }
  }

  private func bytesAcked(_ filter: RowFilter) throws -> Int64 {
    try db.first(
      """
      SELECT coalesce(sum(c.length), 0) FROM chunk c JOIN file f ON f.id = c.file_id
      WHERE c.state = 'done' AND f.state <> 'superseded'
        AND {files}
      """, filter
    ) { $0.int64(0) } ?? 0
  }

  private func sent(_ filter: RowFilter) throws -> (bytes: Int64, retries: Int) {
    try db.first(
      """
      SELECT coalesce(sum(a.bytes_sent), 0), coalesce(sum(a.outcome = 'retry'), 0)
      FROM attempt a JOIN file f ON f.id = a.file_id
      WHERE {files}
      """, filter
    ) { ($0.int64(0), $0.int(1)) } ?? (0, 0)
  }
}
