import CSQLite
public import TransferModel

extension LedgerTransaction {
  /// Gives up to `limit` files to this run, in the order of priority and then of admission. Files and chunks whose time
  /// has come are promoted first. The cost does not grow with the ledger, nor with what waits.
  /// Files of the batches in `without` are passed over, at the price of a look at each batch that has ready files.
  public func claimFiles(_ run: RunID, limit: Int, without: Set<BatchID> = []) throws -> [ClaimedFile] {
    try requireLease(run)
    try db.run(Self.promoteFiles, .int(wallMs))
    try promoteChunks()
    let ready = try readyFiles(limit, without)
    let doubtful = try doubtful(ready.map(\.0.id))
    return try ready.compactMap { (file, isFresh) in
      guard try activate(file.id, run) else { return nil }
      var claimed = isFresh ? file : try withHistory(file)
      claimed.isDoubtful = doubtful.contains(file.id)
      return claimed
    }
  }

  /// pending → active. False when the rules of the ledger refuse it: that file fails, so that it is in nobody's way.
  private func activate(_ file: FileID, _ run: RunID) throws -> Bool {
    do throws(SQLiteError) {
      try db.run(
        """
        UPDATE OR FAIL file SET state = 'active', run_id = ?, started_at = coalesce(started_at, ?),
          cause = iif(cause = 'policy.deadline', NULL, cause)
        WHERE id = ? AND state = 'pending'
        """, .id(run), .int(wallMs), .id(file))
      return true
    } catch {
      // One row, and FAIL: nothing was changed, and the transaction goes on.
      guard error.primary == SQLITE_CONSTRAINT, db.isInTransaction else { throw error }
      try db.run(
        """
        UPDATE file SET state = 'failed', live = NULL, cause = 'engine.bug', message = ?, not_before = NULL,
          finished_at = max(coalesce(started_at, 0), ?) WHERE id = ? AND state = 'pending'
        """, .text("the ledger refused to begin it: \(error.message)"), .int(wallMs), .id(file))
      return false
    }
  }

  private func readyFiles(_ limit: Int, _ without: Set<BatchID>) throws -> [(ClaimedFile, Bool)] {
    let read = { (row: SQLRow) throws(SQLiteError) in (Self.claimed(row), row.isNull(14)) }
    if without.isEmpty { return try db.rows(Self.readyFiles, .int(limit), row: read) }
    return try db.readyFiles(without: without, limit: limit).compactMap { file in
      try db.first(Self.readyFile, .id(file), row: read)
    }
  }

  /// Some thousands at a time: when a server that was away comes back, hundreds of thousands may be due at once, and the next
  /// claim takes more.
  static let promoteFiles: StaticString = """
    UPDATE file SET not_before = NULL WHERE id IN (SELECT id FROM file
      WHERE state = 'pending' AND not_before IS NOT NULL AND not_before <= ? ORDER BY not_before LIMIT 2000)
    """
  static let readyFiles: StaticString = """
    SELECT id, uid, batch_id, generation, path, key, size, mtime_ns, ctime_ns, inode, device, boot, failures, chunk_size,
      started_at, chunk_count, staged
    FROM file WHERE state = 'pending' AND not_before IS NULL ORDER BY priority DESC, id LIMIT ?
    """
  static let readyFile: StaticString = """
    SELECT id, uid, batch_id, generation, path, key, size, mtime_ns, ctime_ns, inode, device, boot, failures, chunk_size,
      started_at, chunk_count, staged
    FROM file WHERE id = ? AND state = 'pending' AND not_before IS NULL
    """
  private static func claimed(_ row: SQLRow) -> ClaimedFile {
    ClaimedFile(
      id: row.id(0), uid: row.uid(1), batch: row.id(2), generation: row.int(3), path: row.name(4), key: row.name(5),
      identity: row.identity(from: 6), failures: row.int(12), layout: layout(size: row.int64(6), row, 13, count: 15),
      session: nil, doneChunks: 0, lostAnswer: nil, staged: row.textOrNil(16))
  }

  private static func layout(size: Int64, _ row: SQLRow, _ chunkSize: Int32, count: Int32) -> ChunkLayout? {
    guard let length = row.int64OrNil(chunkSize) else { return nil }
    return ChunkLayout(size: size, chunkSize: length, count: row.int(count))
  }

