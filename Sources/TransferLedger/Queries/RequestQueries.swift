import TransferModel

extension LedgerReader {
  /// The request of an attempt, read by primary keys; nil if the attempt does not exist. The parts of a file are only
  /// read for its last steps.
  package func request(of id: AttemptID) throws -> RequestRow? {
    guard let batch = try db.first(Self.batchOfAttempt, .id(id), row: { $0.id(0, BatchID.self) }),
      let settings = try batchSettings(batch)
    else { return nil }
    let found = try db.first(Self.requestOfAttempt, .id(id)) { row throws(SQLiteError) in
      var found = RequestRow(
        attempt: id, operation: try row.named(0), outcome: try row.named(1), isRepeatable: row.flag(2),
        settings: settings, uid: row.uid(3), path: row.name(4), key: row.name(5), size: max(0, row.int64(6)),
        mtimeMs: row.int64(7) / 1_000_000)
      found.properties = storedProperties(row.textOrNil(19))
      (found.chunkSize, found.chunkCount) = (row.int64OrNil(8), row.int64OrNil(9))
      if let seq = row.intOrNil(10), seq >= 0 {
        found.chunk = RequestRow.Chunk(
          seq: seq, range: Self.range(row.int64(11), row.int64(12)), remote: storedValues(row.textOrNil(13)))
      }
      if let session = row.int64OrNil(14) {
        found.session = RequestRow.Session(
          id: session, remoteID: row.textOrNil(15), notes: storedValues(row.textOrNil(16)))
      }
      if let offset = row.int64OrNil(17) { found.body = Self.range(offset, row.int64(18)) }
      return found
    }
    guard var row = found else { return nil }
    if row.operation == .finish || row.operation == .save { row.parts = try storedParts(id) }
    return row
  }

  private func storedParts(_ attempt: AttemptID) throws -> [PartReceipt] {
    try db.rows(Self.partsOfAttempt, .id(attempt)) { row throws(SQLiteError) in
      PartReceipt(
        seq: row.int(0), length: row.int64(1), etag: row.text(2), digest: row.digest(3), md5: row.digest(4),
        confirmation: try row.named(5), remote: storedValues(row.textOrNil(6)))
    }
  }

  /// An empty range for invalid numbers.
  private static func range(_ offset: Int64, _ length: Int64) -> ByteRange {
    offset >= 0 && length >= 0 && offset <= .max - length
      ? ByteRange(offset: offset, length: length) : ByteRange(offset: 0, length: 0)
  }

  static let batchOfAttempt: StaticString =
    "SELECT f.batch_id FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.id = ?"
  static let requestOfAttempt: StaticString = """
    SELECT a.operation, a.outcome, a.is_repeatable, f.uid, f.path, f.key, coalesce(f.size, 0), coalesce(f.mtime_ns, 0),
      f.chunk_size, f.chunk_count, c.seq, c.offset, c.length, c.remote, s.id, s.remote_id, s.notes, b.offset, b.length,
      f.properties
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id LEFT JOIN chunk c ON c.id = a.chunk_id
      LEFT JOIN session s ON s.id = a.session_id LEFT JOIN sent_body b ON b.attempt_id = a.id
    WHERE a.id = ?
    """
  static let partsOfAttempt: StaticString = """
    SELECT c.seq, c.length, coalesce(c.etag, ''), c.digest, c.md5, c.confirmation, c.remote
    FROM attempt a CROSS JOIN chunk c ON c.file_id = a.file_id WHERE a.id = ? AND c.state = 'done' ORDER BY c.seq
    """
}
