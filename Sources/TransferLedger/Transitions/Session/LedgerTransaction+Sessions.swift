public import TransferModel

/// How a session begins and ends.
extension LedgerTransaction {
  /// Records that a session will be asked for; durable before the create call is sent. Throws `.leaseLost` when the
  /// file is not with this run; a second live session of a file is refused by the schema.
  public func intendSession(_ file: FileID, _ run: RunID) throws -> SessionID {
    try requireWork(file, run)
    return SessionID(
      rawValue: try db.insert(
        "INSERT INTO session (file_id, run_id, state, intended_at) VALUES (?, ?, 'intended', ?)", .id(file), .id(run),
        .int(wallMs)))
  }

  /// intended → open, when its file is with this run. `remoteID` is the name that the server gave it; `notes` replace
  /// what is remembered of it, nil leaves that.
  public func openSession(
    _ session: SessionID, _ run: RunID, remoteID: String, expiresAtMs: Int64?, notes: [String: String]? = nil
  ) throws -> TransitionResult {
    try moveSession(
      session, run, from: .intended, to: .open,
      """
      UPDATE session SET {moved}, remote_id = ?1, opened_at = ?2, expires_at = ?3, notes = coalesce(?4, notes)
      WHERE {guard}
      """, .text(remoteID), .int(wallMs), .int(expiresAtMs), try notes.map(json) ?? .null)
  }

  /// An attempt that must not be repeated opened this session by its own request: what became of it can be asked from
  /// now on. Applies while the session is open and its file is with this run.
  public func askAbout(
    _ attempt: AttemptID, of session: SessionID, _ run: RunID
  ) throws -> TransitionResult {
    try moveSession(
      session, run, from: .open, to: .open,
      """
      UPDATE session SET opened_by = ?1 WHERE {guard} AND opened_by IS NULL
        AND EXISTS (SELECT 1 FROM attempt WHERE id = ?1 AND session_id = session.id AND outcome = 'open')
      """, .id(attempt))
  }

  /// A session whose name is ours begins open: nobody has to be asked for it. Throws `.leaseLost` when the file is not
  /// with this run.
  public func beginOwnSession(
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

  /// Replaces what is remembered of a live session, when its file is with this run.
  public func noteSession(
    _ session: SessionID, _ run: RunID, _ notes: [String: String]
  ) throws -> TransitionResult {
    // It keeps the state that it has.
    try result(
      db.run(
        """
        UPDATE session SET notes = ? WHERE id = ? AND state IN ('intended', 'open')
          AND EXISTS (SELECT 1 FROM file WHERE id = session.file_id AND run_id = ?)
        """, try json(notes), .id(session), .id(run))
    ) { try stateOf(session) }
  }

  /// intended, open → completed, aborted or gone. Applied too when it is there already.
  public func endSession(_ session: SessionID, _ state: SessionState) throws -> TransitionResult {
    precondition(state != .intended && state != .open, "a session ends in a last state")
    let result = try moveSession(
      session, nil, to: state, "UPDATE session SET {moved}, ended_at = ?1 WHERE {guard}", .int(wallMs))
    if result.isApplied, state == .completed { try watchForOrphan(of: session) }
    return result == .lost(to: state.rawValue) ? .applied : result
  }

  /// One that was never answered may exist at the server: it is aborted.
  func completeSession(_ session: SessionID, isOpen: Bool, of file: FileID) throws {
    guard isOpen else { return try dropSession(of: file) }
    let completed = try moveSession(
      session, nil, from: .open, to: .completed, "UPDATE session SET {moved}, ended_at = ?1 WHERE {guard}", .int(wallMs)
    )
    try require(completed, session)
    try watchForOrphan(of: session)
  }
}
