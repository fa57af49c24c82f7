public import TransferModel

/// Transitions of attempts.
extension LedgerTransaction {
  /// Opens an attempt for the whole file; durable before its request is sent. Throws `.leaseLost` if the file does not
  /// belong to this run.
  package func beginAttempt(
    _ file: FileID, _ run: RunID, _ operation: AttemptOperation, session: SessionID?, isRepeatable: Bool
  ) throws -> AttemptID {
    precondition(operation != .part, "parts begin with beginChunks")
    if operation == .abort { try requireLease(run) } else { try requireWork(file, run) }
    return try openAttempt(file, run, operation, session: session, isRepeatable: isRepeatable)
  }

  func openAttempt(
    _ file: FileID, _ run: RunID, _ operation: AttemptOperation, session: SessionID?, isRepeatable: Bool
  ) throws -> AttemptID {
    began(
      try db.insert(
        """
        INSERT OR FAIL INTO attempt (uid, file_id, session_id, run_id, operation, n, is_repeatable, started_at, outcome)
        VALUES (?1, ?2, ?3, ?4, ?5, 1 + coalesce((
          SELECT max(n) FROM attempt WHERE file_id = ?2 AND operation = ?5 AND chunk_id IS NULL), 0), ?6, ?7, 'open')
        """, .uid(.make(wallMs: wallMs)), .id(file), .id(session), .id(run), .raw(operation), .flag(isRepeatable),
        .int(wallMs)))
  }

  /// Closes an attempt with its result; a closed attempt is history. Must precede the transition of its chunk or file.
  public func closeAttempt(_ attempt: AttemptID, _ run: RunID, _ r: AttemptResult) throws -> TransitionResult {
    precondition(r.outcome != .open, "an attempt ends with a result")
    // A separate statement: limiting the length needs a function, which the hot statement must do without.
    if let excerpt = r.replyExcerpt {
      try db.run(
        "UPDATE attempt SET reply_excerpt = ? WHERE id = ? AND outcome = 'open' AND run_id = ?",
        .blob(Array(excerpt.prefix(4096))), .id(attempt), .id(run))
    }
    if let sent = r.sent { try recordSent(sent, by: attempt, run) }
    let t = r.timing
    let changes = try db.run(
      """
      UPDATE OR FAIL attempt SET outcome = ?1, ended_at = iif(started_at > ?2, started_at, ?2), error_code = ?3,
        message = ?4, http_status = ?5, curl_code = ?6, errno = ?7, bytes_transferred = ?8, bytes_acked = ?9, dns_ms = ?10,
        connect_ms = ?11, tls_ms = ?12, first_byte_ms = ?13, total_ms = ?14, remote_ip = ?15, http_version = ?16,
        request_id = ?17, retry_after_ms = ?18, backoff_ms = ?19, may_have_arrived = ?20, sent_ms = ?21, held_ms = ?22,
        mirror = ?23
      WHERE id = ?24 AND outcome = 'open' AND run_id = ?25
      """, .raw(r.outcome), .int(r.endedMs ?? wallMs), .raw(r.code), .string(r.message), .int(r.httpStatus),
      .int(r.curlCode), .int(r.systemError), .int(r.bytesTransferred), .int(r.bytesAcked), ms(t.dnsMs),
      ms(t.connectMs), ms(t.tlsMs), ms(t.firstByteMs), ms(t.totalMs), filled(r.remoteIP), filled(r.httpVersion),
      filled(r.requestID), .int(r.retryAfterMs), .int(r.backoffMs), .flag(r.mayHaveArrived), ms(t.sentMs),
      t.heldMs > 0 ? .integer(t.heldMs) : .null, .string(r.mirror), .id(attempt), .id(run))
    guard changes == 1 else { return .lost(to: try outcomeOf(attempt, run)) }
    logs(attempt)
    if r.outcome != .ok { try delayAbort(of: attempt, backoffMs: r.backoffMs) }
    return .applied
  }

