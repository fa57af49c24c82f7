public import TransferModel

/// Transitions of chunks that are not in flight, when the server reports what it has of their file.
extension LedgerTransaction {
  /// pending, waiting → done for all remaining chunks of a file after a lost answer: `attempt`, a `verify` that was
  /// closed with `ok`, showed that the server has the whole file.
  package func confirmChunks(
    _ file: FileID, _ run: RunID, by attempt: AttemptID, _ confirmation: Confirmation, etag: String
  ) throws -> TransitionResult {
    let found = try db.rows(Self.unstored, .id(file)) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    try db.run(
      "UPDATE chunk SET state = 'pending', not_before = NULL WHERE file_id = ? AND state = 'waiting'", .id(file))
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?, confirmation = ?, done_attempt = ?, failures = 0, acked = 0
      WHERE file_id = ? AND state = 'pending'
        AND EXISTS (SELECT 1 FROM file WHERE id = chunk.file_id AND state = 'active' AND run_id = ?)
      """, .text(etag), .raw(confirmation), .id(attempt), .id(file), .id(run))
    guard changes > 0, changes == found.count else { return .lost(to: try stateOf(file, run)) }
    for (chunk, bytes) in found { try creditSenders(of: chunk, bytes, asker: attempt) }
    return .applied
  }

  static let unstored: StaticString =
    "SELECT id, length - acked FROM chunk WHERE file_id = ? AND state IN ('pending', 'waiting') ORDER BY seq"

  /// waiting, pending → done: `attempt`, a probe that was closed with `ok`, proved that the server has the chunk
  /// although its own answer was lost. The file has made progress: its failure count is reset, unless this chunk was
  /// lost before.
  package func adoptChunk(
    _ file: FileID, _ run: RunID, seq: Int, by attempt: AttemptID, _ part: PartReceipt
  ) throws -> TransitionResult {
    try requireWork(file, run)
    try db.run(
      "UPDATE chunk SET state = 'pending', not_before = NULL WHERE file_id = ? AND seq = ? AND state = 'waiting'",
      .id(file), .int(seq))
    let found = try db.first(
      "SELECT id, length - acked FROM chunk WHERE file_id = ? AND seq = ?", .id(file), .int(seq)
    ) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    guard let found else { return .lost(to: try stateOf(file, run)) }
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?, digest = ?, md5 = ?, confirmation = ?, done_attempt = ?, failures = 0,
        uncertain = 0, remote = NULL, acked = 0
      WHERE file_id = ? AND seq = ? AND state = 'pending'
      """, .text(part.etag), .digest(part.digest), .digest(part.md5), .raw(part.confirmation), .id(attempt), .id(file),
      .int(seq))
    guard changes == 1 else { return .lost(to: try stateOf(file, run)) }
    try creditSenders(of: found.0, found.1, asker: attempt)
    try db.run(
      """
      UPDATE file SET failures = 0 WHERE id = ?1 AND failures > 0
        AND EXISTS (SELECT 1 FROM chunk WHERE file_id = ?1 AND seq = ?2 AND losses = 0)
      """, .id(file), .int(seq))
    return .applied
  }

  /// The server holds exactly the first `offset` bytes of the file, according to `attempt`, which was closed with `ok`.
  /// Chunks below the offset become done, chunks above become pending (a loss for those that were done), and the one
  /// that contains it is partly acknowledged. No chunk may be in flight. A finishing file that lost bytes returns to
  /// active. Throws `.leaseLost` if the file does not belong to this run.
  public func alignChunks(_ file: FileID, _ run: RunID, by attempt: AttemptID, offset: Int64) throws {
    let (held, size) = try db.first(Self.heldBytes, .id(file)) { ($0.int64(0), $0.int64(1)) } ?? (0, 0)
    if offset < held { try reopenWork(file, run) } else { try requireWork(file, run) }
    if offset > held { try creditSenders(of: file, through: offset, asker: attempt) }
    try db.run(
      """
      UPDATE chunk SET losses = losses + (state = 'done' OR acked > max(0, ?2 - offset)), state = 'pending', etag = NULL,
        digest = NULL, md5 = NULL, confirmation = NULL, done_attempt = NULL, not_before = NULL, uncertain = 0, reused = NULL,
        acked = max(0, ?2 - offset)
      WHERE file_id = ?1 AND offset + length > ?2 AND (state <> 'pending' OR acked <> max(0, ?2 - offset) OR uncertain)
      """, .id(file), .int(offset))
    try db.run(
      """
      UPDATE chunk SET state = 'pending', not_before = NULL
      WHERE file_id = ?1 AND offset + length <= ?2 AND state IN ('waiting', 'failed')
      """, .id(file), .int(offset))
    try db.run(
      """
      UPDATE chunk SET state = 'done', etag = '', confirmation = 'size', done_attempt = ?3, failures = 0, uncertain = 0,
        acked = 0
      WHERE file_id = ?1 AND offset + length <= ?2 AND state = 'pending'
      """, .id(file), .int(offset), .id(attempt))
    guard offset == size || BodyProgress.forgives(offset - held, ofFile: size) else { return }
    // Not if chunks were lost before: otherwise repeated losses would never end.
    try db.run(
      """
      UPDATE file SET failures = 0 WHERE id = ?1 AND failures > 0
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?1 AND losses > 0)
      """, .id(file))
  }

  static let heldBytes: StaticString =
    "SELECT coalesce(sum(iif(state = 'done', length, acked)), 0), coalesce(sum(length), 0) FROM chunk WHERE file_id = ?"

  /// done → pending for chunks that the server has lost; returns their number. A finishing file returns to active.
  /// Throws `.leaseLost` if the file does not belong to this run.
  public func disownChunks(_ file: FileID, _ run: RunID, seqs: [Int]) throws -> Int {
    try reopenWork(file, run)
    return try seqs.reduce(0) { count, seq in
      try count
        + db.run(
          """
          UPDATE chunk SET state = 'pending', etag = NULL, digest = NULL, md5 = NULL, confirmation = NULL,
            done_attempt = NULL, losses = losses + 1, acked = 0, remote = NULL, uncertain = 0, reused = NULL
          WHERE file_id = ? AND seq = ? AND state = 'done'
          """, .id(file), .int(seq))
    }
  }

  /// done, waiting and failed → pending: the session is gone, and with it the stored bytes; returns the number of
  /// chunks changed. A finishing file returns to active. Throws `.leaseLost` if the file does not belong to this run.
  public func resetChunks(_ file: FileID, _ run: RunID) throws -> Int {
    try reopenWork(file, run)
    return try db.run(
      """
      UPDATE chunk SET losses = losses + (state = 'done' OR acked > 0), state = 'pending', etag = NULL, digest = NULL,
        md5 = NULL, confirmation = NULL, done_attempt = NULL, not_before = NULL, acked = 0, remote = NULL, uncertain = 0,
        reused = NULL
      WHERE file_id = ? AND (state IN ('done', 'waiting', 'failed')
        OR (state = 'pending' AND (acked > 0 OR remote IS NOT NULL OR uncertain)))
      """, .id(file))
  }

  /// The same for what was lost with the newest session of the file. Returns how many bytes attempts of this run had
  /// stored in it.
  public func resetLostChunks(_ file: FileID, _ run: RunID) throws -> Int64 {
    guard try resetChunks(file, run) > 0 else { return 0 }
    return try db.first(
      """
      SELECT coalesce(sum(bytes_acked), 0) FROM attempt WHERE file_id = ?1 AND operation IN ('part', 'create')
        AND run_id = ?2 AND session_id = (SELECT max(id) FROM session WHERE file_id = ?1)
      """, .id(file), .id(run)
    ) { $0.int64(0) } ?? 0
  }
}
