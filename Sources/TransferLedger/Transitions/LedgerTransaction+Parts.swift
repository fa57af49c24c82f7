import FoundationEssentials
public import TransferModel

/// What becomes of chunks that the server holds in part, or that are spoken about before they are sent.
extension LedgerTransaction {
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

  private func isProgress(_ chunk: ChunkID, acked: Int64) throws -> Bool {
    let found = try db.first(
      "SELECT ? - c.acked, f.size FROM chunk c JOIN file f ON f.id = c.file_id WHERE c.id = ?", .int(acked), .id(chunk)
    ) { BodyProgress.forgives($0.int64(0), ofFile: $0.int64(1)) }
    return found ?? false
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

  /// The server holds exactly the first `offset` bytes of the file; `attempt`, closed with `ok`, said so. Chunks below are done,
  /// chunks above are pending (a loss for those that were done), and the one between has its part. None may be in flight. A file
  /// that was finishing and lost something goes back to active. Throws `.leaseLost` when the file is not with this run.
  public func alignChunks(_ file: FileID, _ run: RunID, by attempt: AttemptID, offset: Int64) throws {
    let (held, size) = try db.first(Self.heldBytes, .id(file)) { ($0.int64(0), $0.int64(1)) } ?? (0, 0)
    if offset < held { try reopenWork(file, run) } else { try requireWork(file, run) }
    if offset > held { try creditSenders(of: file, through: offset, asker: attempt) }
    try db.run(
      """
      UPDATE chunk SET losses = losses + (state = 'done' OR acked > max(0, ?2 - offset)), state = 'pending', etag = NULL,
        digest = NULL, md5 = NULL, confirmation = NULL, done_attempt = NULL, not_before = NULL, uncertain = 0,
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
      UPDATE chunk SET state = 'done', etag = '', confirmation = 'size', done_attempt = ?3, failures = 0, uncertain = 0
      WHERE file_id = ?1 AND offset + length <= ?2 AND state = 'pending'
      """, .id(file), .int(offset), .id(attempt))
    guard offset == size || BodyProgress.forgives(offset - held, ofFile: size) else { return }
    // Not for one that loses what it holds again and again: that must come to an end.
    try db.run(
      """
      UPDATE file SET failures = 0 WHERE id = ?1 AND failures > 0
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?1 AND losses > 0)
      """, .id(file))
  }

  /// What a question found below `offset`, but for what its own answer acknowledged of its own body.
  private func creditSenders(of file: FileID, through offset: Int64, asker: AttemptID) throws {
    var own = try db.first("SELECT bytes_acked FROM attempt WHERE id = ?", .id(asker)) { $0.int64(0) } ?? 0
    let found = try db.rows(Self.foundBytes, .id(file), .int(offset)) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    for (chunk, bytes) in found {
      let ownHere = min(own, bytes)
      own -= ownHere
      try creditSenders(of: chunk, bytes - ownHere, asker: asker)
    }
  }

  static let foundBytes: StaticString = """
    SELECT id, iif(offset + length < ?2, length, ?2 - offset) - acked FROM chunk
    WHERE file_id = ?1 AND state <> 'done' AND offset + acked < ?2 ORDER BY seq
    """
  static let heldBytes: StaticString =
    "SELECT coalesce(sum(iif(state = 'done', length, acked)), 0), coalesce(sum(length), 0) FROM chunk WHERE file_id = ?"

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

  /// Chunks of a file that are not stored as far as is known, and of which something is remembered; in order.
  public func doubts(of file: FileID) throws -> [ChunkDoubt] {
    try db.rows(
      """
      SELECT seq, length, remote, state = 'waiting' OR failures > 0 FROM chunk
      WHERE file_id = ? AND state IN ('pending', 'waiting') AND remote IS NOT NULL ORDER BY seq
      """, .id(file)
    ) { row in
      ChunkDoubt(
        seq: row.int(0), length: row.int64(1), remote: values(row.textOrNil(2)), isBackingOff: row.flag(3))
    }
  }

  /// waiting, pending → done: `attempt`, a probe that was closed with `ok`, proved that the server has the chunk although its own
  /// answer was lost. The file has made progress: its failures are forgotten, but not for a chunk that was lost before.
  public func adoptChunk(
    _ file: FileID, _ run: RunID, seq: Int, by attempt: AttemptID, _ part: PartReceipt
  ) throws -> TransitionResult {
    try requireWork(file, run)
    try db.run(
      "UPDATE chunk SET state = 'pending', not_before = NULL WHERE file_id = ? AND seq = ? AND state = 'waiting'",
      .id(file), .int(seq))
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?, digest = ?, md5 = ?, confirmation = ?, done_attempt = ?, failures = 0,
        uncertain = 0, remote = NULL
      WHERE file_id = ? AND seq = ? AND state = 'pending'
      """, .text(part.etag), .digest(part.digest), .digest(part.md5), .raw(part.confirmation), .id(attempt), .id(file),
      .int(seq))
    guard changes == 1 else { return .lost(to: try stateOf(file, run)) }
    try creditSenders(ofChunk: seq, of: file, asker: attempt)
    try db.run(
      """
      UPDATE file SET failures = 0 WHERE id = ?1 AND failures > 0
        AND EXISTS (SELECT 1 FROM chunk WHERE file_id = ?1 AND seq = ?2 AND losses = 0)
      """, .id(file), .int(seq))
    return .applied
  }

  private func creditSenders(ofChunk seq: Int, of file: FileID, asker: AttemptID) throws {
    let found = try db.first(
      "SELECT id, length - acked FROM chunk WHERE file_id = ? AND seq = ?", .id(file), .int(seq)
    ) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    if let (chunk, bytes) = found { try creditSenders(of: chunk, bytes, asker: asker) }
  }

  private func forgetFailures(ofFileWith chunk: ChunkID) throws {
    try db.run(
      "UPDATE file SET failures = 0 WHERE id = (SELECT file_id FROM chunk WHERE id = ? AND losses = 0) AND failures > 0",
      .id(chunk))
  }

  /// Names and values as they are stored: a JSON object, nothing for none.
  func json(_ values: [String: String]) throws -> SQLValue {
    values.isEmpty ? .null : .text(try jsonText(values))
  }

  func values(_ text: String?) -> [String: String] { storedValues(text) }
}

/// Reads an array of what ``jsonText(_:)`` wrote.
func storedLists(_ text: String?) -> [[String: String]] {
  guard let text else { return [] }
  return (try? JSONDecoder().decode([[String: String]].self, from: Data(text.utf8))) ?? []
}

/// Reads what ``jsonText(_:)`` wrote; only this program writes it.
func storedValues(_ text: String?) -> [String: String] {
  guard let text else { return [:] }
  return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
}
