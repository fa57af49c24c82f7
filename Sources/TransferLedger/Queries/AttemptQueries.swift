public import TransferModel

extension LedgerReader {
  /// Attempts for the files that the filter selects, ordered by number, starting after `after`; the filter's error is
  /// matched against the attempt.
  public func attempts(_ filter: RowFilter, after: Int64, limit: Int) throws -> [AttemptRow] {
    try db.rows(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror
      FROM v_attempts a JOIN file f ON f.id = a.file_id
      WHERE a.id > ?1
        AND {attempts}
      ORDER BY a.id LIMIT ?2
      """, filter, .integer(after),
      .int(limit), row: Self.attempt)
  }

  /// The attempts with these numbers, in this order; missing ones are left out.
  public func attempts(_ ids: [Int64]) throws -> [AttemptRow] {
    try db.rows(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror
      FROM json_each(?1) n CROSS JOIN v_attempts a ON a.id = n.value ORDER BY n.key
      """, .text(try jsonText(ids)), row: Self.attempt)
  }

  public func attempt(_ id: AttemptID) throws -> AttemptRow? {
    try db.first(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror
      FROM v_attempts a WHERE a.id = ?1
      """, .id(id), row: Self.attempt)
  }

  /// The beginning of the server's answer, as received; nil if there was none.
  public func replyExcerpt(of id: AttemptID) throws -> NameBytes? {
    try db.first("SELECT reply_excerpt FROM v_attempts WHERE id = ? AND reply_excerpt IS NOT NULL", .id(id)) {
      $0.name(0)
    }
  }

  /// How long the server asked to wait, in milliseconds from the end of the attempt; nil if it did not ask.
  public func retryAfterMs(of id: AttemptID) throws -> Int64? {
    try db.first("SELECT retry_after_ms FROM v_attempts WHERE id = ? AND retry_after_ms IS NOT NULL", .id(id)) {
      $0.int64(0)
    }
  }

  /// The newest attempts for a file, or only for one of its chunks; the oldest of them first.
  public func newestAttempts(of file: FileID, chunk: ChunkID?, limit: Int) throws -> [AttemptRow] {
    try db.rows(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror
      FROM v_attempts a WHERE a.id IN (
        SELECT id FROM attempt WHERE file_id = ?1 AND (?2 IS NULL OR chunk_id = ?2) ORDER BY +id DESC LIMIT ?3)
      ORDER BY a.id
      """, .id(file), .id(chunk), .int(limit), row: Self.attempt)
  }

  static func attempt(_ row: SQLRow) -> AttemptRow {
    AttemptRow(
      id: row.id(0), uid: row.text(1), file: row.id(2), chunk: row.idOrNil(3), run: row.id(4), operation: row.text(5),
      n: row.int64(6), startedMs: row.int64(7), endedMs: row.int64OrNil(8), outcome: row.text(9),
      errorCode: row.textOrNil(10), message: row.textOrNil(11), httpStatus: row.int64OrNil(12),
      curlCode: row.int64OrNil(13), bytesTransferred: row.int64(14), bytesAcked: row.int64(15),
      connectMs: row.int64OrNil(16), firstByteMs: row.int64OrNil(17), totalMs: row.int64OrNil(18),
      remoteIP: row.textOrNil(19), requestID: row.textOrNil(20), backoffMs: row.int64OrNil(21),
      mirror: row.textOrNil(22))
  }
}
