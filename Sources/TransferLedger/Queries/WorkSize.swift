/// How much an engine still has to bring to an end.
public struct WorkSize: Sendable, Hashable {
  public var files: Int
  public var bytes: Int64
  /// Of `bytes`, in chunks that are done.
  public var bytesAcked: Int64

  public init(files: Int = 0, bytes: Int64 = 0, bytesAcked: Int64 = 0) {
    self.files = files
    self.bytes = bytes
    self.bytesAcked = bytesAcked
  }

  /// Reads each row that is left, by the three indexes that hold just these; chunks only of files that were begun.
  fileprivate static func read(_ db: Connection) throws -> WorkSize {
    try db.first(
      """
      WITH work AS (
        SELECT id, size, chunk_count FROM file WHERE state = 'pending' AND not_before IS NULL
        UNION ALL SELECT id, size, chunk_count FROM file WHERE state = 'pending' AND not_before IS NOT NULL
        UNION ALL SELECT id, size, chunk_count FROM file WHERE state IN ('active', 'finishing'))
      SELECT count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN chunk_count IS NOT NULL THEN
        (SELECT sum(iif(state = 'done', length, acked)) FROM chunk WHERE file_id = work.id) END), 0)
      FROM work
      """
    ) { WorkSize(files: $0.int(0), bytes: $0.int64(1), bytesAcked: $0.int64(2)) } ?? WorkSize()
  }
}

extension LedgerReader {
  /// Once a run and after changes by people, not in a loop: the cost grows with what is left.
  public func workSize() throws -> WorkSize { try WorkSize.read(db) }

  /// Differs after files were added, and after people did something that is recorded as an event. Two looks at the ends of
  /// tables.
  public func changeMark() throws -> ChangeMark {
    try db.first("SELECT (SELECT max(id) FROM file), (SELECT max(id) FROM event)") { row in
      ChangeMark(file: row.int64OrNil(0) ?? 0, event: row.int64OrNil(1) ?? 0)
    } ?? ChangeMark(file: 0, event: 0)
  }
}

extension LedgerTransaction {
  /// The same as of a reader, after everything that was queued for writing before.
  public func workSize() throws -> WorkSize { try WorkSize.read(db) }
}

/// How far the ledger had grown at one moment.
public struct ChangeMark: Sendable, Hashable {
  var file, event: Int64
}
