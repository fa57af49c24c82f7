import TransferModel

/// How much an engine still has to bring to an end.
public struct WorkSize: Sendable, Hashable {
  public var files: Int
  public var bytes: Int64
  /// Of `bytes`, in chunks that are done.
  public var bytesAcked: Int64
  /// Listings are among the files: nobody knows yet how many files they will name.
  public var hasListings = false

  public init(files: Int = 0, bytes: Int64 = 0, bytesAcked: Int64 = 0) {
    self.files = files
    self.bytes = bytes
    self.bytesAcked = bytesAcked
  }

  /// Adds up the indexes that hold just what is left, at about 50 ns a file; rows are read only of files that are in
  /// work or of which the server holds a part.
  fileprivate static func read(_ db: Connection) throws -> WorkSize {
    var size = WorkSize()
    for sql in [LedgerReader.readyTally, LedgerReader.waitingTally, runningTally] {
      let tally = try db.first(sql) { $0.tally(0) } ?? (0, 0)
      (size.files, size.bytes) = (size.files +| tally.count, size.bytes +| tally.sum)
    }
    for sql in [runningHeld, pendingHeld] { size.bytesAcked +|= try db.first(sql) { $0.int64(0) } ?? 0 }
    size.hasListings = try db.first(listings) { $0.flag(0) } ?? false
    return size
  }

  // Nothing has told the size of a listing: the index has it, so that only rows without one are looked at.
  static let listings: StaticString = """
    SELECT EXISTS (SELECT 1 FROM file WHERE state = 'pending' AND not_before IS NULL AND size IS NULL AND is_download = 1
        AND (key = x'' OR substr(key, -1) = x'2F'))
      OR EXISTS (SELECT 1 FROM file WHERE state = 'pending' AND not_before IS NOT NULL AND size IS NULL
        AND is_download = 1 AND (key = x'' OR substr(key, -1) = x'2F'))
      OR EXISTS (SELECT 1 FROM file WHERE state IN ('active', 'finishing') AND is_download = 1
        AND (key = x'' OR substr(key, -1) = x'2F'))
    """

  static let runningTally: StaticString = "SELECT tally(size) FROM file WHERE state IN ('active', 'finishing')"
  static let runningHeld: StaticString = """
    SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.state IN ('active', 'finishing')
    """
  static let pendingHeld: StaticString = """
    SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0)
    FROM file f INDEXED BY file_partial CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.holds IS NOT NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.state = 'pending'
    """
}

extension LedgerReader {
  /// Once a run and after changes by people, not in a loop: the cost grows with what is left.
  public func workSize() throws -> WorkSize { try WorkSize.read(db) }

  /// Differs after files were added, and after people did something that is recorded as an event. Two looks at the ends
  /// of tables.
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
