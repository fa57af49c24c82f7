import TransferModel

/// What only a file has that was claimed before: a session, chunks, and requests that may have been lost. Lives inside
/// one transaction.
struct ClaimHistory {
  let tx: LedgerTransaction

  /// Adds the properties that only a file which was claimed before can have.
  func added(to file: ClaimedFile) throws -> ClaimedFile {
    var file = file
    file.identity = try tx.sighted(file.id, file.identity)
    file.session = try tx.db.first(
      """
      SELECT id, remote_id, intended_at, expires_at, notes FROM session
      WHERE file_id = ? AND state IN ('intended', 'open') AND abort_after IS NULL
      """, .id(file.id)
    ) { row in
      ClaimedSession(
        id: row.id(0),
        SessionFacts(
          remoteID: row.textOrNil(1), intendedAtMs: row.int64(2), expiresAtMs: row.int64OrNil(3),
          notes: storedValues(row.textOrNil(4))))
    }
    if let session = file.session, session.facts.remoteID != nil {
      file.session?.facts.mayHoldBytes =
        try tx.db.first(Self.sentToSession, .id(file.id), .id(session.id)) { $0.flag(0) } ?? false
    }
    if file.direction == .upload { file.sentEnds = try sentEnds(file.id, file.session?.id) }
    if file.layout != nil {
      (file.doneChunks, file.doneBytes, file.hasLosses) =
        try tx.db.first(
          """
          SELECT coalesce(sum(state = 'done'), 0), coalesce(sum(iif(state = 'done', length, acked)), 0),
            coalesce(max(losses), 0) > 0
          FROM chunk WHERE file_id = ?
          """, .id(file.id)
        ) { ($0.int(0), $0.int64(1), $0.flag(2)) } ?? (0, 0, false)
      file.waitingUntil = try tx.db.rows(
        """
        SELECT coalesce(not_before, 0) FROM chunk
        WHERE file_id = ? AND (state = 'waiting' OR (state = 'pending' AND failures > 0))
        """, .id(file.id)
      ) { $0.int64(0) }
    }
    file.lostAnswer = try lostAnswer(file.id)
    return file
  }

  /// The newest operation whose answer was lost: an attempt ended without an answer after its request may have arrived,
  /// and none succeeded since. Each chunk is considered separately: the success of one says nothing about another.
  private func lostAnswer(_ file: FileID) throws -> AttemptOperation? {
    let operations = try tx.db.rows(Self.lostAnswers, .id(file)) { row throws(SQLiteError) in
      (operation: try row.named(0, AttemptOperation.self), ok: row.int64(1), lost: row.int64(2))
    }
    let lost = operations.filter { $0.lost > $0.ok }
    // A query is repeated because of the operation that it is about.
    let effects = lost.filter { $0.operation != .verify && $0.operation != .probe }
    return (effects.isEmpty ? lost : effects).max { $0.lost < $1.lost }?.operation
  }

  private static let sentToSession: StaticString = """
    SELECT EXISTS (SELECT 1 FROM attempt
      WHERE file_id = ? AND operation = 'part' AND session_id = ? AND (bytes_transferred > 0 OR outcome = 'crashed'))
    """

  /// How far the bodies of a session may have been sent, by the number of the chunk. The body of a crashed attempt
  /// counts to the end of its chunk, and so does that of an attempt that the ledger refused to close: what they had
  /// read was perhaps not recorded.
  private func sentEnds(_ file: FileID, _ session: SessionID?) throws -> [Int: Int64] {
    let ends = try tx.db.rows(Self.sentEnds, .id(file), .id(session)) { ($0.int(0), $0.int64(1)) }
    return Dictionary(ends, uniquingKeysWith: max)
  }

  private static let sentEnds: StaticString = """
    SELECT c.seq, iif(a.outcome <> 'crashed' AND b.attempt_id IS NOT NULL, b.offset + b.length, c.offset + c.length)
    FROM attempt a CROSS JOIN chunk c ON c.id = a.chunk_id LEFT JOIN sent_body b ON b.attempt_id = a.id
    WHERE a.file_id = ? AND a.operation = 'part' AND a.session_id IS ?
      AND (a.bytes_transferred > 0 OR a.outcome IN ('ok', 'crashed') OR b.attempt_id IS NOT NULL
        OR a.may_have_arrived AND a.error_code = 'engine.bug')
    """

  static let lostAnswers: StaticString = """
    SELECT operation, max(iif(outcome = 'ok', id, 0)),
      max(iif(outcome IN ('crashed', 'interrupted', 'retry') AND may_have_arrived, id, 0))
    FROM attempt WHERE file_id = ? GROUP BY operation, chunk_id
    """
}
