import TransferModel

extension LedgerReader {
  /// Sums over the files that the filter selects. Superseded generations count only with what they sent.
  public func totals(_ filter: RowFilter) throws -> FileTotals {
    let attempts = try attemptSums(filter)
    var totals = try SumScope(filter).map { try fileTotals($0, filter) } ?? fileTotals(filter)
    (totals.bytesTransferred, totals.retries) = (attempts.bytesTransferred, attempts.retries)
    totals.bytesUntold = try untold(filter) +| prunedSums(filter).reduce(0) { $0 +| $1.bytesUntold }
    totals.bytesReused = try reused(filter)
    return totals
  }

  /// For whole batches and for everything: uses indexes and stored sums.
  private func fileTotals(_ scope: SumScope, _ filter: RowFilter) throws -> FileTotals {
    var totals = FileTotals(try stateTotals(filter))
    totals.unverified =
      switch scope {
      case .everything: try unverified(doneSums())
      case .batches(let batches): try batches.reduce(0) { try $0 +| unverified(doneSums(of: $1)) }
      }
    return totals
  }

  /// The same without reading attempts.
  func fileTotals(_ filter: RowFilter) throws -> FileTotals {
    var totals = FileTotals()
    try addFiles(to: &totals, filter)
    totals.bytesAcked = try bytesAcked(filter)
    return totals
  }

  private func addFiles(to totals: inout FileTotals, _ filter: RowFilter) throws {
    let rows = try db.rows(
      """
      SELECT f.state, count(*), sum_bytes(f.size),
        sum(f.state = 'failed' AND f.cause = 'integrity.mismatch'), sum(f.state = 'done' AND
          (SELECT r.confirmation = 'none' FROM receipt r WHERE r.file_id = f.id AND r.n = 1)), sum(f.size IS NULL)
      FROM file f
      WHERE f.state <> 'superseded'
        AND {files}
      GROUP BY f.state
      """, filter
    ) { row in (row.text(0), row.int(1), row.int64(2), row.int(3), row.int(4), row.int(5)) }
    for (state, count, bytes, mismatched, unverified, unsized) in rows {
      totals.add(
        state: state, count: count, bytes: bytes, mismatched: mismatched, unverified: unverified, unsized: unsized)
    }
  }

  /// Files whose history was pruned count with their sizes.
  private func bytesAcked(_ filter: RowFilter) throws -> Int64 {
    let pruned = try db.first(
      "SELECT sum_bytes(f.size) FROM pruned_file q CROSS JOIN file f ON f.id = q.file_id WHERE {files}", filter
    ) { $0.int64(0) }
    return (pruned ?? 0) +| (try bytesOfChunks(filter))
  }

  private func bytesOfChunks(_ filter: RowFilter) throws -> Int64 {
    try db.first(
      """
      SELECT sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM chunk c JOIN file f ON f.id = c.file_id
      WHERE f.state <> 'superseded' AND NOT EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
        AND {files}
      """, filter
    ) { $0.int64(0) } ?? 0
  }

  /// Reused chunks are few and have their own index.
  private func reused(_ filter: RowFilter) throws -> Int64 {
    let pruned = try db.first(
      "SELECT coalesce(sum(q.bytes_reused), 0) FROM pruned_file q CROSS JOIN file f ON f.id = q.file_id WHERE {files}",
      filter
    ) { $0.int64(0) }
    return (pruned ?? 0) +| (try reusedChunks(filter))
  }

  private func reusedChunks(_ filter: RowFilter) throws -> Int64 {
    try db.first(
      """
      SELECT coalesce(sum(c.reused), 0)
      FROM chunk c INDEXED BY chunk_reused CROSS JOIN file f ON f.id = c.file_id
      WHERE c.reused IS NOT NULL AND f.state <> 'superseded'
        AND {files}
      """, filter
    ) { $0.int64(0) } ?? 0
  }

  /// Bytes that attempts may have transferred beyond those that are known. These attempts are few: they are found by
  /// their error, or because they are open.
  func untold(_ filter: RowFilter) throws -> Int64 {
    try db.first(
      """
      SELECT coalesce(sum(o.bytes_transferred_at_most - o.bytes_transferred), 0)
      FROM v_cut_off o JOIN attempt a ON a.id = o.attempt_id JOIN file f ON f.id = o.file_id
      WHERE o.attempt_id IN (SELECT id FROM attempt WHERE error_code = 'engine.crashed'
        UNION ALL SELECT id FROM attempt WHERE outcome = 'open')
        AND {attempts}
      """, filter
    ) { $0.int64(0) } ?? 0
  }
}
