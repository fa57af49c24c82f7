public import TransferModel

/// A file that waits until its source has been copied.
public struct SettlingFile: Sendable, Hashable {
  public var id: FileID
  public var path: NameBytes
  package var identity: SourceIdentity
  /// See ``NewFile/root``.
  public var root: Int?
}

extension LedgerReader {
  /// Files after number `after` that wait until their source has been copied.
  public func settlingFiles(after: Int64, limit: Int) throws -> [SettlingFile] {
    try db.rows(Self.settlingFiles, .integer(after), .int(limit)) { row in
      SettlingFile(id: row.id(0), path: row.name(1), identity: row.identity(from: 2), root: row.intOrNil(8))
    }
  }

  /// The first of them; nil if there is none. Reads only files that are settling.
  public func firstSettlingFile() throws -> FileID? {
    try db.first(Self.firstSettling) { $0.idOrNil(0) } ?? nil
  }

  static let firstSettling: StaticString = """
    SELECT min(id) FROM file WHERE state = 'settling' AND cause IS NOT 'source.settling'
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
    """

  static let settlingFiles: StaticString = """
    SELECT id, path, size, mtime_ns, ctime_ns, inode, device, boot, root FROM file
    WHERE state = 'settling' AND id > ? AND cause IS NOT 'source.settling' ORDER BY id LIMIT ?
    """
}

extension LedgerTransaction {
  /// settling → pending, or paused if that was requested. The copy `staged`, which is durable, will be sent; with nil
  /// the source itself.
  public func settle(_ file: FileID, staged: String?) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE file SET state = iif(requested_action IS NULL, 'pending', 'paused'), requested_action = NULL, staged = ?,
        cause = NULL, message = NULL
      WHERE id = ? AND state = 'settling' AND cause IS NOT 'source.settling'
      """, .string(staged), .id(file))
    return changes == 1 ? .applied : .lost(to: try settlingState(of: file))
  }

  /// Stays settling: the copy could not be made because of `failure`, and the next run or `add` tries it again.
  public func noteUncopied(_ file: FileID, _ failure: Failure) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE file SET cause = ?, message = ? WHERE id = ? AND state = 'settling' AND cause IS NOT 'source.settling'
      """, .raw(failure.code), .text(failure.message), .id(file))
    return changes == 1 ? .applied : .lost(to: try settlingState(of: file))
  }

  private func settlingState(of file: FileID) throws -> String? {
    try db.first("SELECT state FROM file WHERE id = ?", .id(file)) { $0.text(0) }
  }

  /// Done, cancelled, superseded and hidden files release their copy: if one is ever sent again, its source is sent. A
  /// segment of a growing file keeps it until it is done or removed (``releaseCopiesOfChosen()``), whether it failed,
  /// was cancelled, or is hidden: it can be retried, and nothing else could be sent in its place. Returns whether no
  /// file needs the copy with this name any more.
  public func releaseStaged(_ name: String) throws -> Bool {
    try db.run(
      """
      UPDATE file SET staged = NULL WHERE staged = ? AND (state = 'done' OR state = 'superseded'
        OR (state = 'cancelled' OR hidden IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM segment WHERE file_id = file.id))
      """, .text(name))
    return try db.first("SELECT 1 FROM file WHERE staged = ?", .text(name)) { _ in true } == nil
  }

  /// Files that were removed release their copy, that of a segment too: it is not sent any more.
  func releaseCopiesOfChosen() throws {
    try db.run(
      """
      UPDATE file SET staged = NULL WHERE id IN (SELECT id FROM temp.chosen) AND staged IS NOT NULL
        AND state IN ('failed', 'cancelled')
      """)
  }
}
