public import TransferModel

extension LedgerReader {
  /// Whether a callback is due. Takes no lock that blocks others.
  public func hasDueCallback(nowMs: Int64, resting: [Int64]) throws -> Bool {
    try db.first(Self.dueCallbacks, .integer(nowMs), .text(try jsonText(resting)), .int(1)) { _ in true } ?? false
  }

  /// Callbacks that are due at ?1 and whose receiver is not in ?2, at most ?3. Visits the receivers with waiting
  /// callbacks, and reads only the first due ones of each: a busy or unreachable receiver may have a hundred thousand.
  static let dueCallbacks: StaticString = """
    WITH RECURSIVE receiver (id) AS (
      SELECT min(callback_id) FROM outbox WHERE state = 'waiting'
      UNION ALL
      SELECT (SELECT min(callback_id) FROM outbox WHERE state = 'waiting' AND callback_id > receiver.id)
      FROM receiver WHERE receiver.id IS NOT NULL)
    SELECT o.id, c.id, c.event, c.kind, c.target, c.secret, hex(coalesce(o.uid, f.uid, b.uid)), o.failures, o.file_id, o.body,
      iif(o.file_id IS NULL, c.batch_id, NULL)
    FROM receiver r CROSS JOIN callback c ON c.id = r.id CROSS JOIN outbox o ON o.id IN (
      SELECT w.id FROM outbox w
      WHERE w.callback_id = c.id AND w.state = 'waiting' AND w.not_before <= ?1
        AND NOT EXISTS (SELECT 1 FROM outbox e CROSS JOIN callback d ON d.id = e.callback_id
          WHERE e.file_id = w.file_id AND e.id < w.id AND (e.state = 'waiting' OR e.state = 'delivering')
            AND d.kind = c.kind AND d.target = c.target)
        AND NOT EXISTS (SELECT 1 FROM callback d CROSS JOIN outbox e ON e.callback_id = d.id AND e.file_id IS NULL
          WHERE d.job = c.job AND d.kind = c.kind AND d.target = c.target AND e.id < w.id
            AND (e.state = 'waiting' OR e.state = 'delivering'))
      ORDER BY w.not_before, w.id LIMIT ?3)
    LEFT JOIN file f ON f.id = o.file_id LEFT JOIN batch b ON b.id = c.batch_id
    WHERE c.id NOT IN (SELECT value FROM json_each(?2))
    ORDER BY o.not_before, o.id LIMIT ?3
    """

  static func due(_ row: SQLRow) throws(SQLiteError) -> DueCallback {
    DueCallback(
      id: row.int64(0), receiver: row.int64(1),
      setting: CallbackSetting(try row.named(2), try row.named(3), row.text(4), secret: row.text(5)),
      key: "\(row.text(6).lowercased())-\(row.text(2))" + (row.isNull(9) ? "-\(row.int64(0))" : ""),
      failures: row.int(7), file: row.idOrNil(8), batch: row.idOrNil(10),
      body: row.textOrNil(9))
  }

  /// The first of these numbers that no callback has.
  package func missingCallback(among ids: [Int64]) throws -> Int64? {
    try ids.first { id in try db.first("SELECT 1 FROM outbox WHERE id = ?", .integer(id), row: { _ in true }) == nil }
  }

  /// Callbacks ordered by number, starting after `after`; with `isOpen` only those that wait, are being delivered or
  /// were given up.
  package func callbacks(after: Int64, isOpen: Bool, limit: Int) throws -> [CallbackRow] {
    try db.rows(isOpen ? Self.openCallbacks : Self.allCallbacks, .integer(after), .int(limit), row: Self.callback)
  }

  /// How many callbacks wait or are being delivered, how many were given up, and how many more were given up and
  /// forgotten: no row is kept of them.
  public func callbacksLeft() throws -> CallbacksLeft {
    let left = try db.first(
      """
      SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting') + (SELECT count(*) FROM outbox
        WHERE state = 'delivering'), (SELECT count(*) FROM outbox WHERE state = 'gave_up')
      """
    ) { CallbacksLeft(waiting: $0.int(0), givenUp: $0.int(1)) }
    return try addForgotten(of: nil, to: left)
  }

