public import TransferModel

/// A file whose source may still be written, and the check of it that is due.
public struct SettlingSource: Sendable, Hashable {
  public var id: FileID
  public var path: NameBytes
  package var identity: SourceIdentity
  /// The boot whose clock ``sinceMs`` and ``dueMs`` refer to, in milliseconds.
  public var boot: UInt64
  public var sinceMs, dueMs: Int64
  /// See ``NewFile/isCompared``.
  package var isCompared = false
}

extension LedgerReader {
  /// At most `limit` files whose settle time has passed by the clock of this boot, or began in another boot, or by a
  /// clock that was ahead of this one. In no particular order: a check of a file removes it from the due ones.
  public func dueLooks(boot: UInt64, nowMs: Int64, limit: Int) throws -> [SettlingSource] {
    try db.rows(Self.dueLooks, .bits(boot), .integer(nowMs), .int(limit)) { row in
      SettlingSource(
        id: row.id(0), path: row.name(1), identity: row.identity(from: 2), boot: row.bits(8), sinceMs: row.int64(9),
        dueMs: row.int64(10), isCompared: row.flag(11))
    }
  }

  /// When the next check is due, in milliseconds of the clock of this boot; 0 for those of another boot. `awaited`
  /// excludes files that the current run has seen change. nil if there is none.
  public func nextLookMs(boot: UInt64, awaited: Bool) throws -> Int64? {
    let sql = awaited ? Self.nextAwaitedLook : Self.nextLook
    return try db.first(sql, .bits(boot)) { $0.int64OrNil(0) }?.map { $0 }
  }

  // Each line reads a range of an index: half a million files may be settling, and this query runs every second.
  static let dueLooks: StaticString = """
    SELECT f.id, f.path, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.device, f.boot, l.boot, l.since_ms, l.due_ms,
      f.expected IS NOT NULL
    FROM (
      SELECT file_id FROM look WHERE boot < ?1
      UNION ALL SELECT file_id FROM look WHERE boot > ?1
      UNION ALL SELECT file_id FROM look WHERE boot = ?1 AND since_ms > ?2
      UNION ALL SELECT file_id FROM look WHERE is_changing IS NULL AND boot = ?1 AND due_ms <= ?2
      UNION ALL SELECT file_id FROM look WHERE is_changing = 1 AND boot = ?1 AND due_ms <= ?2
      LIMIT ?3) d
      CROSS JOIN look l ON l.file_id = d.file_id CROSS JOIN file f ON f.id = l.file_id
    """
  static let nextLook: StaticString = """
    SELECT min(due_ms) FROM (
      SELECT min(due_ms) AS due_ms FROM look WHERE is_changing IS NULL AND boot = ?1
      UNION ALL SELECT min(due_ms) FROM look WHERE is_changing = 1 AND boot = ?1
      UNION ALL SELECT 0 WHERE EXISTS (SELECT 1 FROM look WHERE boot < ?1) OR EXISTS (SELECT 1 FROM look WHERE boot > ?1))
    """
  static let nextAwaitedLook: StaticString = """
    SELECT min(due_ms) FROM (
      SELECT min(due_ms) AS due_ms FROM look WHERE is_changing IS NULL AND boot = ?1
      UNION ALL SELECT 0 WHERE EXISTS (SELECT 1 FROM look WHERE is_changing IS NULL AND boot < ?1)
        OR EXISTS (SELECT 1 FROM look WHERE is_changing IS NULL AND boot > ?1))
    """
}

extension LedgerTransaction {
  /// Starts the settle time of a file that was recorded as settling.
  func beginLook(_ file: FileID, boot: UInt64, settleMs: Int64) throws {
    try db.run("UPDATE file SET cause = 'source.settling' WHERE id = ? AND state = 'settling'", .id(file))
    try db.run(
      "INSERT INTO look (file_id, boot, since_ms, due_ms) VALUES (?, ?, ?, ?)", .id(file), .bits(boot),
      .int(bootMs), .int(bootMs + max(1, settleMs)))
  }

  /// Stays settling: the source was found changed, and its settle time restarts. `byRun` is true if the run that waits
  /// for the source found it.
  package func lookAgain(_ file: FileID, _ now: SourceIdentity, byRun: Bool) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE file SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5, device = ?6, boot = ?7
      WHERE id = ?1 AND state = 'settling' AND EXISTS (SELECT 1 FROM look WHERE file_id = ?1)
      """, .id(file), .int(now.size), .int(now.mtimeNs), .int(now.ctimeNs), .bits(now.inode), .bits(now.device),
      .bits(now.boot))
    guard changes == 1 else { return .lost(to: try stateOf(file)) }
    try db.run(
      """
      UPDATE look SET boot = ?2, since_ms = ?3, due_ms = ?3 + (due_ms - since_ms), is_changing = nullif(?4, 0)
      WHERE file_id = ?1
      """, .id(file), .bits(now.boot), .int(bootMs), .flag(byRun))
    return .applied
  }

  /// settling → pending, or paused if that was requested, after a check that found the source as in `seen`. If a copy
  /// must be made first, it stays settling and waits for the copy. `.lost` if another check came between.
  public func endLook(_ seen: SettlingSource) throws -> TransitionResult {
    let isStaged = try db.first(
      """
      SELECT b.settings ->> 'stage' IS 1 FROM file f JOIN look l ON l.file_id = f.id JOIN batch b ON b.id = f.batch_id
      WHERE f.id = ? AND f.state = 'settling' AND l.boot = ? AND l.since_ms = ?
      """, .id(seen.id), .bits(seen.boot), .integer(seen.sinceMs)
    ) { $0.flag(0) }
    guard let isStaged else { return .lost(to: try stateOf(seen.id)) }
    if isStaged {
      try db.run("UPDATE file SET cause = NULL WHERE id = ? AND state = 'settling'", .id(seen.id))
      try db.run("DELETE FROM look WHERE file_id = ?", .id(seen.id))
    } else {
      try db.run(
        """
        UPDATE file SET state = iif(requested_action IS NULL, 'pending', 'paused'), requested_action = NULL, cause = NULL
        WHERE id = ? AND state = 'settling'
        """, .id(seen.id))
    }
    return .applied
  }

  /// settling → superseded: the source is gone, or is no longer a file. A later source with its name is a new
  /// generation.
  public func dropSettling(_ file: FileID, _ cause: ErrorCode, detail: String) throws -> TransitionResult {
    let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(file)) { $0.id(0, BatchID.self) }
    let changes = try db.run(
      """
      UPDATE file SET state = 'superseded', live = NULL, requested_action = NULL, cause = ?2, finished_at = ?3
      WHERE id = ?1 AND state = 'settling' AND EXISTS (SELECT 1 FROM look WHERE file_id = ?1)
      """, .id(file), .raw(cause), .int(wallMs))
    guard changes == 1, let batch else { return .lost(to: try stateOf(file)) }
    try recordEvent("superseded", batch: batch, file: file, detail: detail)
    return .applied
  }

  /// A run waits for each source once, including those that an earlier run saw change.
  public func awaitLooks() throws {
    try db.run("UPDATE look SET is_changing = NULL WHERE is_changing = 1")
  }

  private func stateOf(_ file: FileID) throws -> String? {
    try db.first("SELECT state FROM file WHERE id = ?", .id(file)) { $0.text(0) }
  }
}
