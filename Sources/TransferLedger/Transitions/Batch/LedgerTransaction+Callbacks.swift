import TransferModel

/// Callbacks: waiting → delivering → delivered, or back to waiting until they are given up. A trigger inserts the rows
/// for files, in the transaction that changes the state which they report. Only the process that holds a
/// ``DeliveryTurn`` begins and ends deliveries.
extension LedgerTransaction {
  /// Failed deliveries after which a callback is given up: about two days if an engine is running.
  public static let deliveriesAtMost = 60
  /// The longest wait between two deliveries of one callback, in milliseconds.
  public static let longestDeliveryWaitMs: Int64 = 3_600_000
  static let firstDeliveryWaitMs: Int64 = 5_000
  /// The newest callbacks kept for each receiver of a job; older ones that have ended are deleted.
  static let jobCallbacksKept = 100

  /// Records the receivers of a batch's callbacks. If one receiver is given with two keys, the first is used.
  func nameReceivers(_ callbacks: [CallbackSetting], of batch: Int64) throws {
    for setting in callbacks {
      try db.run(
        """
        INSERT INTO callback (batch_id, event, kind, target, secret) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE NOT EXISTS (SELECT 1 FROM callback WHERE batch_id = ?1 AND event = ?2 AND kind = ?3 AND target = ?4)
        """, .integer(batch), .raw(setting.event), .raw(setting.kind), .text(setting.target), .text(setting.secret))
    }
  }

  /// Queues a callback of a job's run for an event other than its end, to those of `callbacks` that subscribe to this
  /// event. `uid` is that of the run.
  package func tell(_ event: CallbackEvent, ofJob job: String, uid: UID, body: String, _ callbacks: [CallbackSetting])
    throws
  {
    for setting in callbacks where setting.event == event {
      try queue(setting, ofJob: job, uid: uid, body: body, nil)
    }
  }

  /// Queues callbacks for the end of a job's run that was recorded (``recordJob(_:)``), for receivers whose pace
  /// includes it.
  /// - Parameter body: the document; its argument is the number of runs that were not successful since the last
  ///   callback to the receiver, including this run.
  package func tellEnd(
    _ event: CallbackEvent, ofJob job: String, uid: UID, result: String, _ callbacks: [CallbackSetting],
    body: (_ failedRuns: Int) -> String
  ) throws {
    let failedRuns = try db.first("SELECT failed_runs FROM job_state WHERE job = ?", .text(job)) { $0.int(0) } ?? 0
    let isSuccess = event == .succeeded
    let run = ToldRun(result: result, isSuccess: isSuccess, failedRuns: failedRuns, recordedMs: wallMs)
    for setting in callbacks where setting.event == event {
      let last = try lastTold(setting, ofJob: job)
      guard setting.pace.tells(isSuccess: isSuccess, result: result, after: last, nowMs: wallMs) else { continue }
      let since = last.map { max(0, failedRuns - $0.failedRuns) } ?? (isSuccess ? 0 : 1)
      try queue(setting, ofJob: job, uid: uid, body: body(since), run)
    }
    try withdrawStarts(ofJob: job)
  }

  /// waiting → cancelled, for pings of a start that failed already, if the end of a run waits behind them: a dead man's
  /// switch that learned of the start only now would wait for another end, and one that refuses starts would not learn
  /// of ends.
  private func withdrawStarts(ofJob job: String) throws {
    try db.run(
      """
      UPDATE outbox SET state = 'cancelled', ended_at = ?2 WHERE state = 'waiting' AND failures > 0
        AND callback_id IN (SELECT id FROM callback WHERE job = ?1 AND event = 'started' AND kind = 'ping')
        AND EXISTS (SELECT 1 FROM callback s CROSS JOIN callback d CROSS JOIN outbox e ON e.callback_id = d.id
          WHERE s.id = outbox.callback_id AND d.job = ?1 AND d.event <> 'started' AND d.kind = 'ping'
            AND d.target = s.target AND e.id > outbox.id)
      """, .text(job), .int(wallMs))
  }

  private func queue(
    _ setting: CallbackSetting, ofJob job: String, uid: UID, body: String, _ run: ToldRun?
  ) throws {
    let receiver = try receiver(setting, ofJob: job)
    try db.run(
      "INSERT INTO outbox (callback_id, uid, body, result, failed_runs, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
      .integer(receiver), .uid(uid), .text(body), .string(run?.result), .int(run?.failedRuns), .int(wallMs))
    try forgetOld(of: receiver)
  }

