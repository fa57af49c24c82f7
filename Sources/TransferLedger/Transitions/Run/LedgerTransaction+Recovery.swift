import TransferModel

/// What dead runs left.
extension LedgerTransaction {
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
    for orphan in orphans { try closeUnheard(orphan, .crashed, .engineOrphaned) }
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

  /// The files whose outcome is unknown; one event for each operation whose answer was lost.
  private func orphanFiles(of orphans: [OpenAttempt]) throws -> Set<FileID> {
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
}
