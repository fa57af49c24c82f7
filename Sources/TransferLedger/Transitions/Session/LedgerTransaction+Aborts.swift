public import TransferModel

/// Sessions that must be aborted on the server.
extension LedgerTransaction {
  /// Claims sessions that must be aborted on the server (their file failed permanently, was cancelled or superseded),
  /// and opens an `abort` attempt for each upload. An abort that did not succeed becomes due again later, and so does
  /// one that concerns what the original of a copied ledger may still use.
  public func claimAborts(_ run: RunID, limit: Int) throws -> [AbortWork] {
    try requireLease(run)
    try putOffSharedAborts()
    let due = try db.rows(Self.dueAborts, .int(wallMs), .int(limit)) { row in
      AbortWork(
        session: row.id(0), attempt: nil, file: row.id(1), uid: row.uid(2), key: row.name(3),
        size: row.int64(4), mtimeNs: row.int64(5), batch: row.id(6), remoteID: row.textOrNil(7),
        intendedAtMs: row.int64(8), notes: values(row.textOrNil(9)),
        remotes: storedLists(row.textOrNil(10)), path: row.name(11),
        direction: row.isNull(12) ? .upload : .download, isLive: row.flag(13))
    }
    return try due.compactMap { work in
      if try endReplaced(work) { return nil }
      var work = work
      if work.direction == .download { work.partialOf = try partialOwner(of: work.file) }
      work.attempt = try work.direction == .upload ? openAbort(of: work, run) : nil
      try db.run(
        "UPDATE session SET abort_after = ? WHERE id = ?", .int(wallMs + Self.abortPatienceMs), .id(work.session))
      return work
    }
  }

  /// Ends a session that is to be aborted, but whose name is that of a later session of the same key: some servers
  /// derive it from the name of the file. Nothing is left of the earlier one, and its abort would remove what the later
  /// one has stored.
  private func endReplaced(_ work: AbortWork) throws -> Bool {
    guard work.direction == .upload, let name = work.remoteID else { return false }
    let later = try db.first(Self.laterSession, .text(name), .id(work.session), .id(work.file)) { $0.int(0) }
    guard later != nil else { return false }
    _ = try endSession(work.session, .gone)
    return true
  }

  /// Ends one request of an abort and opens the attempt of the next.
  public func nextAbort(_ work: AbortWork, _ run: RunID, after result: AttemptResult) throws -> AbortWork {
    try requireLease(run)
    if let attempt = work.attempt { _ = try closeAttempt(attempt, run, result) }
    var next = work
    next.attempt = try openAbort(of: work, run)
    return next
  }

  private func openAbort(of work: AbortWork, _ run: RunID) throws -> AttemptID {
    try openAttempt(work.file, run, .abort, session: work.session, isRepeatable: true)
  }

  /// Ends the last request of an abort, and the session, unless it stays for the next run. The removal of a partial
  /// file sends no request, and becomes an attempt only if it fails, so that its cause is recorded.
  package func endAbort(
    _ work: AbortWork, _ run: RunID, _ result: AttemptResult, _ state: SessionState?
  ) throws {
    let attempt = try work.attempt ?? (result.outcome == .fatal ? openAbort(of: work, run) : nil)
    if let attempt { _ = try closeAttempt(attempt, run, result) }
    if let state { _ = try endSession(work.session, state) }
  }

  /// An abort that did not succeed waits for the given backoff; without one, a second for each attempt, at most 60.
  func delayAbort(of attempt: AttemptID, backoffMs: Int64?) throws {
    try db.run(
      """
      UPDATE session SET abort_after = ?1 + coalesce(?2, 1000 * min(60, a.n)) FROM attempt a
      WHERE a.id = ?3 AND a.operation = 'abort' AND session.id = a.session_id AND session.abort_after IS NOT NULL
        AND session.state IN ('intended', 'open')
      """, .int(wallMs), .int(backoffMs), .id(attempt))
  }