  /// The last end of a run that was or will be reported to this receiver. Callbacks that were given up do not count.
  private func lastTold(_ setting: CallbackSetting, ofJob job: String) throws -> ToldRun? {
    try db.first(
      """
      SELECT o.result, c.event = 'succeeded', o.failed_runs, o.recorded_at
      FROM callback c CROSS JOIN outbox o ON o.callback_id = c.id
      WHERE c.job = ? AND c.kind = ? AND c.target = ? AND o.result IS NOT NULL AND o.state <> 'gave_up'
      ORDER BY o.id DESC LIMIT 1
      """, .text(job), .raw(setting.kind), .text(setting.target)
    ) {
      ToldRun(result: $0.text(0), isSuccess: $0.int(1) == 1, failedRuns: $0.int(2), recordedMs: $0.int64(3))
    }
  }

  /// waiting → cancelled, for callbacks of a run that began nothing. Those delivered in the meantime do not change.
  /// - Returns: whether any were waiting.
  package func takeBack(_ event: CallbackEvent, ofJob job: String, uid: UID) throws -> Bool {
    let taken = try db.run(
      """
      UPDATE outbox SET state = 'cancelled', ended_at = ?4 WHERE state = 'waiting' AND uid = ?3
        AND callback_id IN (SELECT id FROM callback WHERE job = ?1 AND event = ?2)
      """, .text(job), .raw(event), .uid(uid), .int(wallMs))
    return taken > 0
  }

  private func receiver(_ setting: CallbackSetting, ofJob job: String) throws -> Int64 {
    let known = try db.first(
      "SELECT id FROM callback WHERE job = ? AND event = ? AND kind = ? AND target = ? AND secret = ?", .text(job),
      .raw(setting.event), .raw(setting.kind), .text(setting.target), .text(setting.secret)
    ) { $0.int64(0) }
    return try known
      ?? db.insert(
        "INSERT INTO callback (job, event, kind, target, secret) VALUES (?, ?, ?, ?, ?)", .text(job),
        .raw(setting.event), .raw(setting.kind), .text(setting.target), .text(setting.secret))
  }

  /// A job that runs every five minutes for years sends as many callbacks. A receiver that is unreachable for days gets
  /// only the newest callbacks; the older ones are given up. Deleted callbacks that were given up are counted
  /// (`callback_loss`).
  private func forgetOld(of receiver: Int64) throws {
    let oldest = try db.first(
      "SELECT id FROM outbox WHERE callback_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?", .integer(receiver),
      .int(Self.jobCallbacksKept)
    ) { $0.int64(0) }
    guard let oldest else { return }
    try db.run(
      """
      DELETE FROM delivery WHERE outbox_id IN (
        SELECT id FROM outbox WHERE callback_id = ?1 AND id <= ?2 AND ended_at IS NOT NULL)
      """, .integer(receiver), .integer(oldest))
    try db.run(
      "DELETE FROM outbox WHERE callback_id = ?1 AND id <= ?2 AND ended_at IS NOT NULL", .integer(receiver),
      .integer(oldest))
    try db.run(
      "UPDATE outbox SET state = 'gave_up', ended_at = ?3 WHERE callback_id = ?1 AND id <= ?2 AND state = 'waiting'",
      .integer(receiver), .integer(oldest), .int(wallMs))
  }

  /// delivering → waiting, for callbacks of a crashed process. A callback that waits longer than the longest possible
  /// wait, because a clock was set, becomes due.
  public func recoverDeliveries() throws {
    try db.run(
      """
      UPDATE delivery SET outcome = 'crashed', ended_at = max(started_at, ?1), message = 'the process crashed'
      WHERE outbox_id IN (SELECT id FROM outbox WHERE state = 'delivering') AND outcome = 'open'
      """, .int(wallMs))
    try db.run("UPDATE outbox SET state = 'waiting', not_before = 0 WHERE state = 'delivering'")
    try db.run(
      "UPDATE outbox SET not_before = 0 WHERE state = 'waiting' AND not_before > ?",
      .int(wallMs + 2 * Self.longestDeliveryWaitMs))
  }

