import TransferModel

/// Which files a prune is about.
///
/// The unit is a file, and not a batch: a batch that is added to every night, or of which one file waits for a person,
/// would keep all of its history for ever.
extension LedgerReader {
  /// The newest file that was recorded before this time; 0 for none. Files are numbered in the order of their times
  /// while nobody sets the clock back.
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

  /// Files of which something goes, by number, at most `limit`: replaced generations that go, or done files whose
  /// attempts go. The first are found in the index of what is at rest, the others by the attempts that they still have,
  /// so that what was pruned before costs nothing.
  /// - Parameter numbers: after the first and up to the last of these.
  func filesToPrune(
    _ superseded: Bool, _ numbers: Range<Int64>, _ beforeMs: Int64, limit: Int
  ) throws -> [FileID] {
    try db.rows(
      superseded ? Self.replacedToPrune : Self.doneToPrune, .integer(numbers.lowerBound), .integer(numbers.upperBound),
      .integer(beforeMs), .int(limit)
    ) { $0.id(0) }
  }

  /// Of these files those of which something goes, as ``filesToPrune(_:_:_:limit:)`` finds them.
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

  /// What would go of these files.
  func rowsToPrune(_ files: [FileID]) throws -> PruneOutcome.Rows {
    let kept = try db.rows(Self.prunable, .text(try jsonText(files.map(\.rawValue))), .integer(.max)) {
      PrunableFile($0)
    }
    return try rows(of: kept)
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

  /// Files that came to rest before this time and still have attempts. Reads the files that have any.
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

/// A file of which something goes.
struct PrunableFile {
  let id: Int64
  /// Its row, too: a newer generation stands for its key.
  let goes: Bool
  /// The newest download of its path: what its session says of the version, and the digests of its chunks, is what the
  /// next `pull` compares with.
  private let isFetched: Bool
  /// What its receipt does not say of the content its chunks may, and the next `push` compares with.
  private let isToldByChunks: Bool

  var losesSessions: Bool { !isFetched }
  var losesChunks: Bool { !isFetched && !isToldByChunks }

  /// - Parameter row: of ``LedgerReader/prunable``.
  init(_ row: SQLRow) {
    (id, goes) = (row.int64(0), row.flag(1))
    (isFetched, isToldByChunks) = (row.flag(2), row.flag(3))
  }
}
