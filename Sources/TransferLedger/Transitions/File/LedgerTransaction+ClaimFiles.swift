import CSQLite
public import TransferModel

/// pending → active.
extension LedgerTransaction {
  /// Claims up to `limit` files for this run, in the order of priority and then of admission. Files and chunks that are
  /// due are promoted first. The cost does not grow with the ledger, nor with the number of waiting files.
  /// Files of the batches in `without`, and those of the sizes in `leftOut`, are skipped, at the cost of visiting each
  /// batch that has ready files, and of passing over each file of a size in `leftOut` that is ahead of the others.
  /// Those up to the files in `passed` are looked at only if there are not enough behind them. A file whose only body
  /// is stored is claimed whatever its size. Files of `fetched` are claimed in addition, up to a total of `most` files.
  public func claimFiles(
    _ run: RunID, limit: Int, without: Set<BatchID> = [], leftOut: [BatchID: ClosedRange<Int64>] = [:],
    passed: [BatchID: FileID] = [:], fetched: FetchedFiles = FetchedFiles(), most: Int = 0
  ) throws -> [ClaimedFile] {
    try requireLease(run)
    try db.run(Self.promoteFiles, .int(wallMs))
    try promoteChunks()
    var ready = try readyFiles(limit, without, leftOut, passed)
    let others = FetchedFiles(of: fetched.batches, except: fetched.except.union(ready.map(\.0.id)))
    ready += try fetchedFiles(others, limit: min(Self.fetchedAtOnce, most - ready.count))
    let doubtful = try doubtful(ready.map(\.0.id))
    let batches = Set(ready.map(\.0.batch))
    let (recording, rivals) = (try batchesRecordingSHA256(batches), try rivals(of: batches))
    return try ready.compactMap { (file, isFresh) in
      guard try activate(file.id, run) else { return nil }
      let isDoubtful = doubtful.contains(file.id)
      var claimed = isDoubtful ? try leavingPartial(file, run) : file
      if !isFresh { claimed = try ClaimHistory(tx: self).added(to: claimed) }
      claimed.isDoubtful = isDoubtful
      claimed.earlierDelivery = try earlierDelivery(of: file)
      if let rivals = rivals[file.batch] { claimed.onlyCopy = try onlyCopy(replacedBy: file, rivals) }
      if recording.contains(file.batch) { claimed.sha256 = try recordedSHA256(of: file) }
      claimed.past = try pastDownload(of: claimed)
      claimed.earlierVersion = try earlierVersion(of: claimed, isFresh: isFresh)
      return claimed
    }
  }

  /// The maximum number of fetched files that one claim takes.
  private static let fetchedAtOnce = 64

  private func fetchedFiles(_ wanted: FetchedFiles, limit: Int) throws -> [(ClaimedFile, Bool)] {
    guard limit > 0 else { return [] }
    return try db.fetchedFiles(wanted, limit: limit).compactMap { file in
      try db.first(Self.readyFile, .id(file)) { row in (Self.claimed(row), row.isNull(14)) }
    }
  }