  /// What only a file can have that was claimed before.
  private func withHistory(_ file: ClaimedFile) throws -> ClaimedFile {
    var file = file
    file.identity = try sighted(file.id, file.identity)
    file.session = try db.first(
      """
      SELECT id, remote_id, intended_at, expires_at, notes FROM session
      WHERE file_id = ? AND state IN ('intended', 'open') AND abort_after IS NULL
      """, .id(file.id)
    ) { row in
      ClaimedSession(
        id: row.id(0),
        SessionFacts(
          remoteID: row.textOrNil(1), intendedAtMs: row.int64(2), expiresAtMs: row.int64OrNil(3),
          notes: values(row.textOrNil(4))))
    }
    if let session = file.session, session.facts.remoteID != nil {
      file.session?.facts.mayHoldBytes =
        try db.first(Self.sentToSession, .id(file.id), .id(session.id)) { $0.flag(0) } ?? false
    }
    if file.layout != nil {
      (file.doneChunks, file.doneBytes, file.hasLosses) =
        try db.first(
          """
          SELECT coalesce(sum(state = 'done'), 0), coalesce(sum(iif(state = 'done', length, acked)), 0),
            coalesce(max(losses), 0) > 0
          FROM chunk WHERE file_id = ?
          """, .id(file.id)
        ) { ($0.int(0), $0.int64(1), $0.flag(2)) } ?? (0, 0, false)
      file.waitingUntil = try db.rows(
        """
        SELECT coalesce(not_before, 0) FROM chunk
        WHERE file_id = ? AND (state = 'waiting' OR (state = 'pending' AND failures > 0))
        """, .id(file.id)
      ) { $0.int64(0) }
    }
    file.lostAnswer = try lostAnswer(file.id)
    return file
  }

  /// The newest operation whose last word is a lost answer: cut off after its request may have arrived, and no success
  /// of it since. Each chunk speaks for itself: the success of one says nothing about another.
  private func lostAnswer(_ file: FileID) throws -> AttemptOperation? {
    let operations = try db.rows(Self.lostAnswers, .id(file)) { row throws(SQLiteError) in
      (operation: try row.named(0, AttemptOperation.self), ok: row.int64(1), lost: row.int64(2))
    }
    let lost = operations.filter { $0.lost > $0.ok }
    // A question is asked again because of what it asks about.
    let effects = lost.filter { $0.operation != .verify && $0.operation != .probe }
    return (effects.isEmpty ? lost : effects).max { $0.lost < $1.lost }?.operation
  }

  static let sentToSession: StaticString = """
    SELECT EXISTS (SELECT 1 FROM attempt
      WHERE file_id = ? AND operation = 'part' AND session_id = ? AND (bytes_transferred > 0 OR outcome = 'crashed'))
    """

  static let lostAnswers: StaticString = """
    SELECT operation, max(iif(outcome = 'ok', id, 0)),
      max(iif(outcome IN ('crashed', 'interrupted', 'retry') AND may_have_arrived, id, 0))
    FROM attempt WHERE file_id = ? GROUP BY operation, chunk_id
    """

