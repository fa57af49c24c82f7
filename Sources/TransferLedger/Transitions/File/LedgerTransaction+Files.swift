public import TransferModel

/// Transitions of a file while an engine has it, and those that release it.
extension LedgerTransaction {
  /// active → finishing, when every chunk is done.
  public func startFinishing(_ file: FileID, _ run: RunID) throws -> TransitionResult {
    try moveFile(
      file, run, from: .active, to: .finishing,
      """
      UPDATE OR FAIL file SET {moved}
      WHERE {guard} AND chunk_count = (SELECT count(*) FROM chunk WHERE file_id = file.id AND state = 'done')
      """)
  }

  /// finishing → active.
  public func resumeSending(_ file: FileID, _ run: RunID) throws -> TransitionResult {
    try moveFile(file, run, from: .finishing, to: .active, "UPDATE file SET {moved} WHERE {guard}")
  }

  func reopenWork(_ file: FileID, _ run: RunID) throws {
    try requireWork(file, run)
    _ = try resumeSending(file, run)
  }

  /// active, finishing → done with its receipt, if every chunk is done and no attempt is open. The receipt refers to
  /// the newest attempt that succeeded. An open session is completed too.
  /// - Parameters:
  ///   - sha256: SHA-256 of the content of the file, if it is known; part of the receipt.
  ///   - content: SHA-256 of what was sent, if the batch uses `dedupe`.
  package func completeFile(
    _ file: FileID, _ run: RunID, _ receipt: FileReceipt, sha256: Digest? = nil, content: Digest? = nil
  ) throws -> TransitionResult {
    let complete = try db.first(Self.completeFile, .id(file), .id(run)) { row throws(SQLiteError) in
      (
        session: row.idOrNil(0, SessionID.self), isOpen: row.flag(1),
        requestedAction: try row.namedOrNil(2, RequestedAction.self),
        size: row.int64(3),
        attempt: row.int64OrNil(4)
      )
    }
    guard let complete else { return .lost(to: try stateOf(file, run)) }
    let proof = receipt.proof
    try db.run(
      """
      INSERT OR FAIL INTO receipt (file_id, size, attempt_id, confirmation, digest, remote_digest, sha256, etag,
        version_id, request_id, server_date, location, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .id(file), .integer(complete.size), .int(complete.attempt), .raw(proof.confirmation),
      .digest(proof.digest), .digest(proof.remoteDigest), .digest(sha256), .text(proof.etag), .text(proof.versionID),
      .text(proof.requestID), .text(proof.serverDate), .text(receipt.location), .int(wallMs))
    logs(receipt: 1, of: file)
    let moved = try moveFile(
      file, run, to: .done,
      """
      UPDATE OR FAIL file SET {moved}, run_id = NULL, cause = NULL, message = NULL, failures = 0,
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = iif(started_at > ?1, started_at, ?1)
      WHERE {guard}
      """, .int(wallMs))
    try require(moved, file)
    if let content { try recordContent(file, content) }
    if let session = complete.session { try completeSession(session, isOpen: complete.isOpen, of: file) }
    try honourEnd(complete.requestedAction, of: file)
    return .applied
  }

  /// The guard of ``completeFile(_:_:_:)``, separate from the insertion: an `INSERT … SELECT` into a table with a
  /// trigger uses a temporary table, which costs more than this query. Most files have no session.
  private static let completeFile: StaticString = """
    SELECT s.id, s.state = 'open', f.requested_action, f.size,
      (SELECT max(id) FROM attempt WHERE file_id = ?1 AND outcome = 'ok' AND operation <> 'abort')
    FROM file f
    LEFT JOIN session s ON s.file_id = f.id AND s.state IN ('intended', 'open') AND s.abort_after IS NULL
    WHERE f.id = ?1 AND f.run_id = ?2 AND f.state IN ('active', 'finishing')
      AND NOT EXISTS (SELECT 1 FROM attempt WHERE file_id = ?1 AND outcome = 'open' AND operation <> 'abort')
      AND f.chunk_count = (SELECT count(*) FROM chunk WHERE file_id = ?1 AND state = 'done')
    """

  /// active, finishing → pending, with the time before which it is not tried again. No attempt may be open. `isFailure`
  /// counts it as a failure; `code` is kept as the cause. If a request for the file was recorded in the meantime, it is
  /// honoured: the file is then paused, cancelled or removed.
  public func releaseFile(
    _ file: FileID, _ run: RunID, notBeforeMs: Int64?, code: ErrorCode?, isFailure: Bool
  ) throws -> TransitionResult {
    let requestedAction = try requestedAction(of: file)
    let result = try moveFile(
      file, run, to: .pending, isIdle: true,
      """
      UPDATE file SET {moved}, run_id = NULL, requested_action = NULL, not_before = ?1, cause = coalesce(?2, cause),
        failures = failures + ?3
      WHERE {guard}
      """, .int(notBeforeMs), .raw(code), .flag(isFailure))
    if result.isApplied { try honour(requestedAction, of: file) }
    return result
  }

  /// active, finishing → failed; chunks that are not done fail with it. No attempt may be open. Without `keepsSession`
  /// the live session is marked for abort; with it a retry resumes from what the server has.
  public func failFile(
    _ file: FileID, _ run: RunID, code: ErrorCode, message: String, keepsSession: Bool
  ) throws -> TransitionResult {
    let requestedAction = try requestedAction(of: file)
    let result = try moveFile(
      file, run, to: .failed, isIdle: true,
      """
      UPDATE file SET {moved}, live = NULL, run_id = NULL, cause = ?1, message = ?2,
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = max(started_at, ?3)
      WHERE {guard}
      """, .raw(code), .text(message), .int(wallMs))
    guard result.isApplied else { return result }
    try endChunks(of: file)
    if !keepsSession { try dropSession(of: file) }
    try honourEnd(requestedAction, of: file)
    return .applied
  }

  /// active, finishing → unknown: the answer to a request that must not be repeated was lost. No attempt may be open.
  /// If cancellation was requested in the meantime, the file is cancelled.
  public func markUnknown(
    _ file: FileID, _ run: RunID, code: ErrorCode, message: String
  ) throws -> TransitionResult {
    let requestedAction = try requestedAction(of: file)
    let result = try moveFile(
      file, run, to: .unknown, isIdle: true,
      """
      UPDATE file SET {moved}, run_id = NULL, requested_action = NULL, cause = ?1, message = ?2, may_have_arrived = 1
      WHERE {guard}
      """, .raw(code), .text(message))
    guard result.isApplied else { return result }
    // A person decides now, and only once.
    if code == .engineCopied { try decideDoubt(of: file) }
    try honour(requestedAction, of: file)
    return .applied
  }

  /// active, finishing → unknown: its run crashed while a request that must not be repeated was open.
  func leaveUnknown(_ open: OpenAttempt) throws {
    _ = try moveFile(
      open.file, open.run, to: .unknown,
      """
      UPDATE file SET {moved}, run_id = NULL, requested_action = NULL, cause = 'engine.crashed',
        message = 'the engine crashed while a request that must not be repeated was open', may_have_arrived = 1
      WHERE {guard}
      """)
  }
}
