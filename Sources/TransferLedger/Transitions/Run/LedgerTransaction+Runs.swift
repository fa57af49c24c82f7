public import TransferModel

/// Transitions of runs.
extension LedgerTransaction {
  /// Marks runs that did not record their end as crashed, and records a new one. The caller holds the engine lock,
  /// which proves that their processes are gone.
  func beginRun(_ run: NewRun) throws -> RunID {
    try db.run(
      """
      UPDATE engine_run SET ended_at = max(started_at, ?), how = 'crashed' WHERE ended_at IS NULL AND origin_id IS NULL
      """, .int(wallMs))
    let begun = RunID(
      rawValue: try db.insert(
        """
        INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at,
          started_boot_ms, heartbeat_boot_ms, first_attempt)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?8,
          (SELECT coalesce(max(id), 0) + 1 FROM attempt WHERE id < 1000000000000))
        """, .uid(.make(wallMs: wallMs)), .text(try jsonText(run.argv)), .text(run.version), .text(run.host),
        .text(run.bootID), .int(run.pid), .int(wallMs), .int(run.bootMs)))
    try shiftWaits(atStartOf: begun)
    return begun
  }

  /// Records a heartbeat: the current wall-clock and boot-clock time, and the processor time of the process. If
  /// `civilMs` is nil, the time of the transaction is used; if another value is nil, its column is not changed. `.lost`
  /// if the run was ended, by itself or by another engine.
  public func heartbeat(
    _ run: RunID, civilMs: Int64? = nil, bootMs: Int64? = nil, processorMs: Int64? = nil
  ) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE engine_run SET heartbeat_at = ?, heartbeat_boot_ms = coalesce(?, heartbeat_boot_ms),
          processor_ms = coalesce(?, processor_ms)
        WHERE id = ? AND ended_at IS NULL
        """, .int(civilMs ?? wallMs), .int(bootMs), .int(processorMs), .id(run))
    ) { try howEnded(run) }
  }

  /// Records that the machine woke up now, during a run, as an event without a file: it explains why requests that were
  /// open look long.
  package func noteSleep(_ sleep: MachineSleep, _ run: RunID) throws {
    try requireLease(run)
    try recordEvent(MachineSleep.verb, batch: nil, file: nil, detail: sleep.detail)
  }

  /// Ends a run: `done`, `drained`, `interrupted`, `failed: …`. Its end is its last heartbeat.
  public func endRun(_ run: RunID, how: String, processorMs: Int64? = nil) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE engine_run SET ended_at = max(started_at, ?1), heartbeat_at = max(started_at, ?1), how = ?2,
          processor_ms = coalesce(?3, processor_ms)
        WHERE id = ?4 AND ended_at IS NULL
        """, .int(wallMs), .text(how), .int(processorMs), .id(run))
    ) { try howEnded(run) }
  }

  private func howEnded(_ run: RunID) throws -> String? {
    try db.first("SELECT how FROM engine_run WHERE id = ?", .id(run)) { $0.textOrNil(0) } ?? nil
  }
}
