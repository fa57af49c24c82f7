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
  /// In a merged ledger, done uploads whose object another shard replaced later with other content, by the clocks of
  /// the two. A newer version of the same file on the same host replaces it rightly. Reads nothing if no two shards
  /// have sent to one key.
  func replacedByShards(_ filter: RowFilter, limit: Int) throws -> [LossProof.Violation] {
    let mayBe = try db.first("SELECT 1 FROM origin_store WHERE equal_keys IS NOT 0 LIMIT 1") { _ in true }
    guard mayBe == true else { return [] }
    return try db.rows(
      """
      SELECT f.id, f.path, max(g.id) FROM origin_store o CROSS JOIN destination d ON d.origin_id = o.id
      CROSS JOIN destination e ON e.place = d.place AND e.origin_id <> d.origin_id
      CROSS JOIN origin_store p ON p.id = e.origin_id
      CROSS JOIN file f ON f.destination_id = d.id AND f.live = 1
      CROSS JOIN file g ON g.destination_id = e.id AND g.key = f.key AND g.live = 1
      CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      CROSS JOIN receipt q ON q.file_id = g.id AND q.n = 1
      WHERE f.state = 'done' AND g.state = 'done' AND f.is_download IS NULL AND g.is_download IS NULL
        AND (q.recorded_at, g.id) > (r.recorded_at, f.id)
        AND NOT (g.path = f.path AND p.host = o.host)
        AND (f.size <> g.size OR r.sha256 <> q.sha256 OR r.digest <> q.digest
          AND substr(r.digest, 1, instr(r.digest, ':')) = substr(q.digest, 1, instr(q.digest, ':')))
        AND {files}
      GROUP BY f.id ORDER BY f.id LIMIT ?1
      """, filter, .int(limit)
    ) { row in
      let by: FileID = row.id(2)
      return LossProof.Violation(
        file: row.id(0), .kept, detail: "was replaced by another shard with other content, \(by)", path: row.name(1))
    }
  }

  /// In a merged ledger, how many done uploads have a key that another shard with a lower number has sent, too: totals
  /// count these files more than once.
  public func equalKeys() throws -> Int64 {
    try db.first("SELECT coalesce(sum(equal_keys), 0) FROM origin_store") { $0.int64(0) } ?? 0
  }
}
