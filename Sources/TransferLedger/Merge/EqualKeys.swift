import TransferModel

/// Keys that several shards have sent: one remote object, of which each of these shards has a done file. The files stay
/// apart, and totals count each of them.
enum EqualKeys {
  /// Records for each shard how many of its done uploads have a key that a shard with a lower number has sent, too.
  /// Usually there are none, which one sorted pass over the keys of each place shows.
  static func record(_ connection: Connection) throws(SQLiteError) {
    try connection.run("UPDATE main.origin_store SET equal_keys = 0 WHERE equal_keys IS NOT 0")
    let places = try connection.rowsOnce(
      "SELECT place FROM main.destination WHERE origin_id IS NOT NULL GROUP BY place HAVING count(*) > 1"
    ) { $0.text(0) }
    for place in places {
      let isShared = try connection.first(
        """
        SELECT 1 FROM main.file WHERE live = 1
          AND destination_id IN (SELECT id FROM main.destination WHERE origin_id IS NOT NULL AND place = ?)
        GROUP BY key HAVING count(*) > 1 LIMIT 1
        """, .text(place)
      ) { _ in true }
      guard isShared != nil else { continue }
      try connection.run(
        """
        UPDATE main.origin_store SET equal_keys = equal_keys + (
          SELECT count(*) FROM main.destination d CROSS JOIN main.file f ON f.destination_id = d.id AND f.live = 1
          WHERE d.origin_id = origin_store.id AND d.place = ?1 AND f.state = 'done' AND f.is_download IS NULL
            AND EXISTS (
              SELECT 1 FROM main.destination e
              CROSS JOIN main.file g ON g.destination_id = e.id AND g.key = f.key AND g.live = 1
              WHERE e.origin_id < d.origin_id AND e.place = ?1 AND g.state = 'done' AND g.is_download IS NULL))
        """, .text(place))
    }
  }

  /// Whether a shard was merged since they were recorded.
  static func areStale(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.first("SELECT 1 FROM main.origin_store WHERE equal_keys IS NULL LIMIT 1") { _ in true } ?? false
  }

  static func of(_ number: ShardNumber, _ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.first("SELECT equal_keys FROM main.origin_store WHERE id = ?", .integer(number.rawValue)) {
      $0.int64(0)
    } ?? 0
  }

  /// How many of these uploads of a shard have other content than that of a shard with a lower number: one of the two
  /// replaced the object of the other. The cost grows with the files at places that both have used.
  static func withOtherContent(_ number: ShardNumber, _ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.first(
      """
      SELECT count(DISTINCT f.id) FROM main.destination d
      CROSS JOIN main.destination e ON e.place = d.place AND e.origin_id < d.origin_id
      CROSS JOIN main.file f ON f.destination_id = d.id AND f.live = 1
      CROSS JOIN main.file g ON g.destination_id = e.id AND g.key = f.key AND g.live = 1
      CROSS JOIN main.receipt r ON r.file_id = f.id AND r.n = 1
      CROSS JOIN main.receipt q ON q.file_id = g.id AND q.n = 1
      WHERE d.origin_id = ?1 AND f.state = 'done' AND g.state = 'done' AND f.is_download IS NULL AND g.is_download IS NULL
        AND (f.size <> g.size OR r.sha256 <> q.sha256 OR r.digest <> q.digest
          AND substr(r.digest, 1, instr(r.digest, ':')) = substr(q.digest, 1, instr(q.digest, ':')))
      """, .integer(number.rawValue)
    ) { $0.int64(0) } ?? 0
  }
}

extension LedgerReader {
  /// In a merged ledger, done uploads whose object another shard replaced later with other content. Reads nothing if no
  /// two shards have sent to one key.
  func replacedByShards(_ filter: RowFilter, limit: Int) throws -> [LossProof.Violation] {
    guard try mayReplaceOthers() else { return [] }
    return try db.rows(
      """
      SELECT f.id, f.path, max(g.id) FROM {replaced by shards} AND {files} GROUP BY f.id ORDER BY f.id LIMIT ?1
      """, filter, .int(limit)
    ) { row in
      let by: FileID = row.id(2)
      return LossProof.Violation(
        file: row.id(0), .kept, detail: "was replaced by another shard with other content, \(by)", path: row.name(1))
    }
  }

  /// The same as the finding `replaced`, without files of which the newest check says as much; nil if there are none.
  /// Its times are those of the uploads that replaced them.
  func replacementByShards(_ filter: RowFilter) throws -> IntegrityCheck? {
    guard try mayReplaceOthers() else { return nil }
    return try db.first(
      """
      SELECT count(*), min(at), max(at) FROM (
        SELECT f.id, min(q.recorded_at) AS at FROM {replaced by shards}
          AND NOT EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = f.id
            AND l.n = (SELECT max(n) FROM receipt WHERE file_id = f.id)
            AND l.finding IN ('lost', 'differs', 'changed', 'missing'))
          AND {files}
        GROUP BY f.id)
      """, filter
    ) { row -> IntegrityCheck? in
      guard row.int(0) > 0 else { return nil }
      return IntegrityCheck(
        finding: IntegrityCheck.replaced, files: row.int(0), oldestMs: row.int64(1), newestMs: row.int64(2))
    } ?? nil
  }

  /// Whether two shards have sent to one key.
  private func mayReplaceOthers() throws -> Bool {
    try db.first("SELECT 1 FROM origin_store WHERE equal_keys IS NOT 0 LIMIT 1") { _ in true } ?? false
  }

  /// In a merged ledger, how many done uploads have a key that another shard with a lower number has sent, too: totals
  /// count these files more than once.
  public func equalKeys() throws -> Int64 {
    try db.first("SELECT coalesce(sum(equal_keys), 0) FROM origin_store") { $0.int64(0) } ?? 0
  }
}
