import CSQLite
import TransferModel

extension LedgerReader {
  package func storeNumbers() throws -> StoreNumbers {
    let pageSize = try number("PRAGMA page_size")
    let (createdBy, createdMs) =
      try db.first("SELECT created_by, created_at FROM v_meta") { ($0.text(0), $0.int64(1)) } ?? ("", 0)
    return StoreNumbers(
      bytes: pageSize * (try number("PRAGMA page_count")), pageSize: pageSize,
      freePages: try number("PRAGMA freelist_count"),
      journalMode: try db.first("PRAGMA journal_mode") { $0.text(0) } ?? "", createdBy: createdBy, createdMs: createdMs,
      batches: try number("SELECT count(*) FROM batch"), files: try number("SELECT count(*) FROM file"),
      chunks: try number("SELECT count(*) FROM chunk"), attempts: try number("SELECT count(*) FROM attempt"),
      events: try number("SELECT count(*) FROM event"), runs: try number("SELECT count(*) FROM engine_run"),
      newestMs: try newestMs())
  }

  /// The newest recorded time, from the newest row of each table that has times: IDs are in order of time, in a merged
  /// ledger within each shard.
  public func newestMs() throws -> Int64? {
    try db.first(
      """
      WITH part (low, high) AS (SELECT 0, 1000000000000
        UNION ALL SELECT id * 1000000000000, (id + 1) * 1000000000000 FROM origin_store)
      SELECT max(at) FROM (
        SELECT max(a.started_at, coalesce(a.ended_at, 0)) AS at FROM part p CROSS JOIN attempt a
          ON a.id = (SELECT max(id) FROM attempt WHERE id >= p.low AND id < p.high)
        UNION ALL SELECT e.at FROM part p CROSS JOIN event e
          ON e.id = (SELECT max(id) FROM event WHERE id >= p.low AND id < p.high)
        UNION ALL SELECT f.created_at FROM part p CROSS JOIN file f
          ON f.id = (SELECT max(id) FROM file WHERE id >= p.low AND id < p.high)
        UNION ALL SELECT max(r.started_at, r.heartbeat_at) FROM part p CROSS JOIN engine_run r
          ON r.id = (SELECT max(id) FROM engine_run WHERE id >= p.low AND id < p.high))
      """
    ) { $0.int64OrNil(0) } ?? nil
  }

  /// Problems that SQLite finds in the file without comparing indexes with tables, at most `limit` lines; empty if the
  /// file is well formed. Reads everything once.
  public func quickProblems(limit: Int) throws -> [String] {
    try db.rows("SELECT quick_check FROM pragma_quick_check(?1)", .int(limit)) { $0.text(0) }.filter { $0 != "ok" }
  }

  private func number(_ sql: StaticString) throws -> Int64 { try db.first(sql) { $0.int64(0) } ?? 0 }
}