  /// Stores how the file is cut, and its chunks, all pending. Once in the life of a generation: `.lost` when it has a
  /// layout already.
  public func plan(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> TransitionResult {
    try planChunks(file, run, layout) == nil ? .lost(to: try stateOf(file, run)) : .applied
  }

  /// ``plan(_:_:_:)`` and ``beginChunks(_:_:limit:isRepeatable:)`` of a file that has no session yet, without looking for
  /// what was just written. nil when it has a layout already, or is not with this run.
  public func planAndBegin(
    _ file: FileID, _ run: RunID, _ layout: ChunkLayout, limit: Int, isRepeatable: Bool, opening: ChunkOpening = .none
  ) throws -> [ClaimedChunk]? {
    guard let chunks = try planChunks(file, run, layout) else { return nil }
    return try begin(
      Array(chunks.prefix(limit)), of: file, run, session: nil, isRepeatable: isRepeatable, opening: opening)
  }

  private func planChunks(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> [PendingChunk]? {
    let changes = try db.run(
      """
      UPDATE OR FAIL file SET chunk_size = ?, chunk_count = ?
      WHERE id = ? AND state = 'active' AND run_id = ? AND chunk_count IS NULL
      """, .int(layout.chunkSize), .int(layout.count), .id(file), .id(run))
    guard changes == 1 else { return nil }
    return try (0..<layout.count).map { try addChunk(file, layout, $0) }
  }

  /// Cuts a file anew, into shorter chunks, when nothing of it is stored and it has no live session. `.lost` for any other.
  public func recut(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> TransitionResult {
    let planned = try db.first("SELECT chunk_count FROM file WHERE id = ?", .id(file)) { $0.int(0) } ?? 0
    let changes = try db.run(
      """
      UPDATE file SET first_chunk_size = coalesce(first_chunk_size, chunk_size), chunk_size = ?1, chunk_count = ?2
      WHERE id = ?3 AND state = 'active' AND run_id = ?4 AND chunk_size > ?1 AND chunk_count < ?2
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?3 AND (state <> 'pending' OR acked > 0))
        AND NOT EXISTS (SELECT 1 FROM session
          WHERE file_id = ?3 AND state IN ('intended', 'open') AND abort_after IS NULL)
      """, .int(layout.chunkSize), .int(layout.count), .id(file), .id(run))
    guard changes == 1 else { return .lost(to: try stateOf(file, run)) }
    for seq in 0..<planned {
      let range = layout.range(seq)
      try db.run(
        "UPDATE chunk SET offset = ?, length = ?, failures = 0 WHERE file_id = ? AND seq = ?", .int(range.offset),
        .int(range.length), .id(file), .int(seq))
    }
    for seq in planned..<layout.count { _ = try addChunk(file, layout, seq) }
    return .applied
  }

  private func addChunk(_ file: FileID, _ layout: ChunkLayout, _ seq: Int) throws -> PendingChunk {
    let range = layout.range(seq)
    let id = try db.insert(
      "INSERT OR FAIL INTO chunk (file_id, seq, offset, length, state) VALUES (?, ?, ?, ?, 'pending')", .id(file),
      .int(seq), .int(range.offset), .int(range.length))
    return PendingChunk(id: ChunkID(rawValue: id), facts: ChunkFacts(seq: seq, range: range))
  }

  private struct PendingChunk {
    var id: ChunkID
    var facts: ChunkFacts

    /// What is to be done for it now.
    func operation(_ opening: ChunkOpening) -> AttemptOperation {
      if opening.prepares && facts.remote.isEmpty { return .prepare }
      return opening.probesUncertain && facts.isUncertain ? .probe : .part
    }
  }

  /// Takes up to `limit` chunks of the file that may be sent now, in order, and opens an attempt for each: for its body, or for
  /// what has to go ahead of that (``ChunkOpening``), which may be repeated. Empty when none is pending; throws `.leaseLost` when
  /// the file is not with this run.
  public func beginChunks(
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

  private func begin(
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
      try db.run("UPDATE OR FAIL chunk SET state = 'in_flight' WHERE id = ? AND state = 'pending'", .id(chunk.id))
      return ClaimedChunk(id: chunk.id, attempt: attempt, operation: operation, chunk.facts)
    }
  }

  static let pendingChunks: StaticString = """
    SELECT id, seq, offset, length, failures, acked, remote, uncertain, losses FROM chunk
    WHERE file_id = ? AND state = 'pending' ORDER BY seq LIMIT ?
    """

  /// The live session of a file that is with this run; throws when the file is not.
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

  /// Opens an attempt that is about the whole file; durable before its request is sent. Throws `.leaseLost` when the
  /// file is not with this run.
  public func beginAttempt(
    _ file: FileID, _ run: RunID, _ operation: AttemptOperation, session: SessionID?, isRepeatable: Bool
  ) throws -> AttemptID {
    precondition(operation != .part, "parts begin with beginChunks")
    if operation == .abort { try requireLease(run) } else { try requireWork(file, run) }
    return try openAttempt(file, run, operation, session: session, isRepeatable: isRepeatable)
  }

  func openAttempt(
    _ file: FileID, _ run: RunID, _ operation: AttemptOperation, session: SessionID?, isRepeatable: Bool
  ) throws -> AttemptID {
    began(
      try db.insert(
        """
        INSERT OR FAIL INTO attempt (uid, file_id, session_id, run_id, operation, n, is_repeatable, started_at, outcome)
        VALUES (?1, ?2, ?3, ?4, ?5, 1 + coalesce((
          SELECT max(n) FROM attempt WHERE file_id = ?2 AND operation = ?5 AND chunk_id IS NULL), 0), ?6, ?7, 'open')
        """, .uid(.make(wallMs: wallMs)), .id(file), .id(session), .id(run), .raw(operation), .flag(isRepeatable),
        .int(wallMs)))
  }
}
