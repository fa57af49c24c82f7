public import TransferModel

extension LedgerTransaction {
  /// How often a removal may fail, over all runs, before its source is kept. A postponed removal has not failed.
  public static let removalsAtMost = 10

  /// Stays pending, and counts an attempt before anything is changed, so that a later run knows that this one may have
  /// removed the source. From now on no file of another path replaces the object of a source that is to be deleted.
  /// Returns those that are still due now.
  public func beginRemovals(_ files: [FileID]) throws -> Set<FileID> {
    var begun: Set<FileID> = []
    for file in files {
      guard let due = try db.dueRemoval(file), due.isWanted else { continue }
      let changes = try db.run(
        """
        UPDATE removal SET attempts = attempts + 1, begun = 1, cause = NULL, waits_for = NULL, due_at = NULL,
          only_copy = iif((SELECT b.after FROM file f CROSS JOIN batch b ON b.id = f.batch_id WHERE f.id = ?1) = 'delete',
            1, only_copy)
        WHERE file_id = ?1 AND state = 'pending'
        """, .id(file))
      if changes == 1 { begun.insert(file) }
    }
    return begun
  }

  /// pending → done, skipped, failed; or it stays pending with its cause. The removals and the folders they changed
  /// must be synced before. `verb` names a completed removal in the history. A removal that was revoked while its
  /// source was being removed is done: the state of the disk counts.
  /// - Parameter uncertain: files with an earlier attempt that crashed. It may have removed the source, so an attempt
  ///   without effect leaves them marked as begun.
  public func endRemovals(
    _ ends: [(file: FileID, end: RemovalEnd)], verb: String, uncertain: Set<FileID> = []
  ) throws {
    var (done, gone, kept): ([FileID], [String: [FileID]], [String: [FileID]]) = ([], [:], [:])
    let deletes = verb == Self.deletionVerb
    for (file, end) in ends {
      if !end.isOver, !uncertain.contains(file) { try noteUntouched(file) }
      switch end {
      case .done:
        guard try close(file, .done, nil, nil) else { continue }
        done.append(file)
        try closeOthers(of: file, deletes, into: &gone)
      case .gone(let message):
        guard try close(file, .done, nil, message) else { continue }
        gone[message, default: []].append(file)
        try closeOthers(of: file, deletes, into: &gone)
      case .putOff(let code, let message):
        try putOff(file, code, message, isUncertain: uncertain.contains(file))
      case .delayed(let code, let message):
        try putOff(file, code, message, isUncertain: uncertain.contains(file))
        try delay(file)
      case .kept(let code, let message):
        guard try close(file, .skipped, code, message) else { continue }
        if code == .sourceMissing {
          gone[message, default: []] += [file] + (try missOthers(of: file, message))
        } else {
          kept[message, default: []].append(file)
        }
      case .failed(let code, let message):
        if try tryAgain(file, code, message, isUncertain: uncertain.contains(file)) {
          kept[message, default: []].append(file)
        }
      }
    }
    if !done.isEmpty { try recordEvent(verb, of: done) }
    try recordEach("source-gone", gone)
    try recordEach("source-kept", kept)
  }

  /// An event for each cause.
  private func recordEach(_ verb: String, _ files: [String: [FileID]]) throws {
    for (message, files) in files.sorted(by: { $0.key < $1.key }) {
      try recordEvent(verb, of: files, detail: message)
    }
  }

  /// The event of sources that were deleted, not moved.
  public static let deletionVerb = "source-deleted"

  /// The attempt is known to have changed nothing, even if the removal was revoked meanwhile: the source is there.
  private func noteUntouched(_ file: FileID) throws {
    try db.run("UPDATE removal SET only_copy = NULL WHERE file_id = ? AND only_copy = 1", .id(file))
  }

  /// The objects of the chosen files may be replaced, although their sources were deleted: a person gives them up. A
  /// removal that may still be going on is revoked by the same verb, but not given up: nobody knows its result yet.
  func giveUpCopiesOfChosen() throws {
    try db.run(
      """
      UPDATE removal SET only_copy = NULL
      WHERE file_id IN (SELECT id FROM temp.chosen) AND only_copy = 1 AND state <> 'pending'
      """)
  }

  /// The removals of the same source for other files.
  private func closeOthers(of file: FileID, _ deletes: Bool, into gone: inout [String: [FileID]]) throws {
    let others = try closeOthers(of: file, deletes)
    if !others.isEmpty { gone["it was removed with the source of \(file)", default: []] += others }
  }

  private func close(_ file: FileID, _ state: RemovalState, _ code: ErrorCode?, _ message: String?) throws -> Bool {
    try db.run(
      """
      UPDATE removal SET state = ?2, cause = ?3, message = ?4, ended_at = ?5, begun = NULL, put_off_at = NULL,
        waits_for = NULL, due_at = NULL
      WHERE file_id = ?1 AND (state = 'pending' OR ?2 = 'done' AND state = 'skipped' AND cause = 'policy.cancelled')
      """, .id(file), .raw(state), .raw(code), .string(message), .int(wallMs)) == 1
  }

  /// pending → done, for the removals by other batches of the source of `file`, which is gone from its path.
  private func closeOthers(of file: FileID, _ deletes: Bool) throws -> [FileID] {
    let others = try db.rows(Self.othersOfSource, .id(file)) { $0.id(0, FileID.self) }
    return try others.filter { other in
      try db.run(
        """
        UPDATE removal SET attempts = attempts + 1, cause = NULL, only_copy = iif(?2, 1, only_copy)
        WHERE file_id = ?1 AND state = 'pending'
        """, .id(other), .integer(deletes ? 1 : 0))
      return try close(other, .done, nil, "it was removed with the source of \(file)")
    }
  }

