import TransferModel

/// Other destinations of this ledger whose objects may be those of one destination: its URL is written in another way,
/// or another account is used. Mostly there are none.
struct Rivals {
  private let own: ObjectPlace
  private let others: [(destination: Int64, objects: ObjectPlace)]

  /// nil if there are none, and for a destination whose uploads replace nothing.
  /// - Parameter place: the destination itself, which may not be recorded yet.
  init?(of objects: ObjectPlace?, at place: String, _ db: Connection) throws(SQLiteError) {
    guard let objects else { return nil }
    others = try db.rows(Self.query, .text(objects.site), .text(place)) { row throws(SQLiteError) in
      (destination: row.int64(0), objects: ObjectPlace(objects.site, before: row.name(1), behind: row.name(2)))
    }
    if others.isEmpty { return nil }
    own = objects
  }

  /// Of the destination of a batch.
  init?(of batch: BatchID, _ db: Connection) throws(SQLiteError) {
    let home = try db.first(Self.ofBatch, .id(batch)) { row throws(SQLiteError) in
      (objects: ObjectPlace(row.text(0), before: row.name(1), behind: row.name(2)), place: row.text(3))
    }
    guard let home else { return nil }
    try self.init(of: home.objects, at: home.place, db)
  }

  /// The newest done file of the object with this key, in each other destination that has one.
  func done(_ key: NameBytes, _ db: Connection) throws(SQLiteError) -> [FileID] {
    var found: [FileID] = []
    for (destination, key) in names(of: key) {
      let file = try db.first(Self.newestDone, .integer(destination), .name(key)) { $0.id(0, FileID.self) }
      if let file { found.append(file) }
    }
    return found
  }

  /// The object with this key in other destinations.
  fileprivate func names(of key: NameBytes) -> [(destination: Int64, key: NameBytes)] {
    let name = own.name(of: key)
    return others.compactMap { other in
      other.objects.key(of: name).map { (destination: other.destination, key: $0) }
    }
  }

  static let query: StaticString = """
    SELECT id, before_key, behind_key FROM destination WHERE site = ?1 AND place <> ?2 AND origin_id IS NULL
    """
  static let ofBatch: StaticString = """
    SELECT d.site, d.before_key, d.behind_key, d.place FROM batch b CROSS JOIN destination d ON d.id = b.destination_id
    WHERE b.id = ? AND d.site IS NOT NULL AND d.origin_id IS NULL
    """
  static let newestDone: StaticString = """
    SELECT id FROM file WHERE destination_id = ?1 AND key = ?2 AND live = 1 AND state = 'done'
    UNION ALL SELECT id FROM (SELECT id FROM file
      WHERE destination_id = ?1 AND key = ?2 AND live IS NULL AND state = 'done' ORDER BY generation DESC LIMIT 1)
    LIMIT 1
    """
}

extension LedgerReader {
  /// Whether a file with other content may have been stored at the object of a done file since that was known to be
  /// there, by another name of its destination.
  func isOverwritten(_ file: FileID) throws -> Bool {
    let home = try db.first("SELECT batch_id, key FROM file WHERE id = ?", .id(file)) {
      ($0.id(0, BatchID.self), $0.name(1))
    }
    guard let (batch, key) = home, let rivals = try Rivals(of: batch, db) else { return false }
    return try rivals.names(of: key).contains { destination, key in
      try db.first(Self.overwriting, .id(file), .integer(destination), .name(key)) { _ in true } ?? false
    }
  }

  /// Whether a file with another path became the object with this key, by another name of the destination.
  func hasOther(_ rivals: Rivals, at key: NameBytes, than path: NameBytes) throws -> Bool {
    try rivals.done(key, db).contains { file in
      let isOther = try db.first("SELECT path <> ? FROM file WHERE id = ?", .name(path), .id(file)) { $0.flag(0) }
      return try isOther == true && !isOverwritten(file)
    }
  }

  /// Attempts are compared, not times, except that of an attempt which had begun before and was still open: of two
  /// requests that overlap, nobody knows which the server stored last. Content is other content unless path, size and
  /// mtime are the same.
  static let overwriting: StaticString = """
    WITH newest (attempt) AS (SELECT coalesce(
        (SELECT max(attempt_id) FROM receipt WHERE file_id = ?1 AND (n = 1 OR finding = 'found')),
        (SELECT max(id) FROM attempt WHERE file_id = ?1), 0)),
      known (attempt, at) AS (SELECT n.attempt, a.started_at FROM newest n LEFT JOIN attempt a ON a.id = n.attempt)
    SELECT 1 FROM known k CROSS JOIN file f ON f.id = ?1 CROSS JOIN file g ON g.id IN (
      SELECT id FROM file WHERE destination_id = ?2 AND key = ?3 AND live = 1
      UNION ALL SELECT id FROM file WHERE destination_id = ?2 AND key = ?3 AND live IS NULL)
    WHERE NOT (g.path = f.path AND g.size IS f.size AND g.mtime_ns IS f.mtime_ns)
      AND (EXISTS (SELECT 1 FROM receipt r WHERE r.file_id = g.id AND r.n = 1 AND r.attempt_id > k.attempt)
        OR EXISTS (SELECT 1 FROM attempt a WHERE a.file_id = g.id AND (a.id > k.attempt OR a.ended_at > k.at)
          AND a.operation NOT IN ('probe', 'verify', 'abort')
          AND (a.may_have_arrived = 1 OR a.outcome IN ('ok', 'unknown', 'crashed'))))
    LIMIT 1
    """
}
