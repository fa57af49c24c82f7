public import TransferModel

extension LedgerReader {
  /// The newest run; in a merged ledger, by the clocks of its shards. nil if no engine has ever run.
  public func newestRun() throws -> RunRow? {
    try db.first(
      """
      SELECT id, host, pid, version, started_at, heartbeat_at, ended_at, how, boot_id, heartbeat_boot_ms
      FROM v_runs WHERE id IN (
        SELECT (SELECT max(id) FROM engine_run WHERE id >= s.n * 1000000000000 AND id < (s.n + 1) * 1000000000000)
        FROM (SELECT 0 AS n UNION ALL SELECT id FROM origin_store) s)
      ORDER BY started_at DESC, id DESC LIMIT 1
      """
    ) { Self.run($0) }
  }

  /// Runs that were alive in the window of the filter, ordered by number, with the attempts that the filter selects. If
  /// the filter has more than a window, only runs that have such an attempt. Reads these attempts once.
  package func runs(_ filter: RowFilter) throws -> RunFigures {
    let lives = try runLives(TimeSpan(filter.sinceMs ?? .min, filter.untilMs ?? .max))
    let seen = Dictionary(uniqueKeysWithValues: lives.map { ($0.id, $0) })
    let attempts = try attemptsOfRuns(filter)
    var window = RowFilter()
    (window.sinceMs, window.untilMs, window.leavesOutHidden) = (filter.sinceMs, filter.untilMs, filter.leavesOutHidden)
    let rows = try db.rows(
      """
      SELECT id, host, pid, version, started_at, heartbeat_at, ended_at, how, boot_id, heartbeat_boot_ms
      FROM v_runs ORDER BY id
      """
    ) { Self.run($0) }
    let found = rows.compactMap { row -> RunHistory? in
      guard let life = seen[row.id], life.lastMs >= filter.sinceMs ?? .min else { return nil }
      let did = attempts[row.id.rawValue]
      guard did != nil || window == filter else { return nil }
      return RunHistory(
        row, upMs: max(0, life.lastMs -| life.startedMs), attempts: did?.count ?? 0, recovered: did?.crashed ?? 0,
        bytesTransferred: did?.bytes ?? 0)
    }
    return RunFigures(found, lives: found.compactMap { seen[$0.run.id] }.map { TimeSpan($0.startedMs, $0.lastMs) })
  }

  private struct RunAttempts {
    var count: Int64 = 0
    var crashed: Int64 = 0
    var bytes: Int64 = 0
  }

  /// Reads the attempts in table order.
  private func attemptsOfRuns(_ filter: RowFilter) throws -> [Int64: RunAttempts] {
    var found: [Int64: RunAttempts] = [:]
    let add = { (row: SQLRow) in
      var sum = found[row.int64(0)] ?? RunAttempts()
      sum.count +|= 1
      sum.crashed +|= row.int64(1)
      sum.bytes +|= row.int64(2)
      found[row.int64(0)] = sum
    }
    if filter.isEverything {
      _ = try db.rows("SELECT run_id, outcome = 'crashed', bytes_transferred FROM attempt", row: add)
    } else {
      _ = try db.rows(
        """
        SELECT a.run_id, a.outcome = 'crashed', a.bytes_transferred
        FROM attempt a JOIN file f ON f.id = a.file_id WHERE {attempts}
        """, filter, row: add)
    }
    for row in try prunedSums(filter) {
      var sum = found[row.run] ?? RunAttempts()
      sum.count +|= row.attempts
      sum.crashed +|= row.sums.counts.last ?? 0
      sum.bytes +|= row.sums.bytesTransferred
      found[row.run] = sum
    }
    return found
  }

  private static func run(_ row: SQLRow) -> RunRow {
    RunRow(
      id: row.id(0), host: row.text(1), pid: row.int64(2), version: row.text(3), startedMs: row.int64(4),
      heartbeatMs: row.int64(5), endedMs: row.int64OrNil(6), how: row.textOrNil(7), bootID: row.text(8),
      heartbeatBootMs: row.int64OrNil(9))
  }
}
