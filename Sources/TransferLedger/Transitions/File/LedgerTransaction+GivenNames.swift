public import TransferModel

/// The result of giving a file the name that its server supplied.
public enum NameTaking: Sendable, Hashable {
  case applied
  /// Another download has the name: it is not done, or was done after this one was added.
  case taken(by: FileID)
  /// The file is not in the state from which the transition starts.
  case lost(to: String?)
}

extension LedgerTransaction {
  /// finishing: stores the absolute path in its folder with the name that its server supplied, before the file is
  /// placed there. A download at that path that was done before this one was added is replaced, as one from the same
  /// URL would be.
  public func takeName(_ file: FileID, _ run: RunID, _ path: NameBytes) throws -> NameTaking {
    let folded = try folded(file, at: path)
    let read = { (row: SQLRow) in (id: row.id(0, FileID.self), givesWay: row.flag(1)) }
    let other =
      try db.first(Self.holderOfName, .name(path), .id(file), row: read)
      ?? folded.flatMap { try db.first(Self.holderOfFolded, .name($0), .id(file), row: read) }
    if let other {
      guard other.givesWay else { return .taken(by: other.id) }
      try replace(other.id, isDone: true)
    }
    let changes = try db.run(
      """
      UPDATE file SET path = ?1, folded = ?4 WHERE id = ?2 AND run_id = ?3 AND state = 'finishing' AND is_download = 1
      """, .name(path), .id(file), .id(run), .name(folded))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }

  /// The case-folded path of the file at its new path, which differs only in the last component; nil if its folder
  /// distinguishes case.
  private func folded(_ file: FileID, at path: NameBytes) throws -> NameBytes? {
    try db.folded(of: file).map { old in
      NameBytes(old.bytes.prefix((old.bytes.lastIndex(of: 0x2F) ?? -1) + 1) + path.lastComponent.caseFolded.bytes)
    }
  }

  static let holderOfName: StaticString = """
    SELECT o.id, o.state = 'done' AND o.finished_at < f.created_at FROM file o JOIN file f ON f.id = ?2
    WHERE o.path = ?1 AND o.live = 1 AND o.is_download = 1 AND o.id <> ?2
    """
  static let holderOfFolded: StaticString = """
    SELECT o.id, o.state = 'done' AND o.finished_at < f.created_at FROM file o JOIN file f ON f.id = ?2
    WHERE o.folded = ?1 AND o.folded IS NOT NULL AND o.live = 1 AND o.id <> ?2
    """
}

extension LedgerReader {
  /// Paths of local files that have or had this content because they were sent or fetched; at most 8, the newest first.
  /// `digest` is SHA-256 or SHA-512.
  public func localPaths(of digest: Digest) throws -> [NameBytes] {
    let proven = try db.rows(
      """
      SELECT f.path FROM receipt r CROSS JOIN file f ON f.id = r.file_id
      WHERE r.digest = ?1 AND r.digest >= 'sha2' AND r.digest < 'sha6' AND r.finding IS NULL AND f.state = 'done'
      ORDER BY r.file_id DESC LIMIT 8
      """, .digest(digest)
    ) { $0.name(0) }
    return digest.algorithm == .sha256 ? Array((proven + (try recordedPaths(of: digest))).prefix(8)) : proven
  }

  /// The same for a SHA-256 that was recorded beside another digest.
  private func recordedPaths(of sha256: Digest) throws -> [NameBytes] {
    try db.rows(
      """
      SELECT f.path FROM receipt r CROSS JOIN file f ON f.id = r.file_id
      WHERE r.sha256 = ?1 AND r.sha256 IS NOT NULL AND r.finding IS NULL AND f.state = 'done'
      ORDER BY r.file_id DESC LIMIT 8
      """, .digest(sha256)
    ) { $0.name(0) }
  }
}