  /// A create request whose answer was lost may have created a session that the server did not list yet when it was
  /// queried. The server is queried once more, by an abort that is due a little later.
  func searchForLostCreate(of completed: SessionID) throws {
    try db.run(
      """
      INSERT INTO session (file_id, run_id, state, intended_at, abort_after)
      SELECT s.file_id, s.run_id, 'intended', min(a.started_at), ?1 + ?2
      FROM session s JOIN attempt a ON a.file_id = s.file_id AND a.operation = 'create' AND a.chunk_id IS NULL
        AND a.outcome <> 'ok' AND a.may_have_arrived
      WHERE s.id = ?3 GROUP BY s.file_id
      """, .int(wallMs), .int(Self.lostCreateDelayMs), .id(completed))
  }

  /// Gives up the live session of a file of this run: its remains are aborted on the server, while the file starts
  /// over.
  public func giveUpSession(_ file: FileID, _ run: RunID) throws {
    try requireWork(file, run)
    try dropSession(of: file)
  }

  /// Marks the live session of a file for abort.
  func dropSession(of file: FileID) throws {
    try db.run(
      """
      UPDATE session SET abort_after = ? WHERE file_id = ? AND state IN ('intended', 'open') AND abort_after IS NULL
      """, .int(wallMs), .id(file))
  }

  /// Marks sessions for abort that failed or cancelled generations of the key had kept for a retry, which is no longer
  /// possible.
  func dropSessions(_ destination: Int64, _ key: NameBytes) throws {
    try db.run(
      """
      UPDATE session SET abort_after = ? WHERE state IN ('intended', 'open') AND abort_after IS NULL AND file_id IN (
        SELECT id FROM file WHERE destination_id = ? AND key = ? AND live IS NULL)
      """, .int(wallMs), .integer(destination), .name(key))
  }

  /// Marks the live sessions of the chosen files in `state` for abort.
  func dropSessionsOfChosen(_ state: FileState) throws {
    try db.run(
      """
      UPDATE session SET abort_after = ?
      WHERE file_id IN (SELECT c.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id WHERE f.state = ?)
        AND state IN ('intended', 'open') AND abort_after IS NULL
      """, .int(wallMs), .raw(state))
  }

  /// Long enough for a server to list a session that it has just created. Observed: OpenStack Swift 2.30 needs a few
  /// milliseconds.
  static let lostCreateDelayMs: Int64 = 1_000

  /// Longer than a control request may take.
  static let abortPatienceMs: Int64 = 120_000

  static let laterSession: StaticString = """
    SELECT 1 FROM session n CROSS JOIN file o ON o.id = n.file_id CROSS JOIN file f ON f.id = ?3
    WHERE n.remote_id = ?1 AND n.id > ?2 AND n.state IN ('open', 'completed')
      AND o.destination_id = f.destination_id AND o.key = f.key LIMIT 1
    """

  /// While an engine creates the next upload of the key, its name is not known yet: it may be the same.
  static let dueAborts: StaticString = """
    SELECT s.id, f.id, f.uid, f.key, f.size, f.mtime_ns, f.batch_id, s.remote_id, s.intended_at,
      s.notes, s.remotes, f.path, f.is_download, f.live IS NOT NULL
    FROM session s JOIN file f ON f.id = s.file_id
    WHERE s.state IN ('intended', 'open') AND s.abort_after IS NOT NULL AND s.abort_after <= ?
      AND NOT EXISTS (SELECT 1 FROM file o CROSS JOIN session n ON n.file_id = o.id
        WHERE o.destination_id = f.destination_id AND o.key = f.key AND o.live = 1 AND o.run_id IS NOT NULL
          AND n.state = 'intended' AND n.abort_after IS NULL AND n.id > s.id AND f.is_download IS NULL)
    ORDER BY s.abort_after LIMIT ?
    """
}
