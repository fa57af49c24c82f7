import TransferModel

/// Reads attempts one at a time, in the order in which they began.
extension LedgerReader {
  /// For a batch with more files than this, all attempts of its time span are read in table order: sorting the numbers
  /// of its own attempts would take memory for each.
  public static let sortedFiles = 10_000

  /// Passes each attempt of the subject to `each`; keeps none in memory. The cost grows with the attempts of the
  /// subject; for a batch with more than `sortedFiles` files, with all attempts between its first and its last.
  package func attemptTraces(
    _ row: WhyRow, sortedFiles: Int = Self.sortedFiles, each: (AttemptTrace) -> Void
  ) throws {
    let take = { (row: SQLRow) throws(SQLiteError) in each(try Self.trace(row)) }
    switch row.subject {
    case .file(let id):
      _ = try db.rows(Self.tracesOfFile, .id(id), row: take)
    case .run(let id):
      let shard = ShardNumber(ofRow: id.rawValue)
      let from = try firstAttempt(of: shard) { $0.run >= id.rawValue }
      let next = try firstAttempt(of: shard) { $0.run > id.rawValue }
      _ = try db.rows(Self.tracesInRange, .integer(from), .integer(next - 1), .null, row: take)
    case .batch(let id) where row.files ?? 0 <= sortedFiles:
      _ = try db.rows(Self.tracesOfBatch, .id(id), row: take)
    case .batch(let id):
      let shard = ShardNumber(ofRow: id.rawValue)
      let from = try firstAttempt(of: shard) { $0.startedMs >= row.fromMs }
      let next = try row.toMs.map { toMs in try firstAttempt(of: shard) { $0.startedMs > toMs } } ?? shard.end
      _ = try db.rows(Self.tracesInRange, .integer(from), .integer(next - 1), .id(id), row: take)
    }
  }

  /// The number of the first attempt of a shard for which `isThere` is true, or the number after its last. Attempts of
  /// one ledger are numbered in the order of their runs and, as long as nobody sets the clock back, of their times.
  func firstAttempt(
    of shard: ShardNumber = .own, _ isThere: ((run: Int64, startedMs: Int64)) -> Bool
  ) throws -> Int64 {
    var low = shard.base + 1
    let last = try db.first("SELECT max(id) FROM attempt WHERE id < ?", .integer(shard.end)) { $0.int64OrNil(0) }
    var high = max(low, ((last ?? nil) ?? 0) + 1)
    while low < high {
      let middle = low + (high - low) / 2
      let found = try db.first(
        "SELECT id, run_id, started_at FROM attempt WHERE id >= ? ORDER BY id LIMIT 1", .integer(middle)
      ) { (id: $0.int64(0), at: (run: $0.int64(1), startedMs: $0.int64(2))) }
      if let found, !isThere(found.at) { low = found.id + 1 } else { high = middle }
    }
    return low
  }

  static let tracesOfFile: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, a.remote_ip, f.is_download IS NOT NULL
    FROM attempt a JOIN file f ON f.id = a.file_id WHERE a.file_id = ?1 ORDER BY a.id
    """
  /// The limit keeps SQLite from dropping the ORDER BY of a joined subquery.
  static let tracesOfBatch: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, a.remote_ip, f.is_download IS NOT NULL
    FROM (SELECT n.id AS id FROM file m CROSS JOIN attempt n ON n.file_id = m.id WHERE m.batch_id = ?1 ORDER BY n.id LIMIT -1) s
      CROSS JOIN attempt a ON a.id = s.id CROSS JOIN file f ON f.id = a.file_id
    """
  static let tracesInRange: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, a.remote_ip, f.is_download IS NOT NULL
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR f.batch_id = ?3) ORDER BY a.id
    """

  /// The columns of the statements above.
  static func trace(_ row: SQLRow) throws(SQLiteError) -> AttemptTrace {
    var trace = AttemptTrace(
      file: row.id(0), chunk: row.idOrNil(1), run: row.id(2), operation: try row.named(3), outcome: try row.named(4),
      startedMs: row.int64(5), endedMs: row.int64OrNil(6))
    (trace.errorCode, trace.httpStatus) = (row.textOrNil(7), row.int64OrNil(8))
    (trace.bytesTransferred, trace.bytesAcked) = (row.int64(9), row.int64(10))
    trace.connectMs = [row.int64OrNil(11), row.int64OrNil(12), row.int64OrNil(13)].compactMap(\.self).max()
    trace.dialMs = row.int64OrNil(12).map { $0 -| (row.int64OrNil(11) ?? 0) }.flatMap { $0 > 0 ? $0 : nil }
    (trace.sentMs, trace.firstByteMs, trace.totalMs) = (row.int64OrNil(14), row.int64OrNil(15), row.int64OrNil(16))
    trace.heldMs = row.int64(17)
    (trace.retryAfterMs, trace.backoffMs) = (row.int64OrNil(18), row.int64OrNil(19))
    (trace.remoteIP, trace.isDownload) = (row.textOrNil(20), row.flag(21))
    return trace
  }
}
