import CSQLite
import TransferLog

/// Encodes the rows of a leaf as its bytes: an array in deterministic CBOR (RFC 8949 section 4.2) with the version of
/// this encoding, the kind of row and its columns. docs/receipts.md lists them in order. Used by one thread at a time,
/// within one transaction.
///
/// A merged row is encoded with the numbers that it has in its own ledger (``MergedNumbers``).
///
/// C code writes the columns directly into the buffer that is hashed, and one search finds rows with consecutive
/// numbers: this cost is paid for each attempt and each file. None of these rows may be written between two calls. The
/// buffer belongs to the connection, because the function `leaf` of the queries for many rows writes into it; it is
/// read before the next query.
final class LeafEncoder {
  private let db: Connection
  private let hasher: TreeHasher
  private let buffer: UnsafeMutablePointer<csqlite_buffer>
  /// The counts that ``hash(_:counts:)`` uses instead of those of the row.
  private var counts: SentCounts?
  private var receipt, counted, event, batch, ranges, prune: Statement?
  private let receipts, attempts: RowSeries

  /// The version of the encoding, also in the queries with `leaf`; different columns or a different order would require
  /// a new one.
  static let version: Int64 = 1

  init(_ db: Connection, _ hasher: TreeHasher = TreeHasher()) {
    (self.db, self.hasher) = (db, hasher)
    receipts = RowSeries(db, Self.receipts)
    attempts = RowSeries(db, Self.attempts)
    buffer = db.leafBuffer
  }

  /// nil if the row does not exist.
  /// - Parameter counts: of an attempt, to be used instead of those of its row.
  func hash(_ entry: LogEntry, counts: SentCounts? = nil) throws(SQLiteError) -> TreeHash? {
    self.counts = counts
    defer { self.counts = nil }
    guard try encode(entry) else { return nil }
    return hasher.leaf(UnsafeRawBufferPointer(start: buffer.pointee.bytes, count: buffer.pointee.length))
  }

  /// nil if the row does not exist.
  func bytes(_ entry: LogEntry) throws(SQLiteError) -> [UInt8]? {
    guard try encode(entry) else { return nil }
    return Array(UnsafeBufferPointer(start: buffer.pointee.bytes, count: buffer.pointee.length))
  }

  private func encode(_ entry: LogEntry) throws(SQLiteError) -> Bool {
    repeat {
      if buffer.pointee.length > buffer.pointee.capacity { grow(to: buffer.pointee.length) }
      buffer.pointee.length = 0
      guard try append(entry) else { return false }
    } while buffer.pointee.length > buffer.pointee.capacity
    return true
  }

  private func grow(to length: Int) {
    buffer.pointee.bytes.deallocate()
    buffer.pointee.bytes = .allocate(capacity: length)
    buffer.pointee.capacity = length
  }

  private func append(_ entry: LogEntry) throws(SQLiteError) -> Bool {
    switch entry {
    case .receipt(let file, 1): return try receipts.row(file) != nil
    case .receipt(let file, let n):
      let rows = try kept(&receipt, Self.receipt)
      rows.bind(1, file)
      rows.bind(2, n)
      return try append(rows, Self.receiptColumns, "receipt")
    case .attempt(let id), .credited(let id, _, _):
      guard let counts else { return try attempts.row(id) != nil }
      let rows = try kept(&counted, Self.counted)
      rows.bind(1, id)
      rows.bind(2, counts.transferred)
      rows.bind(3, counts.acked)
      return try append(rows, Self.attemptColumns, "attempt")
    case .event(let id):
      let rows = try kept(&event, Self.event)
      rows.bind(1, id)
      let begun = try kept(&batch, Self.batch)
      begun.bind(1, id)
      defer { begun.reset() }
      let beginsBatch = try begun.step()
      let more = beginsBatch ? 1 + Self.batchColumns : 1
      guard try append(rows, Self.eventColumns, "event", more: more) else { return false }
      try appendRanges(of: id)
      if beginsBatch { csqlite_append_cbor_row(buffer, begun.row.statement, 0, Self.batchColumns) }
      return true
    case .prune(let id):
      let rows = try kept(&prune, Self.prune)
      rows.bind(1, id)
      guard try append(rows, Self.pruneColumns, "prune", more: 3) else { return false }
      try appendAll(Self.prunedRanges, columns: 3, of: id)
      try appendAll(Self.prunedFiles, columns: 5, of: id)
      try appendAll(Self.prunedSums, columns: 27, of: id)
      return true
    }
  }

