public import TransferModel

/// What becomes of a chunk in flight when its attempt was closed.
extension LedgerTransaction {
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

  /// in flight → pending: the server holds `acked` bytes from its start, more than before. `attempt` was closed before. When that
  /// is progress (``BodyProgress``), the failures of the file are forgotten.
  public func advanceChunk(_ chunk: ChunkID, _ attempt: AttemptID, acked: Int64) throws -> TransitionResult {
    let isProgress = try isProgress(chunk, acked: acked)
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'pending', acked = ?1, failures = 0, uncertain = 0
      WHERE id = ?2 AND state = 'in_flight' AND acked < ?1 AND ?1 < length
        AND EXISTS (SELECT 1 FROM attempt WHERE id = ?3 AND chunk_id = chunk.id AND outcome <> 'open')
      """, .int(acked), .id(chunk), .id(attempt))
    guard changes == 1 else { return .lost(to: try stateOf(chunk)) }
    if isProgress { try forgetFailures(ofFileWith: chunk) }
    return .applied
  }

  /// in flight → pending: the server said what its body needs. `attempt` was closed before.
  public func prepareChunk(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET state = 'pending', remote = ?1, uncertain = 0 WHERE id = ?2 AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ?3 AND chunk_id = chunk.id AND outcome = 'ok')
        """, try json(remote), .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  /// in flight → pending: asked, the server said that it holds `acked` bytes from its start. `attempt` was closed before.
  public func probeChunk(_ chunk: ChunkID, _ attempt: AttemptID, acked: Int64) throws -> TransitionResult {
    let isProgress = try isProgress(chunk, acked: acked)
    let held = try db.first("SELECT acked FROM chunk WHERE id = ?", .id(chunk)) { $0.int64(0) } ?? 0
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'pending', losses = losses + (acked > ?1), acked = ?1, uncertain = 0
      WHERE id = ?2 AND state = 'in_flight'
        AND EXISTS (SELECT 1 FROM attempt WHERE id = ?3 AND chunk_id = chunk.id AND outcome = 'ok')
      """, .int(acked), .id(chunk), .id(attempt))
    guard changes == 1 else { return .lost(to: try stateOf(chunk)) }
    try creditSenders(of: chunk, acked - held, asker: attempt)
    if isProgress { try forgetFailures(ofFileWith: chunk) }
    return .applied
  }

  /// Remembers what shows later whether a chunk is there whose answer was lost. `attempt` was closed before; the chunk's own
  /// transition follows.
  public func doubtChunk(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult {
    try result(
      db.run(
        """
        UPDATE chunk SET remote = ?1 WHERE id = ?2 AND state = 'in_flight'
          AND EXISTS (SELECT 1 FROM attempt WHERE id = ?3 AND chunk_id = chunk.id AND outcome <> 'open')
        """, try json(remote), .id(chunk), .id(attempt))
    ) { try stateOf(chunk) }
  }

  private func isProgress(_ chunk: ChunkID, acked: Int64) throws -> Bool {
    let found = try db.first(
      "SELECT ? - c.acked, f.size FROM chunk c JOIN file f ON f.id = c.file_id WHERE c.id = ?", .int(acked), .id(chunk)
    ) { BodyProgress.forgives($0.int64(0), ofFile: $0.int64(1)) }
    return found ?? false
  }

  private func forgetFailures(ofFileWith chunk: ChunkID) throws {
    try db.run(
      "UPDATE file SET failures = 0 WHERE id = (SELECT file_id FROM chunk WHERE id = ? AND losses = 0) AND failures > 0",
      .id(chunk))
  }

  func releaseChunk(of orphan: Orphan) throws {
    guard let chunk = orphan.chunk else { return }
    try db.run(
      """
      UPDATE chunk SET state = iif(?, 'pending', 'unknown'), uncertain = max(uncertain, ?)
      WHERE id = ? AND state = 'in_flight'
      """, .flag(orphan.isRepeatable), .flag(orphan.operation == .part), .id(chunk))
  }
}
