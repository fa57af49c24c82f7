public import TransferModel

extension LedgerReader {
  /// Sessions that wait for their abort or whose file has ended, ordered by number, starting after `after`; not those
  /// of unknown files, which may be the only trace of a finished object. Reads only the indexes of live sessions.
  package func abandonedSessions(_ filter: RowFilter, after: Int64, limit: Int) throws -> [AbandonedSessionRow] {
    try db.rows(Self.abandonedSessions, filter, .integer(after), .int(limit), filter.sessionRanges) { row in
      AbandonedSessionRow(
        id: row.id(0), file: row.id(1), path: row.name(2), destination: row.text(3), protocolName: row.text(4),
        state: row.text(5), fileState: row.text(6), beganMs: row.int64(7), expiresMs: row.int64OrNil(8),
        abortAfterMs: row.int64OrNil(9), bytesAcked: row.int64(10), tries: row.int64(11), cause: row.textOrNil(12))
    }
  }

  /// The number of requests that create something on a server and whose answer was lost, if the server was not, or
  /// could not be, queried for a listing afterwards: the ledger has no name for what they left there.
  public func lostCreations(_ filter: RowFilter) throws -> Int64 {
    try db.rows(Self.lostCreations, filter, .null, .null, filter.sessionRanges) { $0.int64(0) }.first ?? 0
  }

  /// The number of open sessions that ``abandonedSessions(_:after:limit:)`` leaves out, because their files have not
  /// ended: waiting, paused, being sent or of unknown outcome.
  public func sessionsInUse(_ filter: RowFilter) throws -> Int64 {
    try db.rows(Self.sessionsInUse, filter, .null, .null, filter.sessionRanges) { $0.int64(0) }.first ?? 0
  }

  static let sessionsInUse: StaticString = """
    SELECT count(*) FROM session s JOIN file f ON f.id = s.file_id JOIN batch b ON b.id = f.batch_id
    WHERE s.id IN (SELECT id FROM session WHERE state IN ('intended', 'open') AND abort_after IS NULL)
      AND s.state = 'open' AND f.state NOT IN ('done', 'failed', 'cancelled', 'superseded')
      AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(?3) r WHERE s.id BETWEEN r.value ->> 0 AND r.value ->> 1))
      AND {files}
    """

  /// A body that was meant to open its session counts if the session was not open when the attempt ended. A listing
  /// counts as read if it came after the lost creation and before another request opened the session.
  static let lostCreations: StaticString = """
    SELECT count(*)
    FROM session s JOIN file f ON f.id = s.file_id JOIN batch b ON b.id = f.batch_id
      JOIN attempt a ON a.file_id = f.id AND a.session_id = s.id
    WHERE a.may_have_arrived AND a.outcome IN ('crashed', 'interrupted', 'retry', 'unknown')
      AND (a.operation = 'create' OR (a.operation = 'prepare' AND b.protocol = 'tus')
        OR (a.operation = 'part' AND (s.opened_at IS NULL OR s.opened_at > a.ended_at)))
      AND NOT EXISTS (SELECT 1 FROM attempt p
        WHERE p.file_id = f.id AND p.operation = 'probe' AND p.session_id = s.id AND p.id > a.id
          AND p.outcome = 'ok' AND p.http_status = 200 AND p.started_at <= coalesce(s.opened_at, p.started_at))
      AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(?3) r WHERE s.id BETWEEN r.value ->> 0 AND r.value ->> 1))
      AND {files}
    """

  static let abandonedSessions: StaticString = """
    SELECT s.id, s.file_id, f.path, b.destination, b.protocol, s.state, f.state, s.intended_at, s.expires_at,
      s.abort_after,
      iif(s.state = 'open', (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c
        WHERE c.file_id = f.id), 0),
      (SELECT count(*) FROM attempt a
        WHERE a.file_id = f.id AND a.operation = 'abort' AND a.session_id = s.id AND a.outcome <> 'open'),
      (SELECT a.error_code FROM attempt a
        WHERE a.file_id = f.id AND a.operation = 'abort' AND a.session_id = s.id ORDER BY a.id DESC LIMIT 1)
    FROM session s JOIN file f ON f.id = s.file_id JOIN batch b ON b.id = f.batch_id
    WHERE s.id > ?1 AND s.id IN (
        SELECT id FROM session WHERE state IN ('intended', 'open') AND abort_after IS NULL
        UNION ALL SELECT id FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL)
      AND (s.abort_after IS NOT NULL OR f.state IN ('done', 'failed', 'cancelled', 'superseded'))
      AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(?3) r WHERE s.id BETWEEN r.value ->> 0 AND r.value ->> 1))
      AND {files}
    ORDER BY s.id LIMIT ?2
    """
}

extension Ledger {
  /// Marks every session that ``LedgerReader/abandonedSessions(_:after:limit:)`` selects to be aborted on the
  /// server now; returns how many. A file that had failed starts over when it is retried. Recorded as an event. Works
  /// in parts, like every action of people on many rows.
  public func giveUpAbandonedSessions(_ filter: RowFilter) throws(TransferError) -> Int {
    var count = 0
    var last: Int64 = 0
    while case let page = try read({ try $0.abandonedSessions(filter, after: last, limit: 500) }), let final = page.last
    {
      count += try write { try $0.giveUpAbandonedSessions(page.map(\.id)) }
      last = final.id.rawValue
    }
    return count
  }
}

extension LedgerTransaction {
  /// Marks those of these sessions that are still abandoned.
  func giveUpAbandonedSessions(_ sessions: [SessionID]) throws -> Int {
    let count = try sessions.reduce(0) { count, session in
      count
        + (try db.run(
          """
          UPDATE session SET abort_after = ? WHERE id = ? AND state IN ('intended', 'open') AND (abort_after IS NOT NULL
            OR (SELECT state FROM file WHERE id = file_id) IN ('done', 'failed', 'cancelled', 'superseded'))
          """, .int(wallMs), .id(session)))
    }
    if count > 0 {
      try recordEvent("sessions given up", batch: nil, file: nil, detail: "\(count) upload sessions will be aborted")
    }
    return count
  }
}
