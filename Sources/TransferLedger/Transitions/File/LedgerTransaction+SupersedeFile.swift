import TransferModel

/// Replaces a file by a newer generation.
extension LedgerTransaction {
  /// The source changed: this generation is superseded, its session marked for abort, and the next generation pending,
  /// in the same batch and for the same key. A control request for the old one is applied to the next. No attempt may
  /// be open. Of a download it is only known that the remote object is another one; `identity` is ignored.
  /// Throws `.leaseLost` if the file does not belong to this run.
  package func supersede(
    _ file: FileID, _ run: RunID, by identity: SourceIdentity, notBeforeMs: Int64?
  ) throws -> FileID {
    try requireWork(file, run)
    let requestedAction = try requestedAction(of: file)
    let old = try db.first(
      "SELECT batch_id, path, key, mode, is_download, expected, properties, root FROM file WHERE id = ?", .id(file)
    ) { row in
      (
        batch: row.id(0, BatchID.self), isDownload: !row.isNull(4), expected: storedExpectation(row.textOrNil(5)),
        file: NewFile(
          path: row.name(1), key: row.name(2), identity: identity, mode: UInt32(truncatingIfNeeded: row.int64(3)),
          properties: storedProperties(row.textOrNil(6)), root: row.intOrNil(7))
      )
    }
    guard let old else { throw TransferError(.bug, "write to store", NameBytes(file.description), cause: "it is gone") }
    let moved = try moveFile(
      file, run, to: .superseded,
      """
      UPDATE file SET {moved}, live = NULL, run_id = NULL, cause = 'source.changed',
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = max(started_at, ?1)
      WHERE {guard}
      """, .int(wallMs))
    try require(moved, file)
    try endChunks(of: file)
    try dropSession(of: file)
    let home = try home(of: old.batch)
    let generation = try nextGeneration(home.destination, old.file.key)
    let next =
      try old.isDownload
      ? insertDownload(
        NewDownload(
          path: old.file.path, key: old.file.key, expected: old.expected.ofNextVersion, folded: db.folded(of: file)),
        home, old.batch, generation: generation, notBeforeMs: notBeforeMs)
      : insertNext(old.file, home, old.batch, generation: generation, notBeforeMs: notBeforeMs)
    try recordEvent("superseded", batch: old.batch, file: file, detail: "its source changed; \(next) follows")
    try honourEnd(requestedAction, of: file)
    try honour(requestedAction, of: next)
    return next
  }

  /// active → superseded, without a next generation: nothing of the file is to be sent. Recorded as an event with this
  /// verb. No attempt may be open.
  func endSuperseded(
    _ file: FileID, _ run: RunID, _ cause: ErrorCode, _ message: String, event verb: String
  ) throws -> TransitionResult {
    let requestedAction = try requestedAction(of: file)
    let result = try moveFile(
      file, run, from: .active, to: .superseded, isIdle: true,
      """
      UPDATE file SET {moved}, live = NULL, run_id = NULL, cause = ?1, message = ?2,
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = max(started_at, ?3)
      WHERE {guard}
      """, .raw(cause), .text(message), .int(wallMs))
    guard result.isApplied else { return result }
    try endChunks(of: file)
    try dropSession(of: file)
    let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(file)) { $0.id(0, BatchID.self) }
    try recordEvent(verb, batch: batch, file: file, detail: message)
    try honourEnd(requestedAction, of: file)
    return .applied
  }

  /// If the batch waits for sources to settle, the new generation settles: a changed source may still be written.
  func insertNext(
    _ file: NewFile, _ home: Home, _ batch: BatchID, generation: Int, notBeforeMs: Int64?
  ) throws -> FileID {
    let settleMs = try db.first("SELECT settings ->> 'settleMs' FROM batch WHERE id = ?", .id(batch)) {
      $0.int64OrNil(0)
    }
    guard let settleMs, let settleMs else {
      return try insert(file, home, batch, generation: generation, notBeforeMs: notBeforeMs)
    }
    let next = try insert(file, home, batch, generation: generation, notBeforeMs: nil, isSettling: true)
    try beginLook(next, boot: file.identity.boot, settleMs: settleMs)
    return next
  }

  /// Ends the live generation before the row of a new one is added: a done file stays done, others are superseded.
  /// Returns the new generations of the duplicates of a done file, which are sent now.
  @discardableResult
  func replace(_ file: FileID, isDone: Bool) throws -> [(file: FileID, batch: BatchID)] {
    if isDone {
      try db.run("UPDATE file SET live = NULL WHERE id = ? AND state = 'done'", .id(file))
      return try sendDuplicates(of: file)
    }
    try db.run(
      """
      UPDATE file SET state = 'superseded', live = NULL, not_before = NULL, requested_action = NULL, cause = 'source.changed',
        message = iif(state = 'settling', NULL, message), finished_at = max(coalesce(started_at, 0), ?)
      WHERE id = ? AND state IN ('pending', 'settling')
      """, .int(wallMs), .id(file))
    try dropSession(of: file)
    return []
  }

  /// failed, cancelled → superseded, for every generation of the key: another row replaces them. Their sessions, which
  /// were kept for a retry, are marked for abort.
  func supersedeEnded(_ destination: Int64, _ key: NameBytes) throws {
    try dropSessions(destination, key)
    try db.run(
      """
      UPDATE file SET state = 'superseded'
      WHERE destination_id = ? AND key = ? AND live IS NULL AND state IN ('failed', 'cancelled')
      """, .integer(destination), .name(key))
  }

  /// unknown → superseded: a newer version of its content follows. Its cause is kept. Its session ends only in the
  /// ledger and is not aborted on the server, because the upload may have succeeded.
  func supersedeUnknown(_ file: FileID, of batch: BatchID) throws {
    try db.run(
      """
      UPDATE session SET state = 'gone', ended_at = ?
      WHERE file_id = ? AND state IN ('intended', 'open') AND abort_after IS NULL
      """, .int(wallMs), .id(file))
    try db.run(
      """
      UPDATE file SET state = 'superseded', live = NULL, finished_at = max(coalesce(started_at, 0), ?)
      WHERE id = ? AND state = 'unknown'
      """, .int(wallMs), .id(file))
    try recordEvent(
      "superseded", batch: batch, file: file,
      detail: "its outcome is unknown, and its source changed; a newer version follows")
  }
}
