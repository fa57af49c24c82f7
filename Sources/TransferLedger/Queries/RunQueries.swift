public import TransferModel

extension LedgerReader {
  /// The engine that runs or ran last; nil when none ever has.
  public func newestRun() throws -> RunRow? {
    try db.first(
      """
      SELECT id, host, pid, version, started_at, heartbeat_at, ended_at, how, boot_id, heartbeat_boot_ms
      FROM v_runs ORDER BY id DESC LIMIT 1
      """
    ) { row in
      RunRow(
        id: row.id(0), host: row.text(1), pid: row.int64(2), version: row.text(3), startedMs: row.int64(4),
        heartbeatMs: row.int64(5), endedMs: row.int64OrNil(6), how: row.textOrNil(7), bootID: row.text(8),
        heartbeatBootMs: row.int64OrNil(9))
    }
  }
}
