public import TransferModel

extension LedgerReader {
  /// Events about the files and batches that the filter selects, ordered by number, after `after` and before `before`.
  /// An action that took several transactions is one row, with the number and the time of the first one.
  public func events(_ filter: RowFilter, after: Int64, before: Int64 = .max, limit: Int) throws -> [EventRow] {
    try db.rows(Self.wholeEvents, filter, .integer(after), .int(limit), .integer(before), row: Self.event)
  }

  /// The same events as they were recorded: one row for each transaction.
  public func eventParts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, limit: Int
  ) throws -> [EventRow] {
    try db.rows(Self.eventParts, filter, .integer(after), .int(limit), .integer(before), row: Self.event)
  }

  static let wholeEvents: StaticString = """
    SELECT g.*, f.path FROM (
      SELECT e.id, e.at, e.verb, e.batch_id, e.detail, coalesce(sum(r.last_file - r.first_file + 1), 0) AS files,
        min(r.first_file) AS low, max(r.last_file)
      FROM event e LEFT JOIN event p ON p.id = e.id OR p.part_of = e.id LEFT JOIN event_range r ON r.event_id = p.id
      WHERE e.id > ?1 AND e.id < ?3 AND e.part_of IS NULL AND {events} GROUP BY e.id ORDER BY e.id LIMIT ?2) g
    LEFT JOIN file f ON g.files = 1 AND f.id = g.low ORDER BY g.id
    """

  static let eventParts: StaticString = """
    SELECT g.*, f.path FROM (
      SELECT e.id, e.at, e.verb, e.batch_id, e.detail, coalesce(sum(r.last_file - r.first_file + 1), 0) AS files,
        min(r.first_file) AS low, max(r.last_file)
      FROM event e LEFT JOIN event_range r ON r.event_id = e.id
      WHERE e.id > ?1 AND e.id < ?3 AND {event parts} GROUP BY e.id ORDER BY e.id LIMIT ?2) g
    LEFT JOIN file f ON g.files = 1 AND f.id = g.low ORDER BY g.id
    """

  private static func event(_ row: SQLRow) -> EventRow {
    EventRow(
      id: row.int64(0), atMs: row.int64(1), verb: row.text(2), batch: row.idOrNil(3), detail: row.text(4),
      files: row.int(5), firstFile: row.idOrNil(6), lastFile: row.idOrNil(7),
      path: row.bytesOrNil(8).map { NameBytes($0) })
  }

  /// Ended attempts ordered by number, after `after` and before `before`; only those in `ids` if it is given.
  public func endedAttempts(
    _ filter: RowFilter, after: Int64, before: Int64 = .max, among ids: [AttemptID]? = nil, limit: Int = .max
  ) throws -> [FollowedAttempt] {
    if let ids, ids.isEmpty { return [] }
    let list = try ids.map { SQLValue.text(try jsonText($0.map(\.rawValue))) } ?? .null
    return try db.rows(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror, f.batch_id, f.path, f.state
      FROM v_attempts a JOIN file f ON f.id = a.file_id
      WHERE a.id > ?1 AND a.id < ?4 AND a.outcome <> 'open' AND (?3 IS NULL OR +a.id IN (SELECT value FROM json_each(?3)))
        AND {attempts} ORDER BY a.id LIMIT ?2
      """, filter, .integer(max(after, (ids?.min()?.rawValue ?? 1) - 1)), .int(limit), list, .integer(before),
      row: Self.followed)
  }

  /// Ended attempts ordered by number, starting after `after`, with the data that identifies them outside of this
  /// ledger.
  package func spans(_ filter: RowFilter, after: Int64, limit: Int) throws -> [SpanRow] {
    let hosts = try hosts()
    return try db.rows(
      """
      SELECT a.id, a.uid, a.file_id, a.chunk_id, a.run_id, a.operation, a.n, a.started_at, a.ended_at, a.outcome,
        a.error_code, a.message, a.http_status, a.curl_code, a.bytes_transferred, a.bytes_acked, a.connect_ms,
        a.first_byte_ms, a.total_ms, a.remote_ip, a.request_id, a.backoff_ms, a.mirror, f.batch_id, f.path, f.state,
        f.uid, f.is_download IS NOT NULL, a.http_version, r.host, r.version
      FROM v_attempts a JOIN file f ON f.id = a.file_id JOIN engine_run r ON r.id = a.run_id
      WHERE a.id > ?1 AND a.outcome <> 'open' AND {attempts} ORDER BY a.id LIMIT ?2
      """, filter, .integer(after), .int(limit)
    ) { row in
      SpanRow(
        Self.followed(row), file: row.uid(26), isDownload: row.flag(27),
        host: hosts.host(of: row.int64(23), mirror: row.textOrNil(22)), httpVersion: row.textOrNil(28),
        machine: row.text(29), version: row.text(30))
    }
  }

  private static func followed(_ row: SQLRow) -> FollowedAttempt {
    FollowedAttempt(attempt: attempt(row), batch: row.id(23), path: row.name(24), fileState: row.text(25))
  }

  /// The numbers of the newest event and attempt; 0 if there is none.
  public func newestNumbers() throws -> (event: Int64, attempt: Int64) {
    let numbers = try db.first("SELECT (SELECT max(id) FROM event), (SELECT max(id) FROM attempt)") {
      ($0.int64(0), $0.int64(1))
    }
    return numbers ?? (0, 0)
  }

  /// The same for each part of a merged ledger: numbers are in order of time within a part, but not across parts. Any
  /// other ledger is one part.
  package func newestNumbersOfParts() throws -> [NewestNumbers] {
    try shards().map { shard in
      let newest = try db.first(
        """
        SELECT (SELECT max(id) FROM event WHERE id >= ?1 AND id < ?2), (SELECT max(id) FROM attempt WHERE id >= ?1 AND id < ?2)
        """, .integer(shard.base), .integer(shard.end)
      ) { ($0.int64OrNil(0), $0.int64OrNil(1)) }
      return NewestNumbers(
        part: shard.rawValue, after: shard.base, before: shard.end, event: newest?.0 ?? shard.base,
        attempt: newest?.1 ?? shard.base)
    }
  }

  /// Attempts that have not ended yet, whose end a follower still has to report. Their errors are not known yet and the
  /// states of their files will change, so both are ignored in the filter.
  public func openAttempts(_ filter: RowFilter) throws -> [AttemptID] {
    var filter = filter
    (filter.errors, filter.states, filter.isBackingOff) = ([], [], false)
    return try db.rows(
      "SELECT a.id FROM attempt a JOIN file f ON f.id = a.file_id WHERE a.outcome = 'open' AND {attempts}", filter
    ) { $0.id(0) }
  }

  /// Whether any file or batch is hidden.
  public func hasHiddenRows() throws -> Bool {
    try db.first("SELECT EXISTS (SELECT 1 FROM file WHERE hidden = 1) OR EXISTS (SELECT 1 FROM batch WHERE hidden = 1)")
    {
      $0.flag(0)
    } ?? false
  }

  /// Changes whenever another connection has committed something to the ledger.
  func dataVersion() throws -> Int64 { try db.first("PRAGMA data_version") { $0.int64(0) } ?? 0 }
}
