public import TransferModel

extension LedgerReader {
  /// Files that were given up, by other paths than that of the removal of `file`, and that may hold it: each has the
  /// version of the source that is to be removed. Served by the index `file_source`.
  public func givenUpFiles(holding file: FileID) throws -> [AwaitingSource] {
    try db.rows(Self.givenUp, .id(file)) {
      AwaitingSource(file: $0.id(0), batch: $0.id(1), path: $0.name(2), root: $0.intOrNil(3))
    }
  }

  static let givenUp: StaticString = """
    SELECT t.id, t.batch_id, t.path, t.root
    FROM file f CROSS JOIN file t ON t.inode = f.inode AND t.is_download IS NULL AND t.state <> 'done'
      CROSS JOIN batch u ON u.id = t.batch_id
    WHERE f.id = ?1 AND t.path <> f.path AND t.size = f.size AND t.mtime_ns = f.mtime_ns AND u.after IS NOT NULL
      AND (t.state = 'failed' OR t.state = 'cancelled' OR t.state = 'superseded' AND t.cause IS NOT NULL)
      AND t.cause IS NOT 'source.missing'
      AND NOT EXISTS (SELECT 1 FROM absent_source a WHERE a.file_id = t.id)
    ORDER BY t.id
    """
}

extension LedgerTransaction {
  /// active → superseded: its source was deleted before anything of it was sent. A later source with its name is a new
  /// generation. No attempt may be open.
  public func endGone(_ file: FileID, _ run: RunID, reason: String) throws -> TransitionResult {
    try endSuperseded(file, run, .sourceMissing, reason, event: "superseded")
  }

  /// Records that nothing has the path of these files any more. They were given up, and hold no removal from now on:
  /// the source that they named is another one, or has another name. Only this is recorded, once; they stay as they
  /// are. A file that is sent again loses the record: if it is given up again, it holds its source again.
  public func noteAbsent(_ files: [FileID]) throws {
    let noted = try files.filter { file in
      try db.run(
        """
        INSERT INTO absent_source (file_id, seen_at)
        SELECT id, ?2 FROM file
        WHERE id = ?1 AND is_download IS NULL AND (state = 'failed' OR state = 'cancelled' OR state = 'superseded')
          AND NOT EXISTS (SELECT 1 FROM absent_source a WHERE a.file_id = file.id)
        """, .id(file), .int(wallMs)) == 1
    }
    if !noted.isEmpty {
      try recordEvent("source-gone", of: noted, detail: "it was given up, and nothing has its path any more")
    }
  }
}