  /// Timings that were not reached are -1 in memory and NULL in the row.
  private func ms(_ value: Int64) -> SQLValue { value < 0 ? .null : .integer(value) }
  private func filled(_ text: String) -> SQLValue { text.isEmpty ? .null : .text(text) }

  private func outcomeOf(_ attempt: AttemptID, _ run: RunID) throws -> String? {
    try db.first("SELECT outcome FROM attempt WHERE id = ? AND run_id = ?", .id(attempt), .id(run)) { $0.text(0) }
  }

  /// An attempt whose end was not recorded.
  struct OpenAttempt {
    var id: AttemptID
    var file: FileID
    var chunk: ChunkID?
    var run: RunID
    var operation: AttemptOperation
    /// The request is repeatable, or the server can be queried about its result.
    var isRepeatable: Bool
  }

  func openAttempts(notOf run: RunID, _ only: FileID?) throws -> [OpenAttempt] {
    try db.rows(
      """
      SELECT id, file_id, chunk_id, run_id, operation, is_repeatable OR EXISTS (SELECT 1 FROM session s
         WHERE s.file_id = attempt.file_id AND s.opened_by = attempt.id AND s.state = 'open')
      FROM attempt WHERE outcome = 'open' AND run_id <> ?1 AND (?2 IS NULL OR file_id = ?2)
      """, .id(run), .id(only), row: Self.openAttempt)
  }

  /// The open attempts of a file in this run, except aborts.
  func openAttempts(of file: FileID, _ run: RunID) throws -> [OpenAttempt] {
    try db.rows(
      """
      SELECT id, file_id, chunk_id, run_id, operation, is_repeatable FROM attempt
      WHERE file_id = ? AND outcome = 'open' AND operation <> 'abort' AND run_id = ?
      """, .id(file), .id(run), row: Self.openAttempt)
  }

  private static func openAttempt(_ row: SQLRow) throws(SQLiteError) -> OpenAttempt {
    OpenAttempt(
      id: row.id(0), file: row.id(1), chunk: row.idOrNil(2), run: row.id(3), operation: try row.named(4),
      isRepeatable: row.flag(5))
  }

  /// Closes an attempt whose result is unknown, and releases its chunk. It ended at `endedMs`, or now.
  func closeUnheard(
    _ open: OpenAttempt, _ outcome: AttemptOutcome, _ code: ErrorCode, endedMs: Int64? = nil
  ) throws {
    var result = AttemptResult(outcome: outcome, code: code)
    (result.mayHaveArrived, result.endedMs) = (true, endedMs)
    try require(closeAttempt(open.id, open.run, result), open.id)
    try releaseChunk(of: open)
  }

  /// Records what an attempt of a crashed run had read of its file; does nothing if the attempt had ended.
  func recordSent(
    _ sent: SentContent.Piece, byDead attempt: AttemptID, notOf run: RunID, _ only: FileID?
  ) throws {
    try db.run(
      """
      INSERT INTO sent_body (attempt_id, offset, length, digest)
      SELECT id, ?1, ?2, ?3 FROM attempt
      WHERE id = ?4 AND outcome = 'open' AND operation = 'part' AND run_id <> ?5 AND (?6 IS NULL OR file_id = ?6)
      """, .int(sent.range.offset), .int(sent.range.length), .digest(sent.digest), .id(attempt), .id(run), .id(only))
  }

  /// Records what an attempt read of its file. The attempt is about to end without storing its chunk.
  func recordSent(_ sent: SentContent.Piece, by attempt: AttemptID, _ run: RunID) throws {
    try db.run(
      """
      INSERT INTO sent_body (attempt_id, offset, length, digest)
      SELECT id, ?, ?, ? FROM attempt WHERE id = ? AND outcome = 'open' AND run_id = ?
      """, .int(sent.range.offset), .int(sent.range.length), .digest(sent.digest), .id(attempt), .id(run))
  }
}
