public import TransferModel

extension LedgerReader {
  /// Sessions by number, after number `after`, that wait for their end, or whose file is at rest; not those of unknown
  /// files, which may be all that there is of a finished object. Read from the indexes of live sessions only.
  public func orphans(_ filter: RowFilter, after: Int64, limit: Int) throws -> [OrphanRow] {
    try db.rows(Self.orphans, filter, .integer(after), .int(limit), filter.sessionRanges) { row in
      OrphanRow(
        id: row.id(0), file: row.id(1), path: row.name(2), destination: row.text(3), protocolName: row.text(4),
        state: row.text(5), fileState: row.text(6), beganMs: row.int64(7), expiresMs: row.int64OrNil(8),
        abortAfterMs: row.int64OrNil(9), bytesAcked: row.int64(10), tries: row.int64(11), cause: row.textOrNil(12))
    }
  }

  /// How many requests that make something at a server lost their answer, where the server was not, or could not be,
  /// asked for a list of what it made: what they left there has no name here.
  public func lostCreations(_ filter: RowFilter) throws -> Int64 {
    try db.rows(Self.lostCreations, filter, .null, .null, filter.sessionRanges) { $0.int64(0) }.first ?? 0
  }

  /// A body that was to open its session counts when that was not open at its end. A list that was read came after the
  /// lost creation and before another one opened the session.
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

  static let orphans: StaticString = """
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
  /// Marks every session that ``LedgerReader/orphans(_:after:limit:)`` selects for its end at the server, now; returns
  /// how many. A file that had failed begins anew when it is retried. Recorded as an event. In parts, as all that
  /// people do to many rows.
  public func giveUpOrphans(_ filter: RowFilter) throws(TransferError) -> Int {
    var count = 0
    var last: Int64 = 0
    while case let page = try read({ try $0.orphans(filter, after: last, limit: 500) }), let final = page.last {
      count += try write { try $0.giveUpOrphans(page.map(\.id)) }
      last = final.id.rawValue
    }
    return count
  }
}

extension LedgerTransaction {
  /// Those of these sessions that are orphans still.
  func giveUpOrphans(_ sessions: [SessionID]) throws -> Int {
    let count = try sessions.reduce(0) { count, session in
      count
        + (try db.run(
          """
          UPDATE session SET abort_after = ? WHERE id = ? AND state IN ('intended', 'open') AND (abort_after IS NOT NULL
            OR (SELECT state FROM file WHERE id = file_id) IN ('done', 'failed', 'cancelled', 'superseded'))
          """, .int(wallMs), .id(session)))
    }
    if count > 0 {
      try recordEvent("sessions given up", batch: nil, file: nil, detail: "\(count) upload sessions are to be ended")
    }
    return count
  }
}