  /// waiting → delivering for callbacks that are due, each with a row for the delivery. For the same receiver and the
  /// same file or job, the older callback is delivered first.
  /// - Parameter resting: receivers that get nothing at present.
  package func beginDeliveries(limit: Int, resting: [Int64] = []) throws -> [DueCallback] {
    let due = try db.rows(
      LedgerReader.dueCallbacks, .int(wallMs), .text(try jsonText(resting)), .int(limit), row: LedgerReader.due)
    return try due.filter { callback in
      let changes = try db.run(
        "UPDATE outbox SET state = 'delivering' WHERE id = ? AND state = 'waiting'", .integer(callback.id))
      guard changes == 1 else { return false }
      try db.run(
        """
        INSERT INTO delivery (outbox_id, n, started_at, outcome)
        SELECT ?1, 1 + (SELECT count(*) FROM delivery WHERE outbox_id = ?1), ?2, 'open'
        """, .integer(callback.id), .int(wallMs))
      return true
    }
  }

  /// delivering → delivered, waiting or gave_up. An interrupted delivery is due at once and does not count as a
  /// failure.
  /// - Parameter waitMs: the wait until the next delivery if this one failed.
  package func endDelivery(of id: Int64, _ end: DeliveryEnd, waitMs: Int64) throws {
    let ended = try db.run(
      """
      UPDATE delivery SET outcome = ?2, ended_at = max(started_at, ?3), exit_code = ?4, http_status = ?5, message = ?6,
        output = ?7
      WHERE outbox_id = ?1 AND outcome = 'open'
      """, .integer(id), .raw(end.outcome), .int(wallMs), .int(end.exitCode), .int(end.httpStatus),
      .string(end.message), end.output.isEmpty ? .null : .blob(end.output))
    guard ended == 1 else { return }
    switch end.outcome {
    case .ok:
      try db.run(
        "UPDATE outbox SET state = 'delivered', ended_at = ?2 WHERE id = ?1 AND state = 'delivering'", .integer(id),
        .int(wallMs))
    case .interrupted:
      try db.run("UPDATE outbox SET state = 'waiting' WHERE id = ? AND state = 'delivering'", .integer(id))
    case .failed:
      try db.run(
        """
        UPDATE outbox SET failures = failures + 1, not_before = ?2,
          state = iif(?3 OR failures + 1 >= ?4, 'gave_up', 'waiting'),
          ended_at = iif(?3 OR failures + 1 >= ?4, ?5, NULL)
        WHERE id = ?1 AND state = 'delivering'
        """, .integer(id), .int(wallMs + waitMs), .flag(end.isFinal), .int(Self.deliveriesAtMost), .int(wallMs))
      let job = try db.first(
        "SELECT c.job FROM outbox o CROSS JOIN callback c ON c.id = o.callback_id WHERE o.id = ?", .integer(id)
      ) { $0.textOrNil(0) }
      if let job = job ?? nil { try withdrawStarts(ofJob: job) }
    }
  }

  /// gave_up and cancelled → waiting; waiting callbacks become due now. nil selects all that were given up. Returns
  /// their number.
  public func retryCallbacks(_ ids: [Int64]?) throws -> Int {
    guard let ids else {
      return try db.run(
        "UPDATE outbox SET state = 'waiting', failures = 0, not_before = 0, ended_at = NULL WHERE state = 'gave_up'")
    }
    return try ids.reduce(0) { count, id in
      try count
        + db.run(
          """
          UPDATE outbox SET state = 'waiting', failures = 0, not_before = 0, ended_at = NULL
          WHERE id = ? AND (state = 'gave_up' OR state = 'cancelled' OR state = 'waiting')
          """, .integer(id))
    }
  }

  /// waiting → cancelled; nil selects all. Returns their number.
  public func cancelCallbacks(_ ids: [Int64]?) throws -> Int {
    guard let ids else {
      return try db.run("UPDATE outbox SET state = 'cancelled', ended_at = ? WHERE state = 'waiting'", .int(wallMs))
    }
    return try ids.reduce(0) { count, id in
      try count
        + db.run(
          "UPDATE outbox SET state = 'cancelled', ended_at = ?2 WHERE id = ?1 AND state = 'waiting'", .integer(id),
          .int(wallMs))
    }
  }

  /// The wait after failure number `failures`, in milliseconds: doubled from five seconds up to an hour. Half of it is
  /// random, so that a receiver that becomes reachable again does not get all deliveries at once.
  public static func deliveryWaitMs(
    failures: Int, retryAfterMs: Int64?, using generator: inout some RandomNumberGenerator
  ) -> Int64 {
    let ceiling = min(longestDeliveryWaitMs, firstDeliveryWaitMs << Int64(min(max(failures - 1, 0), 20)))
    let wait = Int64.random(in: ceiling / 2...ceiling, using: &generator)
    return max(wait, min(retryAfterMs ?? 0, longestDeliveryWaitMs))
  }
}
