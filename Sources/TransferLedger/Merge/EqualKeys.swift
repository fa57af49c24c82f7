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
}

extension LedgerReader {
  /// In a merged ledger, how many done uploads have a key that another shard with a lower number has sent, too: totals
  /// count these files more than once.
  public func equalKeys() throws -> Int64 {
    try db.first("SELECT coalesce(sum(equal_keys), 0) FROM origin_store") { $0.int64(0) } ?? 0
  }
}
