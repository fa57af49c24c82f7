public import TransferModel

extension LedgerReader {
  /// Files ordered by number, starting after `after`.
  public func files(_ filter: RowFilter, after: Int64, limit: Int) throws -> [FileRow] {
    try db.rows(
      """
      SELECT f.id, f.uid, f.batch_id, f.generation, f.path, f.destination, f.key, f.size, f.state, f.cause, f.message,
        f.attempts, f.bytes_acked, f.bytes_transferred, f.confirmed_by, f.digest, f.started_at, f.finished_at,
        f.bytes_transferred_at_most, f.bytes_reused, f.pruned_at
      FROM v_files f
      WHERE f.id > ?1
        AND {files}
      ORDER BY f.id LIMIT ?2
      """, filter, .integer(after),
      .int(limit), row: Self.file)
  }

  /// The files with these numbers, in this order; missing ones are left out.
  public func files(_ ids: [Int64]) throws -> [FileRow] {
    try db.rows(
      """
      SELECT f.id, f.uid, f.batch_id, f.generation, f.path, f.destination, f.key, f.size, f.state, f.cause, f.message,
        f.attempts, f.bytes_acked, f.bytes_transferred, f.confirmed_by, f.digest, f.started_at, f.finished_at,
        f.bytes_transferred_at_most, f.bytes_reused, f.pruned_at
      FROM json_each(?1) n CROSS JOIN v_files f ON f.id = n.value ORDER BY n.key
      """, .text(try jsonText(ids)), row: Self.file)
  }

  /// The properties that rules set for the object of a file.
  package func properties(of file: FileID) throws -> ObjectProperties {
    storedProperties(try db.first("SELECT properties FROM file WHERE id = ?", .id(file)) { $0.textOrNil(0) } ?? nil)
  }

  /// How many files the filter selects.
  public func countFiles(_ filter: RowFilter) throws -> Int {
    try db.first(
      """
      SELECT count(*) FROM file f
      WHERE {files}
      """, filter
    ) { $0.int(0) } ?? 0
  }

  /// Files that an engine holds, ordered by number. The cost grows with these files, not with the ledger.
  public func runningFiles(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    try db.rows(
      """
      SELECT f.id, f.uid, f.batch_id, f.generation, f.path, f.destination, f.key, f.size, f.state, f.cause, f.message,
        f.attempts, f.bytes_acked, f.bytes_transferred, f.confirmed_by, f.digest, f.started_at, f.finished_at,
        f.bytes_transferred_at_most, f.bytes_reused, f.pruned_at
      FROM v_files f WHERE f.id IN (SELECT id FROM file WHERE state IN ('active', 'finishing'))
        AND {files}
      ORDER BY f.id LIMIT ?1
      """, filter, .int(limit), row: Self.file)
  }

  /// The numbers of the files that the filter selects: 8 bytes each.
  public func fileIDs(_ filter: RowFilter) throws -> [FileID] {
    try db.rows("SELECT f.id FROM file f WHERE {files} ORDER BY f.id", filter) { $0.id(0) }
  }

  /// Files that were started and have ended, ordered by wall time since they were recorded, longest first. Reads the
  /// times of all files that the filter selects. Files whose attempts were pruned are left out: nobody can tell why
  /// they took so long.
  public func longestFiles(_ filter: RowFilter, limit: Int) throws -> [FileID] {
    try db.rows(
      """
      SELECT f.id FROM file f
      WHERE f.started_at IS NOT NULL AND f.finished_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM pruned_file q WHERE q.file_id = f.id)
        AND {files}
      ORDER BY f.finished_at - f.created_at DESC, f.id LIMIT ?1
      """, filter, .int(limit)
    ) { $0.id(0) }
  }

  /// Files that were started and have ended, longest first. Reads all files that the filter selects.
  func slowestOfAll(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    try db.rows(
      """
      SELECT f.id, f.uid, f.batch_id, f.generation, f.path, f.destination, f.key, f.size, f.state, f.cause, f.message,
        f.attempts, f.bytes_acked, f.bytes_transferred, f.confirmed_by, f.digest, f.started_at, f.finished_at,
        f.bytes_transferred_at_most, f.bytes_reused, f.pruned_at
      FROM v_files f WHERE f.id IN (
        SELECT f.id FROM file f
        WHERE f.started_at IS NOT NULL AND f.finished_at IS NOT NULL
          AND {files}
        ORDER BY f.finished_at - f.started_at DESC, f.id LIMIT ?1)
      ORDER BY f.finished_at - f.started_at DESC, f.id
      """, filter, .int(limit),
      row: Self.file)
  }

  private static func file(_ row: SQLRow) -> FileRow {
    var file = FileRow(
      id: row.id(0), uid: row.text(1), batch: row.id(2), generation: row.int64(3), path: row.name(4),
      destination: row.text(5), key: row.name(6), size: row.int64OrNil(7), state: row.text(8),
      cause: row.textOrNil(9), message: row.textOrNil(10), attempts: row.int64(11), bytesAcked: row.int64(12),
      bytesReused: row.int64(19),
      bytesTransferred: row.int64(13), bytesTransferredAtMost: row.int64(18), confirmedBy: row.textOrNil(14),
      digest: row.textOrNil(15),
      startedMs: row.int64OrNil(16), finishedMs: row.int64OrNil(17))
    file.prunedMs = row.int64OrNil(20)
    return file
  }
}
