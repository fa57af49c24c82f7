public import TransferModel

extension LedgerTransaction {
  /// Closes an attempt with its result; what is closed is history. Do it before the transition of its chunk or file.
  public func endAttempt(_ attempt: AttemptID, _ run: RunID, _ r: AttemptResult) throws -> TransitionResult {
    precondition(r.outcome != .open, "an attempt ends with a result")
    // Apart, because its bound needs a function: see migration 0013.
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
        request_id = ?17, retry_after_ms = ?18, backoff_ms = ?19, may_have_arrived = ?20
      WHERE id = ?21 AND outcome = 'open' AND run_id = ?22
      """, .raw(r.outcome), .int(wallMs), .raw(r.code), .string(r.message), .int(r.httpStatus), .int(r.curlCode),
      .int(r.systemError), .int(r.bytesTransferred), .int(r.bytesAcked), ms(t.dnsMs), ms(t.connectMs), ms(t.tlsMs),
      ms(t.firstByteMs), ms(t.totalMs), filled(r.remoteIP), filled(r.httpVersion), filled(r.requestID),
      .int(r.retryAfterMs), .int(r.backoffMs), .flag(r.mayHaveArrived), .id(attempt), .id(run))
    guard changes == 1 else { return .lost(to: try outcomeOf(attempt, run)) }
    if r.outcome != .ok { try delayAbort(of: attempt, backoffMs: r.backoffMs) }
    return .applied
  }

  /// Timings that were not reached are -1 in memory and absent in the row.
  private func ms(_ value: Int64) -> SQLValue { value < 0 ? .null : .integer(value) }
  private func filled(_ text: String) -> SQLValue { text.isEmpty ? .null : .text(text) }

  private func outcomeOf(_ attempt: AttemptID, _ run: RunID) throws -> String? {
    try db.first("SELECT outcome FROM attempt WHERE id = ? AND run_id = ?", .id(attempt), .id(run)) { $0.text(0) }
  }

  /// in flight → done. `attempt` was closed with `ok` before. The file has made progress: its failures are forgotten,
  /// but not for a chunk that the server had lost before: one that loses again and again must come to an end.
  public func storeChunk(_ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt) throws -> TransitionResult {
    if !part.remote.isEmpty {
      try db.run(
        "UPDATE chunk SET remote = ? WHERE id = ? AND state = 'in_flight'", try json(part.remote), .id(chunk))
    }
    let changes = try db.run(
      """
      UPDATE OR FAIL chunk SET state = 'done', etag = ?, digest = ?, md5 = ?, confirmation = ?, done_attempt = ?,
        failures = 0
      WHERE id = ? AND state = 'in_flight'
      """, .text(part.etag), .digest(part.digest), .digest(part.md5), .raw(part.confirmation), .id(attempt), .id(chunk))
    guard changes == 1 else { return .lost(to: try stateOf(chunk)) }
    try db.run(
      "UPDATE file SET failures = 0 WHERE id = (SELECT file_id FROM chunk WHERE id = ? AND losses = 0) AND failures > 0",
      .id(chunk))
    return .applied
  }

  /// in flight → done: `attempt`, a question about the chunk that was closed with `ok`, found that it is there.
  public func findChunk(_ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt) throws -> TransitionResult {
    let lacked = try db.first("SELECT length - acked FROM chunk WHERE id = ?", .id(chunk)) { $0.int64(0) } ?? 0
    let result = try storeChunk(chunk, attempt, part)
    if result.isApplied { try creditSenders(of: chunk, lacked, asker: attempt) }
    return result
  }

  /// pending, waiting → done for every chunk of a file whose answer was lost: `attempt`, a `verify` that was closed with `ok`,
  /// showed that the server has all of it.
  public func confirmChunks(
    _ file: FileID, _ run: RunID, by attempt: AttemptID, _ confirmation: Confirmation, etag: String
  ) throws -> TransitionResult {
    let found = try db.rows(Self.unstored, .id(file)) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    try db.run(
      "UPDATE chunk SET state = 'pending', not_before = NULL WHERE file_id = ? AND state = 'waiting'", .id(file))
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?, confirmation = ?, done_attempt = ?, failures = 0
      WHERE file_id = ? AND state = 'pending'
        AND EXISTS (SELECT 1 FROM file WHERE id = chunk.file_id AND state = 'active' AND run_id = ?)
      """, .text(etag), .raw(confirmation), .id(attempt), .id(file), .id(run))
    guard changes > 0, changes == found.count else { return .lost(to: try stateOf(file, run)) }
    for (chunk, bytes) in found { try creditSenders(of: chunk, bytes, asker: attempt) }
    return .applied
  }

  static let unstored: StaticString =
    "SELECT id, length - acked FROM chunk WHERE file_id = ? AND state IN ('pending', 'waiting') ORDER BY seq"

  /// in flight → waiting until `notBeforeMs`; counts as a failure. `attempt` was closed before.
  public func retryChunk(_ chunk: ChunkID, _ attempt: AttemptID, notBeforeMs: Int64) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET state = 'waiting', not_before = ?1, failures = failures + 1,
          uncertain = max(uncertain, (SELECT operation = 'part' AND may_have_arrived FROM attempt WHERE id = ?3))
        WHERE id = ?2 AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ?3 AND chunk_id = chunk.id AND outcome <> 'open')
        """, .int(notBeforeMs), .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  /// in flight → pending; not a failure. `attempt` was closed before.
  public func returnChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET state = 'pending',
          uncertain = max(uncertain, (SELECT operation = 'part' AND may_have_arrived FROM attempt WHERE id = ?2))
        WHERE id = ?1 AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ?2 AND chunk_id = chunk.id AND outcome <> 'open')
        """, .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  /// in flight → failed. `attempt` was closed before.
  public func failChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET state = 'failed', failures = failures + 1 WHERE id = ? AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ? AND chunk_id = chunk.id AND outcome <> 'open')
        """, .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  /// in flight → unknown: its answer was lost, and sending it again might double it. `attempt` was closed before.
  public func chunkUnknown(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET state = 'unknown' WHERE id = ? AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ? AND chunk_id = chunk.id AND outcome <> 'open')
        """, .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  /// done → pending for chunks that the server has lost; returns how many. A file that was finishing goes back to
  /// active. Throws `.leaseLost` when the file is not with this run.
  public func disownChunks(_ file: FileID, _ run: RunID, seqs: [Int]) throws -> Int {
    try reopenWork(file, run)
    return try seqs.reduce(0) { count, seq in
      try count
        + db.run(
          """
          UPDATE chunk SET state = 'pending', etag = NULL, digest = NULL, md5 = NULL, confirmation = NULL,
            done_attempt = NULL, losses = losses + 1, acked = 0, remote = NULL, uncertain = 0
          WHERE file_id = ? AND seq = ? AND state = 'done'
          """, .id(file), .int(seq))
    }
  }

  /// done, waiting and failed → pending: the session is gone, and with it what was stored; returns how many. A file that
  /// was finishing goes back to active. Throws `.leaseLost` when the file is not with this run.
  public func resetChunks(_ file: FileID, _ run: RunID) throws -> Int {
    try reopenWork(file, run)
    return try db.run(
      """
      UPDATE chunk SET losses = losses + (state = 'done' OR acked > 0), state = 'pending', etag = NULL, digest = NULL,
        md5 = NULL, confirmation = NULL, done_attempt = NULL, not_before = NULL, acked = 0, remote = NULL, uncertain = 0
      WHERE file_id = ? AND (state IN ('done', 'waiting', 'failed')
        OR (state = 'pending' AND (acked > 0 OR remote IS NOT NULL OR uncertain)))
      """, .id(file))
  }

  func reopenWork(_ file: FileID, _ run: RunID) throws {
    try requireWork(file, run)
    try db.run("UPDATE file SET state = 'active' WHERE id = ? AND state = 'finishing'", .id(file))
  }

  /// The stored chunks of a file, in order.
  public func parts(of file: FileID) throws -> [PartReceipt] {
    try db.rows(
      """
      SELECT seq, length, etag, digest, md5, confirmation, remote FROM chunk WHERE file_id = ? AND state = 'done' ORDER BY seq
      """, .id(file)
    ) { row throws(SQLiteError) in
      PartReceipt(
        seq: row.int(0), length: row.int64(1), etag: row.text(2), digest: row.digest(3), md5: row.digest(4),
        confirmation: try row.named(5), remote: values(row.textOrNil(6)))
    }
  }
}
