import FoundationEssentials
public import TransferModel

extension LedgerTransaction {
  /// Ends runs that said no word as crashed and records a new one. The caller holds the engine lock, which proves that
  /// their processes are gone.
  func beginRun(_ run: NewRun) throws -> RunID {
    try db.run(
      "UPDATE engine_run SET ended_at = max(started_at, ?), how = 'crashed' WHERE ended_at IS NULL", .int(wallMs))
    return RunID(
      rawValue: try db.insert(
        """
        INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at,
          started_boot_ms, heartbeat_boot_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?8)
        """, .uid(.make(wallMs: wallMs)), .text(try jsonText(run.argv)), .text(run.version), .text(run.host),
        .text(run.bootID), .int(run.pid), .int(wallMs), .int(run.bootMs)))
  }

  /// A sign of life, by the wall clock and the boot clock of this moment; nil takes the time of the transaction, and leaves the
  /// other. `.lost` when the run was ended, by itself or by another engine.
  public func heartbeat(_ run: RunID, civilMs: Int64? = nil, bootMs: Int64? = nil) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE engine_run SET heartbeat_at = ?, heartbeat_boot_ms = coalesce(?, heartbeat_boot_ms)
        WHERE id = ? AND ended_at IS NULL
        """, .int(civilMs ?? wallMs), .int(bootMs), .id(run))
    ) { try howEnded(run) }
  }

  /// Ends a run: `done`, `drained`, `interrupted`, `failed: …`.
  public func endRun(_ run: RunID, how: String) throws -> TransitionResult {
    try result(
      db.run(
        "UPDATE engine_run SET ended_at = max(started_at, ?), how = ? WHERE id = ? AND ended_at IS NULL", .int(wallMs),
        .text(how), .id(run))
    ) { try howEnded(run) }
  }

  private func howEnded(_ run: RunID) throws -> String? {
    try db.first("SELECT how FROM engine_run WHERE id = ?", .id(run)) { $0.textOrNil(0) } ?? nil
  }

  /// Puts right what dead runs left; after ``Ledger/startRun(_:)`` and before the first claim. Attempts that were open
  /// are `crashed`. Their chunks may be sent again, or are `unknown` where that could double; likewise the files. One
  /// transaction whose cost grows with what was in flight, not with the ledger. Writes `recovered` events.
  /// ``Ledger/recover(_:)`` goes on when the rules refuse a row.
  /// - Parameters:
  ///   - only: of this file alone.
  ///   - sent: what requests of dead runs had read of their files.
  func recover(
    _ run: RunID, only: FileID? = nil, sent: [AttemptID: SentContent.Piece] = [:]
  ) throws -> Recovery {
    try requireLease(run)
    if only == nil { try endFarWaits() }
    let orphans = try openAttempts(notOf: run, only)
    let wishes = try wishes(notOf: run, only)
    for (attempt, piece) in sent { try recordSent(piece, byDead: attempt, notOf: run, only) }
    try db.run(
      """
      UPDATE attempt SET outcome = 'crashed', ended_at = max(started_at, ?1), may_have_arrived = 1,
        error_code = 'engine.orphaned' WHERE outcome = 'open' AND run_id <> ?2 AND (?3 IS NULL OR file_id = ?3)
      """, .int(wallMs), .id(run), .id(only))
    for orphan in orphans { try releaseChunk(of: orphan) }
    let unknown = try orphanFiles(of: orphans)
    // A chunk had failed for good, and the engine died before its file had ended with it: the file goes on as a whole.
    try db.run(
      """
      UPDATE chunk SET state = 'pending' WHERE state = 'failed'
        AND file_id IN (SELECT id FROM file WHERE state IN ('active', 'finishing') AND run_id <> ?1 AND (?2 IS NULL OR id = ?2))
      """, .id(run), .id(only))
    let requeued = try db.run(
      """
      UPDATE file SET state = 'pending', run_id = NULL, wish = NULL
      WHERE state IN ('active', 'finishing') AND run_id <> ?1 AND (?2 IS NULL OR id = ?2)
      """, .id(run), .id(only))
    for wish in Wish.allCases { try honour(wish, of: wishes[wish] ?? []) }
    try db.run(
      "UPDATE session SET abort_after = ?1 WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL AND abort_after > ?1",
      .int(wallMs))
    let recovery = recovery(orphans.count, requeued, unknown, wishes)
    if !orphans.isEmpty || requeued > 0 {
      try recordEvent(
        "recovered", batch: nil, file: nil,
        detail:
          "\(orphans.count) requests cut off, \(recovery.requeuedFiles) files go on, \(recovery.unknownFiles) unknown")
    }
    return recovery
  }

  /// Of the files that were given back, those that people had asked for something do not go on; and one that was called
  /// off is not unknown any more.
  private func recovery(
    _ crashed: Int, _ requeued: Int, _ unknown: Set<FileID>, _ wishes: [Wish: [FileID]]
  ) -> Recovery {
    let paused = ((wishes[.pause] ?? []) + (wishes[.pauseNow] ?? [])).filter { !unknown.contains($0) }
    let cancelled = (wishes[.cancel] ?? []) + (wishes[.remove] ?? [])
    let known = cancelled.filter { !unknown.contains($0) }
    return Recovery(
      crashedAttempts: crashed, requeuedFiles: requeued - paused.count - known.count,
      unknownFiles: unknown.count - (cancelled.count - known.count), pausedFiles: paused.count,
      cancelledFiles: cancelled.count)
  }

  struct Orphan {
    var file: FileID
    var chunk: ChunkID?
    var operation: AttemptOperation
    /// Or its server can be asked what became of it.
    var isRepeatable: Bool
  }

  private func openAttempts(notOf run: RunID, _ only: FileID?) throws -> [Orphan] {
    try db.rows(
      """
      SELECT file_id, chunk_id, operation, is_repeatable OR EXISTS (SELECT 1 FROM session s
         WHERE s.file_id = attempt.file_id AND s.opened_by = attempt.id AND s.state = 'open')
      FROM attempt WHERE outcome = 'open' AND run_id <> ?1 AND (?2 IS NULL OR file_id = ?2)
      """, .id(run), .id(only), row: Self.orphan)
  }

  static func orphan(_ row: SQLRow) throws(SQLiteError) -> Orphan {
    Orphan(file: row.id(0), chunk: row.idOrNil(1), operation: try row.named(2), isRepeatable: row.flag(3))
  }

  func releaseChunk(of orphan: Orphan) throws {
    guard let chunk = orphan.chunk else { return }
    try db.run(
      """
      UPDATE chunk SET state = iif(?, 'pending', 'unknown'), uncertain = max(uncertain, ?)
      WHERE id = ? AND state = 'in_flight'
      """, .flag(orphan.isRepeatable), .flag(orphan.operation == .part), .id(chunk))
  }

  /// The files whose outcome is unknown; one event for each operation whose answer was lost.
  private func orphanFiles(of orphans: [Orphan]) throws -> Set<FileID> {
    var unknown: Set<FileID> = []
    var lost: [AttemptOperation: [FileID]] = [:]
    for orphan in orphans where !orphan.isRepeatable && orphan.operation != .abort {
      guard unknown.insert(orphan.file).inserted else { continue }
      try orphanFile(orphan)
      lost[orphan.operation, default: []].append(orphan.file)
    }
    for (operation, files) in lost.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      try recordEvent("recovered", of: files, detail: "\(operation.rawValue): outcome unknown")
    }
    return unknown
  }

  private func orphanFile(_ orphan: Orphan) throws {
    try db.run(
      """
      UPDATE file SET state = 'unknown', run_id = NULL, wish = NULL, cause = 'engine.orphaned',
        message = 'the engine died while a request was open that must not be repeated'
      WHERE id = ? AND state IN ('active', 'finishing')
      """, .id(orphan.file))
  }
}

/// JSON with sorted keys, so that equal values are equal text.
func jsonText(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}
