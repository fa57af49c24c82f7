import CSQLite
public import TransferModel

extension LedgerReader {
  public func storeNumbers() throws -> StoreNumbers {
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

  /// Of the newest row of each table that has times: ids follow time.
  public func newestMs() throws -> Int64? {
    try db.first(
      """
      SELECT max(at) FROM (
        SELECT max(started_at, coalesce(ended_at, 0)) AS at FROM attempt WHERE id = (SELECT max(id) FROM attempt)
        UNION ALL SELECT at FROM event WHERE id = (SELECT max(id) FROM event)
        UNION ALL SELECT created_at FROM file WHERE id = (SELECT max(id) FROM file)
        UNION ALL SELECT max(started_at, heartbeat_at) FROM engine_run WHERE id = (SELECT max(id) FROM engine_run))
      """
    ) { $0.int64OrNil(0) } ?? nil
  }

  /// What SQLite finds wrong in the file without comparing indexes with tables; empty when it is well formed. At most
  /// `limit` lines. Reads everything once.
  public func quickProblems(limit: Int) throws -> [String] {
    try db.rows("SELECT quick_check FROM pragma_quick_check(?1)", .int(limit)) { $0.text(0) }.filter { $0 != "ok" }
  }

  private func number(_ sql: StaticString) throws -> Int64 { try db.first(sql) { $0.int64(0) } ?? 0 }
}