  private func kept(_ statement: inout Statement?, _ sql: StaticString) throws(SQLiteError) -> Statement {
    if let statement { return statement }
    let made = try db.statement(sql)
    statement = made
    return made
  }

  private func append(
    _ rows: Statement, _ columns: Int32, _ kind: StaticString, more: Int32 = 0
  ) throws(SQLiteError) -> Bool {
    defer { rows.reset() }
    return append(try rows.step() ? rows.row : nil, columns, kind, more: more)
  }

  /// - Parameter more: items that follow the columns.
  private func append(_ row: SQLRow?, _ columns: Int32, _ kind: StaticString, more: Int32) -> Bool {
    guard let row else { return false }
    csqlite_append_cbor_head(buffer, 4, UInt64(2 + columns + more))
    csqlite_append_cbor_integer(buffer, Self.version)
    csqlite_append_cbor_head(buffer, 3, UInt64(kind.utf8CodeUnitCount))
    csqlite_append(buffer, kind.utf8Start, kind.utf8CodeUnitCount)
    csqlite_append_cbor_row(buffer, row.statement, 0, columns)
    return true
  }

  /// Appends an array of the first and the last file of each range.
  private func appendRanges(of event: Int64) throws(SQLiteError) {
    let count = try db.first("SELECT count(*) FROM event_range WHERE event_id = ?", .integer(event)) { $0.int64(0) }
    csqlite_append_cbor_head(buffer, 4, UInt64(2 * (count ?? 0)))
    let rows = try kept(&ranges, Self.ranges)
    rows.bind(1, event)
    defer { rows.reset() }
    while try rows.step() { csqlite_append_cbor_row(buffer, rows.row.statement, 0, 2) }
  }

  /// Appends an array of the columns of all rows, one after the other.
  private func appendAll(_ sql: StaticString, columns: Int32, of id: Int64) throws(SQLiteError) {
    let count = try db.rows(sql, .integer(id)) { _ in true }.count
    csqlite_append_cbor_head(buffer, 4, UInt64(columns) * UInt64(count))
    _ = try db.rows(sql, .integer(id)) { csqlite_append_cbor_row(buffer, $0.statement, 0, columns) }
  }

