public import TransferModel

/// Transitions of a chunk in flight after its attempt was closed.
extension LedgerTransaction {
  /// in flight → done. `attempt` was closed with `ok` before. The file has made progress: its failure count is reset,
  /// unless the server had lost this chunk before; otherwise repeated losses would never end.
  package func storeChunk(_ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt) throws -> TransitionResult {
    if !part.remote.isEmpty {
      let noted = try moveChunk(
        chunk, to: .inFlight, after: nil, "UPDATE chunk SET remote = ?1 WHERE {guard}", try json(part.remote))
      guard noted.isApplied else { return noted }
    }
    let result = try part.reused.map { try store(chunk, attempt, part, reused: $0) } ?? store(chunk, attempt, part)
    if result.isApplied { try forgetFailures(ofFileWith: chunk) }
    return result
  }

  private func store(_ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .done, after: nil,
      """
      UPDATE OR FAIL chunk SET {moved}, etag = ?1, digest = ?2, md5 = ?3, confirmation = ?4, done_attempt = ?5, failures = 0,
        acked = 0
      WHERE {guard}
      """, .text(part.etag), .digest(part.digest), .digest(part.md5), .raw(part.confirmation), .id(attempt))
  }

  /// The same for a chunk of a download of which a local file had `reused` bytes.
  private func store(
    _ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt, reused: Int64
  ) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .done, after: nil,
      """
      UPDATE chunk SET {moved}, etag = ?1, digest = ?2, confirmation = ?3, done_attempt = ?4, failures = 0, acked = 0,
        reused = ?5
      WHERE {guard}
      """, .text(part.etag), .digest(part.digest), .raw(part.confirmation), .id(attempt), .int(reused))
  }

  /// in flight → done: `attempt`, a query about the chunk that was closed with `ok`, found it on the server.
  package func findChunk(_ chunk: ChunkID, _ attempt: AttemptID, _ part: PartReceipt) throws -> TransitionResult {
    let lacked = try db.first("SELECT length - acked FROM chunk WHERE id = ?", .id(chunk)) { $0.int64(0) } ?? 0
    let result = try storeChunk(chunk, attempt, part)
    if result.isApplied { try creditSenders(of: chunk, lacked, asker: attempt) }
    return result
  }

  /// in flight → waiting until `notBeforeMs`; counts as a failure. `attempt` was closed before.
  public func retryChunk(_ chunk: ChunkID, _ attempt: AttemptID, notBeforeMs: Int64) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .waiting, after: attempt,
      """
      UPDATE chunk SET {moved}, not_before = ?1, failures = failures + 1,
        uncertain = max(uncertain, (SELECT operation = 'part' AND may_have_arrived FROM attempt WHERE id = ?102))
      WHERE {guard}
      """, .int(notBeforeMs))
  }

  /// in flight → pending; not a failure. `attempt` was closed before.
  public func releaseChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .pending, after: attempt,
      """
      UPDATE chunk SET {moved},
        uncertain = max(uncertain, (SELECT operation = 'part' AND may_have_arrived FROM attempt WHERE id = ?102))
      WHERE {guard}
      """)
  }

  /// in flight → failed. `attempt` was closed before.
  public func failChunk(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .failed, after: attempt, "UPDATE chunk SET {moved}, failures = failures + 1 WHERE {guard}")
  }

  /// in flight → unknown: its answer was lost, and sending it again might store it twice. `attempt` was closed before.
  public func chunkUnknown(_ chunk: ChunkID, _ attempt: AttemptID) throws -> TransitionResult {
    try moveChunk(chunk, to: .unknown, after: attempt, "UPDATE chunk SET {moved} WHERE {guard}")
  }

  /// in flight → pending: the server holds `acked` bytes from its start, more than before. `attempt` was closed before.
  /// If that is progress (``BodyProgress``), the failure count of the file is reset.
  public func advanceChunk(_ chunk: ChunkID, _ attempt: AttemptID, acked: Int64) throws -> TransitionResult {
    let isProgress = try isProgress(chunk, acked: acked)
    let result = try moveChunk(
      chunk, to: .pending, after: attempt,
      """
      UPDATE chunk SET {moved}, acked = ?1, failures = 0, uncertain = 0
      WHERE {guard} AND acked < ?1 AND ?1 < length
      """, .int(acked))
    if result.isApplied, isProgress { try forgetFailures(ofFileWith: chunk) }
    return result
  }

  /// in flight → pending: the server answered the `prepare` request with the parameters for the body. `attempt` was
  /// closed before.
  public func prepareChunk(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .pending, after: attempt, isOk: true,
      "UPDATE chunk SET {moved}, remote = ?1, uncertain = 0 WHERE {guard}", try json(remote))
  }

  /// in flight → pending: a range of a chunk of a download, or its beginning, was fetched and is stored, and others are
  /// missing. `attempt` was closed before. The file has made progress: its failure count is reset.
  public func storePiece(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult {
    let result = try moveChunk(
      chunk, to: .pending, after: attempt,
      "UPDATE chunk SET {moved}, remote = ?1, uncertain = 0, failures = 0 WHERE {guard}", try json(remote))
    if result.isApplied { try forgetFailures(ofFileWith: chunk) }
    return result
  }

  /// in flight → pending: the server answered a query that it holds `acked` bytes from the start of the chunk.
  /// `attempt` was closed before.
  public func probeChunk(_ chunk: ChunkID, _ attempt: AttemptID, acked: Int64) throws -> TransitionResult {
    let isProgress = try isProgress(chunk, acked: acked)
    let held = try db.first("SELECT acked FROM chunk WHERE id = ?", .id(chunk)) { $0.int64(0) } ?? 0
    let result = try moveChunk(
      chunk, to: .pending, after: attempt, isOk: true,
      """
      UPDATE chunk SET {moved}, losses = losses + (acked > ?1), acked = ?1, uncertain = 0 WHERE {guard}
      """, .int(acked))
    guard result.isApplied else { return result }
    try creditSenders(of: chunk, acked - held, asker: attempt)
    if isProgress { try forgetFailures(ofFileWith: chunk) }
    return .applied
  }

  /// Stores how a later query can recognise a chunk whose answer was lost. `attempt` was closed before; the chunk's own
  /// transition follows.
  public func doubtChunk(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult {
    try moveChunk(
      chunk, to: .inFlight, after: attempt, "UPDATE chunk SET remote = ?1 WHERE {guard}", try json(remote))
  }

  /// Stores which pieces of a received chunk are wrong. `attempt` was closed before; the chunk's own transition
  /// follows.
  public func noteChunk(
    _ chunk: ChunkID, _ attempt: AttemptID, remote: [String: String]
  ) throws -> TransitionResult { try doubtChunk(chunk, attempt, remote: remote) }

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

  /// in flight → pending, or unknown if sending it again might store it twice. Its attempt was closed before, because
  /// its run crashed or the ledger refused a change of the file.
  func releaseChunk(of open: OpenAttempt) throws {
    guard let chunk = open.chunk else { return }
    _ = try moveChunk(
      chunk, to: open.isRepeatable ? .pending : .unknown, after: open.id,
      "UPDATE chunk SET {moved}, uncertain = max(uncertain, ?1) WHERE {guard}", .flag(open.operation == .part))
  }
}
