import TransferModel

extension LedgerReader {
  /// Retries of the attempts that the filter selects, without aborts and queries about done files. Reads the attempts
  /// once in table order, and once in the order of the index `attempt_file`.
  package func retries(_ filter: RowFilter) throws -> RetryFigures {
    let hosts = try hosts()
    var (grid, backoffMs): ([RetryPlace: Int64], Int64) = ([:], 0)
    for (batch, mirror, hour, count, waited) in try retriesByHour(filter) {
      grid[RetryPlace(host: hosts.host(of: batch, mirror: mirror), hour: hour), default: 0] += count
      backoffMs +|= waited
    }
    let rows = grid.map { RetryHour(host: $0.key.host, hour: $0.key.hour, retries: $0.value) }
    return RetryFigures(
      grid: rows.sorted { ($0.host, $0.hour) < ($1.host, $1.hour) }, parts: try partTries(filter), backoffMs: backoffMs)
  }

  private func retriesByHour(_ filter: RowFilter) throws -> [(Int64, String?, Int64, Int64, Int64)] {
    let take = { (row: SQLRow) in (row.int64(0), row.textOrNil(1), row.int64(2), row.int64(3), row.int64(4)) }
    if filter.isEverything {
      return try db.rows(
        """
        SELECT f.batch_id, a.mirror, (a.started_at / 3600000 % 24 + 24) % 24, count(*), coalesce(sum(a.backoff_ms), 0)
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.outcome = 'retry' AND NOT {after its end} GROUP BY 1, 2, 3
        """, filter, row: take)
    }
    return try db.rows(
      """
      SELECT f.batch_id, a.mirror, (a.started_at / 3600000 % 24 + 24) % 24, count(*), coalesce(sum(a.backoff_ms), 0)
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.outcome = 'retry' AND NOT {after its end} AND {attempts} GROUP BY 1, 2, 3
      """, filter, row: take)
  }

  private func partTries(_ filter: RowFilter) throws -> [PartTries] {
    let take = { (row: SQLRow) in PartTries(attempts: row.int64(0), chunks: row.int64(1)) }
    if filter.isEverything {
      return try db.rows(
        """
        SELECT n, count(*) FROM (SELECT count(*) AS n FROM attempt INDEXED BY attempt_file WHERE operation = 'part'
          GROUP BY file_id, operation, chunk_id) GROUP BY n ORDER BY n
        """, row: take)
    }
    return try db.rows(
      """
      SELECT n, count(*) FROM (SELECT count(*) AS n FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        WHERE a.operation = 'part' AND {attempts} GROUP BY a.file_id, a.chunk_id) GROUP BY n ORDER BY n
      """, filter, row: take)
  }
}

private struct RetryPlace: Hashable {
  var host: String
  var hour: Int64
}
