import TransferModel

/// Selects the files to prune.
///
/// The unit is a file, not a batch: a batch that is added to every night, or that has one file waiting for a person,
/// would keep all of its history forever.
extension LedgerReader {
  /// The newest file that was recorded before this time; 0 if there is none. Files are numbered in the order of their
  /// times as long as nobody sets the clock back.
  func newestFile(createdBefore ms: Int64) throws -> Int64 {
    var low: Int64 = 0
    var high = try db.first("SELECT max(id) FROM file") { $0.int64(0) } ?? 0
    while low < high {
      let middle = high - (high - low) / 2
      let found = try db.first(
        "SELECT id, created_at FROM file WHERE id <= ? ORDER BY id DESC LIMIT 1", .integer(middle)
      ) { (id: $0.int64(0), createdMs: $0.int64(1)) }
      guard let found, found.id > low else {
        high = low
        break
      }
      if found.createdMs < ms { low = middle } else { high = found.id - 1 }
    }
    return low
  }

  /// Files to prune, ordered by number, at most `limit`: superseded generations to delete, or done files whose attempts
  /// are to be deleted. The former are found in the index `file_rest`, the latter through the attempts that they still
  /// have, so that files that were pruned before cost nothing.
  /// - Parameter numbers: excludes its lower bound and includes its upper bound.
  func filesToPrune(
    _ superseded: Bool, _ numbers: Range<Int64>, _ beforeMs: Int64, limit: Int
  ) throws -> [FileID] {
    try db.rows(
      superseded ? Self.replacedToPrune : Self.doneToPrune, .integer(numbers.lowerBound), .integer(numbers.upperBound),
      .integer(beforeMs), .int(limit)
    ) { $0.id(0) }
  }

  /// Those of the given files that are to be pruned, by the rules of ``filesToPrune(_:_:_:limit:)``.
  static let prunable: StaticString = """
    SELECT f.id, f.state = 'superseded', f.state = 'done' AND (
        f.is_download = 1 AND (f.live = 1 OR NOT EXISTS (SELECT 1 FROM file g
          WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id))),
      f.live = 1 AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.file_id = f.id AND r.n = 1 AND r.digest IS NOT NULL)
    FROM json_each(?1) n CROSS JOIN file f ON f.id = n.value CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.finished_at < ?2 AND b.origin_id IS NULL
      AND (f.state = 'done' OR f.state = 'superseded' AND f.live IS NULL AND (
        EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1)
        OR EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live IS NULL
          AND g.generation > f.generation)))
      AND NOT EXISTS (SELECT 1 FROM session s WHERE s.file_id = f.id AND s.state IN ('intended', 'open'))
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id AND a.outcome = 'open')
      AND NOT EXISTS (SELECT 1 FROM doubt d WHERE d.file_id = f.id)
      AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.file_id = f.id AND o.ended_at IS NULL)
    ORDER BY f.id
    """
  private static let replacedToPrune: StaticString = """
    SELECT f.id FROM file f CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.state = 'superseded' AND f.state <> 'done' AND f.state <> 'active' AND f.state <> 'pending'
      AND f.state <> 'finishing'
      AND f.id > ?1 AND f.id <= ?2 AND f.live IS NULL AND f.finished_at < ?3 AND b.origin_id IS NULL
      AND (EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1)
        OR EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live IS NULL
          AND g.generation > f.generation))
      AND NOT EXISTS (SELECT 1 FROM session s WHERE s.file_id = f.id AND s.state IN ('intended', 'open'))
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id AND a.outcome = 'open')
      AND NOT EXISTS (SELECT 1 FROM doubt d WHERE d.file_id = f.id)
      AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.file_id = f.id AND o.ended_at IS NULL)
    ORDER BY f.id LIMIT ?4
    """
  private static let doneToPrune: StaticString = """
    WITH RECURSIVE n(id) AS (
      SELECT (SELECT min(file_id) FROM attempt WHERE file_id > ?1)
      UNION ALL SELECT (SELECT min(file_id) FROM attempt WHERE file_id > n.id) FROM n WHERE n.id < ?2)
    SELECT f.id FROM n CROSS JOIN file f ON f.id = n.id CROSS JOIN batch b ON b.id = f.batch_id
    WHERE n.id <= ?2 AND f.state = 'done' AND f.finished_at < ?3 AND b.origin_id IS NULL
      AND NOT EXISTS (SELECT 1 FROM session s WHERE s.file_id = f.id AND s.state IN ('intended', 'open'))
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = f.id AND a.outcome = 'open')
      AND NOT EXISTS (SELECT 1 FROM doubt d WHERE d.file_id = f.id)
      AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.file_id = f.id AND o.ended_at IS NULL)
    LIMIT ?4
    """