  /// pending → active. False if the rules of the ledger refuse it: the file then fails, so that it does not block
  /// others.
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
      // One row, and FAIL: nothing was changed, and the transaction continues.
      guard error.primary == SQLITE_CONSTRAINT, db.isInTransaction else { throw error }
      try db.run(
        """
        UPDATE file SET state = 'failed', live = NULL, cause = 'engine.bug', message = ?, not_before = NULL,
          finished_at = max(coalesce(started_at, 0), ?) WHERE id = ? AND state = 'pending'
        """, .text("the ledger refused to activate it: \(error.message)"), .int(wallMs), .id(file))
      return false
    }
  }

  private func readyFiles(
    _ limit: Int, _ without: Set<BatchID>, _ leftOut: [BatchID: ClosedRange<Int64>], _ passed: [BatchID: FileID]
  ) throws -> [(ClaimedFile, Bool)] {
    let read = { (row: SQLRow) throws(SQLiteError) in (Self.claimed(row), row.isNull(14)) }
    if without.isEmpty, leftOut.isEmpty { return try db.rows(Self.readyFiles, .int(limit), row: read) }
    return try db.readyFiles(without: without, leftOut: leftOut, passed: passed, limit: limit).compactMap { file in
      try db.first(Self.readyFile, .id(file), row: read)
    }
  }

  /// A few thousand at a time: when a server becomes reachable again, hundreds of thousands of files may be due at
  /// once; the next claim takes more.
  static let promoteFiles: StaticString = """
    UPDATE file SET not_before = NULL WHERE id IN (SELECT id FROM file
      WHERE state = 'pending' AND not_before IS NOT NULL AND not_before <= ? ORDER BY not_before LIMIT 2000)
    """

  static let readyFiles: StaticString = """
    SELECT id, uid, batch_id, generation, path, key, size, mtime_ns, ctime_ns, inode, device, boot, failures, chunk_size,
      started_at, chunk_count, staged, is_download, expected, properties, root, partial_of
    FROM file WHERE state = 'pending' AND not_before IS NULL ORDER BY priority DESC, id LIMIT ?
    """

  static let readyFile: StaticString = """
    SELECT id, uid, batch_id, generation, path, key, size, mtime_ns, ctime_ns, inode, device, boot, failures, chunk_size,
      started_at, chunk_count, staged, is_download, expected, properties, root, partial_of
    FROM file WHERE id = ? AND state = 'pending' AND not_before IS NULL
    """
  private static func claimed(_ row: SQLRow) -> ClaimedFile {
    var file = ClaimedFile(
      id: row.id(0), uid: row.uid(1), batch: row.id(2), generation: row.int(3), path: row.name(4), key: row.name(5),
      identity: row.identity(from: 6), failures: row.int(12), layout: layout(size: row.int64(6), row, 13, count: 15),
      session: nil, doneChunks: 0, lostAnswer: nil, staged: row.textOrNil(16))
    file.direction = row.isNull(17) ? .upload : .download
    file.expected = storedExpectation(row.textOrNil(18))
    file.properties = storedProperties(row.textOrNil(19))
    file.root = row.intOrNil(20)
    file.partialOf = row.isNull(21) ? nil : row.uid(21)
    return file
  }

  private static func layout(size: Int64, _ row: SQLRow, _ chunkSize: Int32, count: Int32) -> ChunkLayout? {
    guard let length = row.int64OrNil(chunkSize) else { return nil }
    return ChunkLayout(size: size, chunkSize: length, count: row.int(count))
  }

  /// Of the batches that have any.
  private func rivals(of batches: Set<BatchID>) throws -> [BatchID: Rivals] {
    var found: [BatchID: Rivals] = [:]
    for batch in batches { found[batch] = try Rivals(of: batch, db) }
    return found
  }

  /// Admission refuses what would replace an only copy. Here the other file ended after that, or this one is retried.
  private func onlyCopy(replacedBy file: ClaimedFile, _ rivals: Rivals) throws -> OnlyCopy? {
    try LedgerReader(db: db).onlyCopy(at: nil, nil, path: file.path, key: file.key, linked: nil, rivals)
  }

  private func batchesRecordingSHA256(_ batches: Set<BatchID>) throws -> Set<BatchID> {
    try batches.filter { batch in
      try db.first("SELECT settings ->> 'recordSHA256' IS 1 FROM batch WHERE id = ?", .id(batch)) { $0.flag(0) }
        ?? false
    }
  }

  /// SHA-256 of the source, if it was recorded when the same file was sent before, with this ctime and device: it
  /// has not changed since. Uses the index `file_sent`.
  private func recordedSHA256(of file: ClaimedFile) throws -> Digest? {
    guard file.direction == .upload, file.staged == nil else { return nil }
    return try db.first(Self.recordedSHA256, .id(file.id)) { $0.digest(0) } ?? nil
  }

  static let recordedSHA256: StaticString = """
    SELECT r.sha256 FROM file f CROSS JOIN file o CROSS JOIN receipt r ON r.file_id = o.id AND r.n = 1
    WHERE f.id = ?1
      AND o.id IN (SELECT n.id FROM file n WHERE n.inode = f.inode AND n.is_download IS NULL AND n.state = 'done'
        ORDER BY n.id DESC LIMIT 32)
      AND o.staged IS NULL AND o.size = f.size AND o.mtime_ns = f.mtime_ns
      AND o.ctime_ns = f.ctime_ns AND o.device = f.device AND o.boot = f.boot AND f.boot <> 0 AND r.sha256 IS NOT NULL
    ORDER BY o.id DESC LIMIT 1
    """

  /// The newest earlier generation that may have delivered this version: its source was changed, and changed back. nil
  /// if this file was unknown itself: a person decided to send it.
  private func earlierDelivery(of file: ClaimedFile) throws -> EarlierDelivery? {
    guard file.generation > 1, file.direction == .upload else { return nil }
    return try db.first(Self.earlierDelivery, .id(file.id)) {
      EarlierDelivery(file: $0.id(0), isFollowed: $0.flag(1))
    }
  }

  /// Only size and mtime are compared (``ExistingFile/hasContent(like:)``).
  static let earlierDelivery: StaticString = """
    SELECT p.id, EXISTS (SELECT 1 FROM file g
        WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live IS NULL
          AND g.generation > p.generation AND g.generation < f.generation
          AND (g.state = 'done' OR g.may_have_arrived = 1 OR EXISTS (SELECT 1 FROM attempt a
            WHERE a.file_id = g.id AND a.operation NOT IN ('probe', 'verify', 'abort')
              AND (a.may_have_arrived = 1 OR a.outcome IN ('ok', 'unknown', 'crashed')))))
    FROM file f CROSS JOIN file p INDEXED BY file_in_doubt
      ON p.destination_id = f.destination_id AND p.key = f.key AND p.generation < f.generation
    WHERE f.id = ?1 AND f.may_have_arrived IS NULL
      AND p.may_have_arrived = 1 AND p.state IN ('superseded', 'cancelled') AND p.size = f.size AND p.mtime_ns = f.mtime_ns
    ORDER BY p.generation DESC LIMIT 1
    """
}
