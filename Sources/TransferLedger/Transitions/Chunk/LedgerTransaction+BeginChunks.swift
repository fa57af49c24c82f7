import TransferModel

/// pending → in flight, with an attempt.
extension LedgerTransaction {
  /// Takes up to `limit` chunks of the file that may be sent now, in order, and opens an attempt for each: for its
  /// body, or for a request that must precede it (``ChunkOpening``) and is repeatable. Empty if none is pending; throws
  /// `.leaseLost` if the file does not belong to this run.
  package func beginChunks(
    _ file: FileID, _ run: RunID, limit: Int, isRepeatable: Bool, opening: ChunkOpening = .none
  ) throws -> [ClaimedChunk] {
    try promoteChunks()
    let session = try sessionOfWork(file, run)
    let pending = try db.rows(Self.pendingChunks, .id(file), .int(limit)) { row in
      PendingChunk(
        id: row.id(0),
        facts: ChunkFacts(
          seq: row.int(1), range: ByteRange(offset: row.int64(2), length: row.int64(3)), acked: row.int64(5),
          remote: values(row.textOrNil(6)), isUncertain: row.flag(7), failures: row.int(4), losses: row.int(8)))
    }
    return try begin(pending, of: file, run, session: session, isRepeatable: isRepeatable, opening: opening)
  }

  func begin(
    _ chunks: [PendingChunk], of file: FileID, _ run: RunID, session: Int64?, isRepeatable: Bool,
    opening: ChunkOpening
  ) throws -> [ClaimedChunk] {
    try chunks.map { chunk in
      let operation = chunk.operation(opening)
      let attempt = began(
        try db.insert(
          """
          INSERT OR FAIL INTO attempt (uid, file_id, chunk_id, session_id, run_id, operation, n, is_repeatable,
            started_at, outcome)
          VALUES (?1, ?2, ?3, ?4, ?5, ?8, 1 + coalesce((
            SELECT max(n) FROM attempt WHERE file_id = ?2 AND operation = ?8 AND chunk_id = ?3), 0), ?6, ?7, 'open')
          """, .uid(.make(wallMs: wallMs)), .id(file), .id(chunk.id), .int(session), .id(run),
          .flag(isRepeatable || operation != .part), .int(wallMs), .raw(operation)))
      try require(
        moveChunk(
          chunk.id, from: .pending, to: .inFlight, after: nil, "UPDATE OR FAIL chunk SET {moved} WHERE {guard}"),
        chunk.id)
      return ClaimedChunk(id: chunk.id, attempt: attempt, operation: operation, chunk.facts)
    }
  }

  struct PendingChunk {
    var id: ChunkID
    var facts: ChunkFacts

    /// The operation of its next attempt.
    func operation(_ opening: ChunkOpening) -> AttemptOperation {
      if opening.prepares && facts.remote.isEmpty { return .prepare }
      return opening.probesUncertain && facts.isUncertain ? .probe : .part
    }
  }

  static let pendingChunks: StaticString = """
    SELECT id, seq, offset, length, failures, acked, remote, uncertain, losses FROM chunk
    WHERE file_id = ? AND state = 'pending' ORDER BY seq LIMIT ?
    """

  /// The live session of a file; throws if the file does not belong to this run.
  private func sessionOfWork(_ file: FileID, _ run: RunID) throws -> Int64? {
    let found = try db.first(
      """
      SELECT run_id, (SELECT s.id FROM session s
        WHERE s.file_id = file.id AND s.state IN ('intended', 'open') AND s.abort_after IS NULL)
      FROM file WHERE id = ?
      """, .id(file)
    ) { ($0.idOrNil(0, RunID.self), $0.int64OrNil(1)) }
    guard let found, found.0 == .some(run) else {
      try requireWork(file, run)
      return nil
    }
    return found.1
  }
}
