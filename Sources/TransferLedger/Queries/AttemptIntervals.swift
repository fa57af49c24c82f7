import TransferModel

extension LedgerReader {
  /// The start of the first and the end of the last attempt of transfers that the filter selects, without aborts and
  /// queries about done files; open attempts count as ending at `nowMs`. nil if there is none.
  public func attemptSpan(_ filter: RowFilter, nowMs: Int64) throws -> (fromMs: Int64, toMs: Int64)? {
    let read = { (row: SQLRow) in (row.int64OrNil(0), row.int64OrNil(1)) }
    let found =
      if filter.isEverything {
        try db.first(
          """
          SELECT min(a.started_at), max(max(a.started_at, coalesce(a.ended_at, ?1))) FROM attempt a
          WHERE a.operation <> 'abort' AND NOT (a.chunk_id IS NULL AND a.operation IN ('verify', 'probe')
            AND EXISTS (SELECT 1 FROM file f WHERE f.id = a.file_id AND f.state = 'done' AND a.started_at > f.finished_at))
          """, .integer(nowMs), row: read)
      } else {
        try db.first(
          """
          SELECT min(a.started_at), max(max(a.started_at, coalesce(a.ended_at, ?1)))
          FROM attempt a JOIN file f ON f.id = a.file_id WHERE NOT {after its end} AND {attempts}
          """, filter, .integer(nowMs), row: read)
      }
    guard let from = found?.0, let to = found?.1 else { return nil }
    return (from, to)
  }

  /// Passes each attempt that the filter selects to `each`, ordered by number; keeps none in memory. Nothing that a
  /// superseded generation stored, or that was lost, counts as acked.
  package func attemptIntervals(_ filter: RowFilter, each: (AttemptInterval) -> Void) throws {
    let take = { (row: SQLRow) in
      each(
        AttemptInterval(
          startedMs: row.int64(0), endedMs: row.int64OrNil(1), bytesTransferred: row.int64(2), bytesAcked: row.int64(3),
          isError: row.flag(4)))
    }
    if filter.isEverything {
      _ = try db.rows(
        """
        SELECT a.started_at, a.ended_at, a.bytes_transferred, {counted of all},
          a.outcome <> 'ok' AND a.outcome <> 'open' AND a.outcome <> 'interrupted'
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        """, filter, row: take)
    } else {
      _ = try db.rows(
        """
        SELECT a.started_at, a.ended_at, a.bytes_transferred, {counted},
          a.outcome <> 'ok' AND a.outcome <> 'open' AND a.outcome <> 'interrupted'
        FROM attempt a JOIN file f ON f.id = a.file_id WHERE {attempts}
        """, filter, row: take)
    }
  }
}