  /// pending → skipped: the removals of the source of `file` for other batches, because the source does not exist.
  /// Excludes those with an interrupted attempt, which may have removed the source: they are decided separately.
  private func missOthers(of file: FileID, _ message: String) throws -> [FileID] {
    let others = try db.rows(Self.othersOfSource, .id(file)) { (file: $0.id(0, FileID.self), isBegun: $0.flag(1)) }
    return try others.filter { try !$0.isBegun && close($0.file, .skipped, .sourceMissing, message) }.map(\.file)
  }

  static let othersOfSource: StaticString = """
    SELECT w.file_id, w.begun IS NOT NULL
    FROM file f CROSS JOIN removal w ON w.inode = f.inode AND w.state <> 'done' AND w.state = 'pending'
      CROSS JOIN file o ON o.id = w.file_id
    WHERE f.id = ?1 AND o.id <> f.id AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns
    ORDER BY w.file_id
    """

  /// Stays pending: the attempt has changed nothing. If an earlier attempt crashed (`isUncertain`), the removal stays
  /// marked as begun.
  private func putOff(_ file: FileID, _ code: ErrorCode, _ message: String, isUncertain: Bool) throws {
    let waitsFor = try waitsFor(file, code)
    try db.run(
      """
      UPDATE removal SET cause = ?2, message = ?3, begun = ?5, waits_for = ?6, due_at = NULL,
        put_off_at = iif(put_off_at IS NOT NULL AND message IS ?3, put_off_at, ?4)
      WHERE file_id = ?1 AND state = 'pending'
      """, .id(file), .raw(code), .text(message), .int(wallMs), isUncertain ? .integer(1) : .null, waitsFor)
  }

  /// A removal that was just put off is due after as long a time as it has been put off for.
  private func delay(_ file: FileID) throws {
    try db.run(
      """
      UPDATE removal SET due_at = ?2 + max(0, min(?2 - put_off_at, ?3))
      WHERE file_id = ?1 AND state = 'pending' AND waits_for IS NOT NULL
      """, .id(file), .int(wallMs), .integer(LedgerReader.longestRemovalDelayMs))
  }

  /// What a removal that is put off waits for: nothing after a stop, nor if the destinations have got the source since
  /// the removal was read, or the copy was trusted.
  private func waitsFor(_ file: FileID, _ code: ErrorCode) throws -> SQLValue {
    switch code {
    case .engineInterrupted: return .null
    case .policyDestination: return try db.dueRemoval(file)?.lacking == nil ? .null : .blob([])
    case .engineCopied: return try db.dueRemoval(file)?.isOfOriginal == true ? .blob([]) : .null
    default:
      let path = try db.first("SELECT path FROM file WHERE id = ?", .id(file)) { $0.name(0).bytes } ?? []
      return .blob(Array(path[..<(path.lastIndex(of: 0x2F) ?? 0)]))
    }
  }

  /// Counts a failure. Returns whether the removal has failed permanently, or for another reason than the last time.
  private func tryAgain(
    _ file: FileID, _ code: ErrorCode, _ message: String, isUncertain: Bool
  ) throws -> Bool {
    let known = try db.first(
      """
      UPDATE removal SET failures = failures + 1, put_off_at = NULL, waits_for = NULL, due_at = NULL
      WHERE file_id = ?1 AND state = 'pending'
      RETURNING failures, message IS ?2
      """, .id(file), .text(message)
    ) { (failures: $0.int(0), isTold: $0.flag(1)) }
    guard let known else { return false }
    if known.failures >= Self.removalsAtMost { return try close(file, .failed, code, message) }
    try db.run(
      "UPDATE removal SET cause = ?2, message = ?3, begun = ?4 WHERE file_id = ?1 AND state = 'pending'", .id(file),
      .raw(code), .text(message), isUncertain ? .integer(1) : .null)
    return !known.isTold
  }

  // MARK: - Revoking removals

  /// pending → skipped, for the removals of the chosen files. `what` and `when` are the reason in the history.
  func revokeRemovalsOfChosen(_ what: String, _ when: String = "before the source was removed") throws {
    let files = try db.rows(
      """
      SELECT c.id FROM temp.chosen c CROSS JOIN removal m ON m.file_id = c.id WHERE m.state = 'pending' ORDER BY c.id
      """
    ) { $0.id(0, FileID.self) }
    try revokeRemovals(files, "\(what) \(when)", ofBegun: what)
  }

  /// pending → skipped, for the removals of all files of a batch.
  func revokeRemovals(of batch: BatchID, _ why: String) throws {
    let files = try db.rows(
      """
      SELECT m.file_id FROM removal m CROSS JOIN file f ON f.id = m.file_id
      WHERE m.state = 'pending' AND f.batch_id = ? ORDER BY m.file_id
      """, .id(batch)
    ) { $0.id(0, FileID.self) }
    try revokeRemovals(files, why, ofBegun: why)
  }

  /// Nobody knows what became of a source that a run had begun to remove: the run is still at it, or was killed.
  private func revokeRemovals(_ files: [FileID], _ why: String, ofBegun what: String) throws {
    var kept: [String: [FileID]] = [:]
    for file in files {
      let isBegun = try db.first("SELECT begun FROM removal WHERE file_id = ?", .id(file)) { $0.flag(0) } ?? false
      let text = isBegun ? "\(what); a run had begun to remove the source, and may have done so" : why
      if try close(file, .skipped, .policyCancelled, text) { kept[text, default: []].append(file) }
    }
    try recordEach("source-kept", kept)
  }
}