  /// The rows that pruning these files would delete.
  func rowsToPrune(_ files: [FileID]) throws -> PruneOutcome.Rows {
    let kept = try db.rows(Self.prunable, .text(try jsonText(files.map(\.rawValue))), .integer(.max)) {
      PrunableFile($0)
    }
    return try rows(of: kept)
  }

  /// The callbacks of batches that a prune would delete.
  func batchCallbacksToPrune(before beforeMs: Int64) throws -> Int64 {
    try db.first(LedgerTransaction.batchCallbackCount, .integer(beforeMs)) { $0.int64(0) } ?? 0
  }

  func rows(of files: [PrunableFile]) throws -> PruneOutcome.Rows {
    var rows = PruneOutcome.Rows()
    rows.files = Int64(files.count { $0.goes })
    rows.histories = Int64(files.count) - rows.files
    let all = SQLValue.text(try jsonText(files.map(\.id)))
    try db.first(
      """
      SELECT count(*), coalesce(sum(a.bytes_transferred), 0)
      FROM json_each(?1) n CROSS JOIN attempt a ON a.file_id = n.value
      """, all
    ) { (rows.attempts, rows.bytesTransferred) = ($0.int64(0), $0.int64(1)) }
    rows.callbacks =
      try db.first(
        "SELECT count(*) FROM json_each(?1) n CROSS JOIN outbox o ON o.file_id = n.value", all
      ) { $0.int64(0) } ?? 0
    rows.sessions =
      try db.first(
        "SELECT count(*) FROM json_each(?1) n CROSS JOIN session s ON s.file_id = n.value",
        .text(try jsonText(files.filter(\.losesSessions).map(\.id)))
      ) { $0.int64(0) } ?? 0
    rows.chunks =
      try db.first(
        "SELECT count(*) FROM json_each(?1) n CROSS JOIN chunk c ON c.file_id = n.value",
        .text(try jsonText(files.filter(\.losesChunks).map(\.id)))
      ) { $0.int64(0) } ?? 0
    return rows
  }

  /// The number of files that ended before this time and still have attempts. Reads the files that have any.
  func filesKept(before beforeMs: Int64) throws -> Int64 {
    try db.first(Self.keptFiles, .integer(beforeMs), .integer(try newestFile(createdBefore: beforeMs))) {
      $0.int64(0)
    } ?? 0
  }

  private static let keptFiles: StaticString = """
    WITH RECURSIVE n(id) AS (
      SELECT (SELECT min(file_id) FROM attempt)
      UNION ALL SELECT (SELECT min(file_id) FROM attempt WHERE file_id > n.id) FROM n WHERE n.id < ?2)
    SELECT count(*) FROM n CROSS JOIN file f ON f.id = n.id WHERE n.id <= ?2 AND f.finished_at < ?1
    """

  func freeBytes() throws -> Int64 {
    try (db.first("PRAGMA freelist_count") { $0.int64(0) } ?? 0) * pageSize()
  }

  func fileBytes() throws -> Int64 { try (db.first("PRAGMA page_count") { $0.int64(0) } ?? 0) * pageSize() }

  private func pageSize() throws -> Int64 { try db.first("PRAGMA page_size") { $0.int64(0) } ?? 0 }
}

/// A file to prune.
struct PrunableFile {
  let id: Int64
  /// Whether its row is deleted, too: a newer generation has taken its place.
  let goes: Bool
  /// Whether it is the newest download of its path: the next `pull` compares with the version in its session and with
  /// the digests of its chunks.
  private let isFetched: Bool
  /// Whether it is live and its receipt has no digest of the content: its chunks may have some, and the next `push`
  /// compares with them.
  private let isToldByChunks: Bool

  var losesSessions: Bool { !isFetched }
  var losesChunks: Bool { !isFetched && !isToldByChunks }

  /// - Parameter row: a row of ``LedgerReader/prunable``.
  init(_ row: SQLRow) {
    (id, goes) = (row.int64(0), row.flag(1))
    (isFetched, isToldByChunks) = (row.flag(2), row.flag(3))
  }
}
