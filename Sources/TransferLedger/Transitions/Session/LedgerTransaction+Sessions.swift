import TransferModel

/// Transitions of sessions.
extension LedgerTransaction {
  /// Records that a session will be requested; durable before the create request is sent. Throws `.leaseLost` if the
  /// file does not belong to this run; the schema refuses a second live session of a file.
  package func intendSession(_ file: FileID, _ run: RunID) throws -> SessionID {
    try requireWork(file, run)
    return SessionID(
      rawValue: try db.insert(
        "INSERT INTO session (file_id, run_id, state, intended_at) VALUES (?, ?, 'intended', ?)", .id(file), .id(run),
        .int(wallMs)))
  }

  /// intended → open, if its file belongs to this run. `remoteID` is the server's name for it; `notes` replace the
  /// stored notes, nil keeps those.
  package func openSession(
    _ session: SessionID, _ run: RunID, remoteID: String, expiresAtMs: Int64?, notes: [String: String]? = nil
  ) throws -> TransitionResult {
    try moveSession(
      session, run, from: .intended, to: .open,
      """
      UPDATE session SET {moved}, remote_id = ?1, opened_at = ?2, expires_at = ?3, notes = coalesce(?4, notes)
      WHERE {guard}
      """, .text(remoteID), .int(wallMs), .int(expiresAtMs), try notes.map(json) ?? .null)
  }

  /// Records that the request of an attempt which must not be repeated opened this session: from now on the server can
  /// be queried about its result. Applies while the session is open and its file belongs to this run.
  package func askAbout(
    _ attempt: AttemptID, of session: SessionID, _ run: RunID
  ) throws -> TransitionResult {
    try moveSession(
      session, run, from: .open, to: .open,
      """
      UPDATE session SET opened_by = ?1 WHERE {guard} AND opened_by IS NULL
        AND EXISTS (SELECT 1 FROM attempt WHERE id = ?1 AND session_id = session.id AND outcome = 'open')
      """, .id(attempt))
  }

  /// Records a session whose name we chose: it is open from the beginning, because no server has to create it. Throws
  /// `.leaseLost` if the file does not belong to this run.
  package func beginOwnSession(
    _ file: FileID, _ run: RunID, remoteID: String, notes: [String: String]
  ) throws -> SessionID {
    let session = try intendSession(file, run)
    let opened = try moveSession(
      session, run, from: .intended, to: .open,
      "UPDATE session SET {moved}, remote_id = ?1, opened_at = ?2, notes = ?3 WHERE {guard}", .text(remoteID),
      .int(wallMs), try json(notes))
    try require(opened, session)
    return session
  }

  /// Replaces the notes of a session that has not ended, if its file belongs to this run.
  package func noteSession(
    _ session: SessionID, _ run: RunID, _ notes: [String: String]
  ) throws -> TransitionResult {
    // The state does not change.
    try result(
      db.run(
        """
        UPDATE session SET notes = ? WHERE id = ? AND state IN ('intended', 'open')
          AND EXISTS (SELECT 1 FROM file WHERE id = session.file_id AND run_id = ?)
        """, try json(notes), .id(session), .id(run))
    ) { try stateOf(session) }
  }

  /// intended, open → completed, aborted or gone. Also `.applied` if it is in that state already.
  package func endSession(_ session: SessionID, _ state: SessionState) throws -> TransitionResult {
    precondition(state != .intended && state != .open, "a session ends in a final state")
    let result = try moveSession(
      session, nil, to: state, "UPDATE session SET {moved}, ended_at = ?1 WHERE {guard}", .int(wallMs))
    if result.isApplied, state == .completed { try searchForLostCreate(of: session) }
    return result == .lost(to: state.rawValue) ? .applied : result
  }

  /// Completes an open session. One whose create request was never answered may exist on the server: it is aborted.
  func completeSession(_ session: SessionID, isOpen: Bool, of file: FileID) throws {
    guard isOpen else { return try dropSession(of: file) }
    let completed = try moveSession(
      session, nil, from: .open, to: .completed, "UPDATE session SET {moved}, ended_at = ?1 WHERE {guard}", .int(wallMs)
    )
    try require(completed, session)
    try searchForLostCreate(of: session)
  }
}