  /// - Parameter job: nil for all. The view is small: one row for each receiver that ever lost callbacks.
  private func addForgotten(of job: String?, to left: CallbacksLeft?) throws -> CallbacksLeft {
    var left = left ?? CallbacksLeft()
    let sums = try db.first(
      """
      SELECT coalesce(sum(callbacks), 0), coalesce(sum(callbacks) FILTER (WHERE heard_since = 0), 0)
      FROM v_forgotten_callbacks WHERE ?1 IS NULL OR job = ?1
      """, .string(job)
    ) { ($0.int(0), $0.int(1)) }
    if let sums { (left.forgotten, left.unheard) = sums }
    return left
  }

  /// The same counts for a job: for its runs and for the files of its batches. Reads only undelivered callbacks.
  public func callbacksLeft(ofJob job: String) throws -> CallbacksLeft {
    let left = try db.first(Self.callbacksOfJob, .text(job)) { CallbacksLeft(waiting: $0.int(0), givenUp: $0.int(1)) }
    return try addForgotten(of: job, to: left)
  }

  static let callbacksOfJob: StaticString = """
    WITH open (callback_id, has_ended) AS (
      SELECT callback_id, 0 FROM outbox WHERE state = 'waiting'
      UNION ALL SELECT callback_id, 0 FROM outbox WHERE state = 'delivering'
      UNION ALL SELECT callback_id, 1 FROM outbox WHERE state = 'gave_up')
    SELECT coalesce(sum(has_ended = 0), 0), coalesce(sum(has_ended), 0)
    FROM open o CROSS JOIN callback c ON c.id = o.callback_id LEFT JOIN batch b ON b.id = c.batch_id
    WHERE coalesce(c.job, b.job) = ?1
    """

  private static let openCallbacks: StaticString = """
    WITH open (id) AS (
      SELECT id FROM outbox WHERE state = 'waiting' UNION ALL SELECT id FROM outbox WHERE state = 'delivering'
      UNION ALL SELECT id FROM outbox WHERE state = 'gave_up')
    SELECT o.id, c.event, c.kind, c.target, c.secret, o.state, o.file_id, c.batch_id, c.job, o.failures, o.not_before,
      o.recorded_at, o.ended_at, d.n, d.exit_code, d.http_status, d.message
    FROM open n CROSS JOIN outbox o ON o.id = n.id CROSS JOIN callback c ON c.id = o.callback_id LEFT JOIN delivery d
      ON d.outbox_id = o.id AND d.n = (SELECT max(n) FROM delivery WHERE outbox_id = o.id)
    WHERE n.id > ?1 ORDER BY n.id LIMIT ?2
    """
  private static let allCallbacks: StaticString = """
    SELECT o.id, c.event, c.kind, c.target, c.secret, o.state, o.file_id, c.batch_id, c.job, o.failures, o.not_before,
      o.recorded_at, o.ended_at, d.n, d.exit_code, d.http_status, d.message
    FROM outbox o CROSS JOIN callback c ON c.id = o.callback_id LEFT JOIN delivery d
      ON d.outbox_id = o.id AND d.n = (SELECT max(n) FROM delivery WHERE outbox_id = o.id)
    WHERE o.id > ?1 ORDER BY o.id LIMIT ?2
    """

  private static func callback(_ row: SQLRow) throws(SQLiteError) -> CallbackRow {
    var callback = CallbackRow(
      id: row.int64(0),
      setting: CallbackSetting(try row.named(1), try row.named(2), row.text(3), secret: row.text(4)),
      state: try row.named(5))
    (callback.file, callback.batch, callback.job) = (row.idOrNil(6), row.idOrNil(7), row.textOrNil(8))
    (callback.failures, callback.notBeforeMs) = (row.int(9), row.int64(10))
    (callback.recordedMs, callback.endedMs) = (row.int64OrNil(11), row.int64OrNil(12))
    (callback.deliveries, callback.exitCode) = (row.int(13), row.intOrNil(14))
    (callback.httpStatus, callback.message) = (row.intOrNil(15), row.textOrNil(16))
    return callback
  }
}
