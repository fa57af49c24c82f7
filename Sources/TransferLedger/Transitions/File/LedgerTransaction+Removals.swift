public import TransferModel

/// A source that is to be deleted or moved: its file is done.
public struct DueRemoval: Sendable, Hashable {
  public var file: FileID
  public var batch: BatchID
  public var path: NameBytes
  /// As it was seen last.
  public var identity: SourceIdentity
  /// How often it was begun before.
  public var attempts: Int
  public var confirmation: Confirmation
  /// The object was not found later, is another one, or was replaced by another file.
  public var isLost: Bool
}

/// What became of the removal of one source.
public enum RemovalEnd: Sendable, Hashable {
  case done
  /// The source stays, for good.
  case kept(ErrorCode, String)
  /// To be tried again by a later run.
  case failed(ErrorCode, String)
}

extension LedgerReader {
  /// Removals that are due, of files after number `after`. While a file that is not done needs the same path, in any
  /// batch, nothing of it is due: to fail is not to be done, either, until somebody tidies it away.
  public func dueRemovals(after: Int64, limit: Int) throws -> [DueRemoval] {
    try db.rows(Self.dueRemovals, .integer(after), .int(limit)) { row throws(SQLiteError) in
      DueRemoval(
        file: row.id(0), batch: row.id(1), path: row.name(2), identity: row.identity(from: 3), attempts: row.int(9),
        confirmation: try row.named(10), isLost: row.flag(11))
    }
  }

  /// How many removals wait, and how many sources were kept or could not be removed.
  public func removalsLeft() throws -> (waiting: Int, kept: Int) {
    try db.first(
      """
      SELECT (SELECT count(*) FROM removal WHERE state = 'pending'),
        (SELECT count(*) FROM removal WHERE state = 'skipped' OR state = 'failed')
      """
    ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
  }

  static let dueRemovals: StaticString = """
    SELECT m.file_id, f.batch_id, f.path, f.size, f.mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), f.inode,
      coalesce(s.device, f.device), coalesce(s.boot, f.boot), m.attempts, r.confirmation,
      f.live IS NULL OR EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = f.id AND l.finding IN ('lost', 'differs'))
    FROM removal m CROSS JOIN file f ON f.id = m.file_id CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      LEFT JOIN sighting s ON s.file_id = f.id
    WHERE m.state = 'pending' AND m.file_id > ?1
      AND NOT EXISTS (SELECT 1 FROM file o WHERE o.path = f.path AND o.finished_at IS NULL AND o.is_download IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.path = f.path AND o.state = 'failed' AND o.is_download IS NULL AND o.hidden IS NULL)
    ORDER BY m.file_id LIMIT ?2
    """
}

extension LedgerTransaction {
  /// How often a removal is tried, by run after run.
  public static let removalsAtMost = 10

  /// pending stays, and a try is counted: before anything is touched, so that a later run knows that this one may have
  /// done it. Returns those that are still due now.
  public func beginRemovals(_ files: [FileID]) throws -> Set<FileID> {
    var begun: Set<FileID> = []
    for file in files {
      let changes = try db.run(
        """
        UPDATE removal SET attempts = attempts + 1 WHERE file_id = ?1 AND state = 'pending'
          AND EXISTS (SELECT 1 FROM file f WHERE f.id = ?1 AND f.live = 1)
          AND NOT EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = ?1 AND l.finding IN ('lost', 'differs'))
          AND NOT EXISTS (SELECT 1 FROM file o
            WHERE o.path = (SELECT path FROM file WHERE id = ?1) AND o.finished_at IS NULL AND o.is_download IS NULL)
          AND NOT EXISTS (SELECT 1 FROM file o WHERE o.path = (SELECT path FROM file WHERE id = ?1)
            AND o.state = 'failed' AND o.is_download IS NULL AND o.hidden IS NULL)
        """, .id(file))
      if changes == 1 { begun.insert(file) }
    }
    return begun
  }

  /// pending → done, skipped, failed; or pending stays with its cause. What was removed and the folders that it was in
  /// are on the disk before. `verb` is what the history calls a removal that was done.
  public func endRemovals(_ ends: [(file: FileID, end: RemovalEnd)], verb: String) throws {
    var (done, kept): ([FileID], [String: [FileID]]) = ([], [:])
    for (file, end) in ends {
      switch end {
      case .done:
        if try close(file, .done, nil, nil) { done.append(file) }
      case .kept(let code, let message):
        if try close(file, .skipped, code, message) { kept[message, default: []].append(file) }
      case .failed(let code, let message):
        if try putOff(file, code, message) { kept[message, default: []].append(file) }
      }
    }
    if !done.isEmpty { try recordEvent(verb, of: done) }
    for (message, files) in kept.sorted(by: { $0.key < $1.key }) {
      try recordEvent("source-kept", of: files, detail: message)
    }
  }

  private func close(_ file: FileID, _ state: RemovalState, _ code: ErrorCode?, _ message: String?) throws -> Bool {
    try db.run(
      """
      UPDATE removal SET state = ?2, cause = ?3, message = ?4, ended_at = ?5 WHERE file_id = ?1 AND state = 'pending'
      """, .id(file), .raw(state), .raw(code), .string(message), .int(wallMs)) == 1
  }

  /// Whether it has failed for good, or for a reason that was not known.
  private func putOff(_ file: FileID, _ code: ErrorCode, _ message: String) throws -> Bool {
    let known = try db.first(
      "SELECT attempts, message IS ?2 FROM removal WHERE file_id = ?1 AND state = 'pending'", .id(file), .text(message)
    ) { (attempts: $0.int(0), isTold: $0.flag(1)) }
    guard let known else { return false }
    if known.attempts >= Self.removalsAtMost { return try close(file, .failed, code, message) }
    try db.run(
      "UPDATE removal SET cause = ?2, message = ?3 WHERE file_id = ?1 AND state = 'pending'", .id(file), .raw(code),
      .text(message))
    return !known.isTold
  }
}