  private static let receiptColumns: Int32 = 23
  private static let receipt: StaticString = """
    SELECT r.file_id % 1000000000000, r.n, f.uid, f.batch_id % 1000000000000, f.generation, f.is_download, f.path, f.key,
      f.mtime_ns, r.finding, r.size, r.attempt_id % 1000000000000, r.confirmation, r.digest, r.remote_digest, r.sha256, r.etag, r.version_id, r.request_id, r.server_date,
      r.location, r.note, r.recorded_at
    FROM receipt r CROSS JOIN file f ON f.id = r.file_id WHERE r.file_id = ?1 AND r.n = ?2
    """
  /// The first receipts of files, from a number on.
  private static let receipts: StaticString = """
    SELECT r.file_id, leaf(1, 'receipt', r.file_id % 1000000000000, r.n, f.uid, f.batch_id % 1000000000000,
      f.generation, f.is_download, f.path, f.key, f.mtime_ns, r.finding, r.size, r.attempt_id % 1000000000000,
      r.confirmation, r.digest, r.remote_digest, r.sha256, r.etag, r.version_id, r.request_id, r.server_date, r.location,
      r.note, r.recorded_at)
    FROM receipt r CROSS JOIN file f ON f.id = r.file_id WHERE r.file_id >= ?1 AND r.n = 1 ORDER BY r.file_id
    """
  private static let attemptColumns: Int32 = 34
  private static let counted: StaticString = """
    SELECT id % 1000000000000, uid, file_id % 1000000000000, chunk_id % 1000000000000, session_id % 1000000000000,
      run_id % 1000000000000, operation, n, is_repeatable, started_at, outcome, ended_at,
      error_code, message, http_status, curl_code, errno, ?2, ?3, dns_ms, connect_ms, tls_ms, sent_ms, first_byte_ms,
      total_ms, held_ms, remote_ip, http_version, request_id, retry_after_ms, backoff_ms, reply_excerpt, may_have_arrived,
      mirror
    FROM attempt WHERE id = ?1
    """
  /// The attempts from a number on.
  private static let attempts: StaticString = """
    SELECT id, leaf(1, 'attempt', id % 1000000000000, uid, file_id % 1000000000000, chunk_id % 1000000000000,
      session_id % 1000000000000, run_id % 1000000000000, operation, n, is_repeatable, started_at, outcome, ended_at,
      error_code, message, http_status, curl_code, errno, bytes_transferred, bytes_acked, dns_ms, connect_ms, tls_ms,
      sent_ms, first_byte_ms, total_ms, held_ms, remote_ip, http_version, request_id, retry_after_ms, backoff_ms,
      reply_excerpt, may_have_arrived, mirror)
    FROM attempt WHERE id >= ?1 ORDER BY id
    """
  private static let eventColumns: Int32 = 8
  private static let event: StaticString = """
    SELECT id % 1000000000000, at, verb, batch_id % 1000000000000, part_of % 1000000000000, detail,
      iif(id < 1000000000000, origin_id, NULL), iif(id < 1000000000000, origin_event, NULL) FROM event WHERE id = ?1
    """
  private static let batchColumns: Int32 = 9
  /// The request of the batch that begins with this event.
  private static let batch: StaticString = """
    SELECT b.uid, b.name, b.direction, b.job, b.protocol, d.place, b.destination, b.settings, b.created_at
    FROM event e CROSS JOIN batch b ON b.id = e.batch_id CROSS JOIN destination d ON d.id = b.destination_id
    WHERE e.id = ?1 AND e.verb = 'added' AND e.at = b.created_at
    """
  private static let pruneColumns: Int32 = 4
  private static let prune: StaticString =
    "SELECT id % 1000000000000, event_id % 1000000000000, at, before_at FROM prune WHERE id = ?1"
  private static let prunedRanges: StaticString = """
    SELECT kind, first_id % 1000000000000, last_id % 1000000000000 FROM pruned_range WHERE prune_id = ?1
    ORDER BY kind, first_id
    """
  private static let prunedFiles: StaticString = """
    SELECT q.file_id % 1000000000000, q.attempts, q.bytes_transferred, q.bytes_untold, q.bytes_reused
    FROM pruned_range r CROSS JOIN pruned_file q ON q.file_id BETWEEN r.first_id AND r.last_id
    WHERE r.prune_id = ?1 AND r.kind = 'history' ORDER BY r.first_id, q.file_id
    """
  private static let prunedSums: StaticString = """
    SELECT batch_id % 1000000000000, run_id % 1000000000000, quarter, files, ok, retry, fatal, unknown, interrupted,
      crashed, bytes_transferred, bytes_acked, bytes_untold, first_at, last_at, errors, latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff,
      connects, first_bytes, statuses, versions, after_end
    FROM pruned_sum WHERE prune_id = ?1 ORDER BY batch_id, run_id, quarter
    """
  private static let ranges: StaticString = """
    SELECT first_file % 1000000000000, last_file % 1000000000000 FROM event_range WHERE event_id = ?1 ORDER BY first_file
    """
}

/// The bytes that an attempt sent, and those of them that the server has acknowledged.
struct SentCounts {
  let transferred, acked: Int64
}
