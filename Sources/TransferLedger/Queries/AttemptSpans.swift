import TransferModel

extension LedgerReader {
  /// Passes each attempt that the filter selects to `each`, ordered by number, which is also the order of their starts
  /// as long as nobody sets the clock back; keeps none in memory.
  package func attemptSpans(_ filter: RowFilter, each: (AttemptSpan) -> Void) throws {
    let hosts = try hosts()
    _ = try db.rows(
      """
      SELECT a.id, a.file_id, a.chunk_id, f.batch_id, a.run_id, f.path, a.operation, a.outcome, a.started_at, a.ended_at,
        a.bytes_transferred, a.bytes_acked, a.error_code, a.http_status, a.tls_ms, a.connect_ms, a.dns_ms,
        a.sent_ms, a.first_byte_ms, a.total_ms, a.remote_ip, a.mirror
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE {attempts} ORDER BY a.id
      """, filter
    ) { row in
      var span = AttemptSpan(
        id: row.id(0), file: row.id(1), chunk: row.idOrNil(2), batch: row.id(3), run: row.id(4), path: row.name(5),
        host: hosts.host(of: row.int64(3), mirror: row.textOrNil(21)), operation: row.text(6), outcome: row.text(7),
        startedMs: row.int64(8), endedMs: row.int64OrNil(9), bytesTransferred: row.int64(10), bytesAcked: row.int64(11))
      (span.errorCode, span.httpStatus) = (row.textOrNil(12), row.int64OrNil(13))
      span.connectMs = [row.int64OrNil(14), row.int64OrNil(15), row.int64OrNil(16)].compactMap(\.self).max()
      (span.sentMs, span.firstByteMs, span.totalMs) = (row.int64OrNil(17), row.int64OrNil(18), row.int64OrNil(19))
      span.remoteIP = row.textOrNil(20)
      each(span)
    }
  }
}
