import TransferModel

/// Recovery after crashed runs.
extension LedgerTransaction {
  /// Recovers after crashed runs; call it after ``Ledger/startRun(_:)`` and before the first claim. Open attempts
  /// become `crashed`. Their chunks become pending, or `unknown` if sending them again could store something twice;
  /// likewise the files. One transaction whose cost grows with the number of requests in flight, not with the ledger.
  /// Writes `recovered` events. ``Ledger/recover(_:)`` continues file by file if the rules refuse a row.
  /// - Parameters:
  ///   - only: the only file to recover; nil for all.
  ///   - sent: what requests of crashed runs had read of their files.
  func recover(
    _ run: RunID, only: FileID? = nil, sent: [AttemptID: SentContent.Piece] = [:]
  ) throws -> Recovery {
    try requireLease(run)
    if only == nil { try endFarWaits() }
    let crashed = try openAttempts(notOf: run, only)
    let requestedActions = try requestedActions(notOf: run, only)
    for (attempt, piece) in sent { try recordSent(piece, byDead: attempt, notOf: run, only) }
    let signs = try lastSigns(of: crashed)
    for attempt in crashed { try closeUnheard(attempt, .crashed, .engineCrashed, endedMs: signs[attempt.run]) }
    let unknown = try settleFiles(of: crashed)
    // A chunk failed permanently, but the engine crashed before its file failed too: the whole file is tried again.
    try db.run(
      """
      UPDATE chunk SET state = 'pending' WHERE state = 'failed'
        AND file_id IN (SELECT id FROM file WHERE state IN ('active', 'finishing') AND run_id <> ?1 AND (?2 IS NULL OR id = ?2))
      """, .id(run), .id(only))
    let requeued = try db.run(
      """
      UPDATE file SET state = 'pending', run_id = NULL, requested_action = NULL
      WHERE state IN ('active', 'finishing') AND run_id <> ?1 AND (?2 IS NULL OR id = ?2)
      """, .id(run), .id(only))
    for requestedAction in RequestedAction.allCases {
      try honour(requestedAction, of: requestedActions[requestedAction] ?? [])
    }
    try db.run(
      "UPDATE session SET abort_after = ?1 WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL AND abort_after > ?1",
      .int(wallMs))
    let recovery = recovery(crashed.count, requeued, unknown, requestedActions)
    if !crashed.isEmpty || requeued > 0 {
      try recordEvent(
        "recovered", batch: nil, file: nil,
        detail:
          "\(crashed.count) attempts crashed, \(recovery.requeuedFiles) files resume, \(recovery.unknownFiles) unknown")
    }
    return recovery
  }

  /// The last sign of life of each of these runs: a heartbeat, the beginning of a request that is still open, or the
  /// opening of its session. Its requests ended then: until the next run, which may begin days later, nothing was in
  /// flight.
  private func lastSigns(of crashed: [OpenAttempt]) throws -> [RunID: Int64] {
    var signs: [RunID: Int64] = [:]
    for run in Set(crashed.map(\.run)) {
      signs[run] = try db.first(Self.lastSign, .id(run), .integer(wallMs)) { $0.int64(0) }
    }
    return signs
  }

  /// That of run ?1, until now (?2).
  static let lastSign: StaticString = """
    SELECT min(?2, max(coalesce(r.started_at + r.heartbeat_boot_ms - r.started_boot_ms, r.heartbeat_at),
      coalesce((SELECT max(max(a.started_at, coalesce(s.opened_at, 0)))
        FROM attempt a LEFT JOIN session s ON s.id = a.session_id WHERE a.outcome = 'open' AND a.run_id = r.id), 0)))
    FROM engine_run r WHERE r.id = ?1
    """

  /// Counts the files by their state after pending control requests were applied: released files that were then paused
  /// or cancelled do not resume, and a cancelled file is no longer unknown.
  private func recovery(
    _ crashed: Int, _ requeued: Int, _ unknown: Set<FileID>, _ requestedActions: [RequestedAction: [FileID]]
  ) -> Recovery {
    let paused = ((requestedActions[.pause] ?? []) + (requestedActions[.pauseNow] ?? [])).filter {
      !unknown.contains($0)
    }
    let cancelled = (requestedActions[.cancel] ?? []) + (requestedActions[.remove] ?? [])
    let known = cancelled.filter { !unknown.contains($0) }
    return Recovery(
      crashedAttempts: crashed, requeuedFiles: requeued - paused.count - known.count,
      unknownFiles: unknown.count - (cancelled.count - known.count), pausedFiles: paused.count,
      cancelledFiles: cancelled.count)
  }

  /// Marks the files whose outcome is unknown, and returns them. Writes one event for each operation whose answer was
  /// lost.
  private func settleFiles(of crashed: [OpenAttempt]) throws -> Set<FileID> {
    var unknown: Set<FileID> = []
    var lost: [AttemptOperation: [FileID]] = [:]
    for attempt in crashed where !attempt.isRepeatable && attempt.operation != .abort {
      guard unknown.insert(attempt.file).inserted else { continue }
      try leaveUnknown(attempt)
      lost[attempt.operation, default: []].append(attempt.file)
    }
    for (operation, files) in lost.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      try recordEvent("recovered", of: files, detail: "\(operation.rawValue): outcome unknown")
    }
    return unknown
  }
}
