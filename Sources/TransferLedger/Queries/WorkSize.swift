import TransferModel

/// How much work is left for an engine.
public struct WorkSize: Sendable, Hashable {
  public var files: Int
  public var bytes: Int64
  /// Of `bytes`, those that are acknowledged already.
  public var bytesAcked: Int64
  /// Files of which the size is not known yet; listings too.
  public var unsized = 0
  /// Whether listings are among the files: it is not known yet how many files they will name.
  public var hasListings = false

  public init(files: Int = 0, bytes: Int64 = 0, bytesAcked: Int64 = 0) {
    self.files = files
    self.bytes = bytes
    self.bytesAcked = bytesAcked
  }

  /// Adds up the indexes that hold only the files that are left, at about 50 ns a file; reads rows only of files that
  /// are active or of which the server holds a part.
  fileprivate static func read(_ db: Connection) throws -> WorkSize {
    var size = WorkSize()
    for sql in [LedgerReader.readyTally, LedgerReader.waitingTally, runningTally] {
      guard let found = try db.first(sql, row: { (tally: $0.tally(0), nulls: $0.tallyNulls(0)) }) else { continue }
      size.unsized += found.nulls
      (size.files, size.bytes) = (size.files +| found.tally.count, size.bytes +| found.tally.sum)
    }
    for sql in [runningHeld, pendingHeld] { size.bytesAcked +|= try db.first(sql) { $0.int64(0) } ?? 0 }
    size.hasListings = try db.first(listings) { $0.flag(0) } ?? false
    return size
  }

  // A listing has no known size. The index contains the size, so that only rows without one are read.
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
    SELECT sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.state IN ('active', 'finishing')
    """
  static let pendingHeld: StaticString = """
    SELECT sum_bytes(iif(c.state = 'done', c.length, c.acked))
    FROM file f INDEXED BY file_partial CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.holds IS NOT NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.state = 'pending'
    """
}

extension LedgerReader {
  /// For use once a run and after changes by people, not in a loop: the cost grows with the work that is left.
  public func workSize() throws -> WorkSize { try WorkSize.read(db) }

  /// Changes when files are added, and when people do something that is recorded as an event. Two lookups at the ends
  /// of tables.
  public func changeMark() throws -> ChangeMark {
    try db.first("SELECT (SELECT max(id) FROM file), (SELECT max(id) FROM event)") { row in
      ChangeMark(file: row.int64OrNil(0) ?? 0, event: row.int64OrNil(1) ?? 0)
    } ?? ChangeMark(file: 0, event: 0)
  }
}

extension LedgerTransaction {
  /// The same as that of a reader, but after all writes that were queued before.
  public func workSize() throws -> WorkSize { try WorkSize.read(db) }
}

/// How far the ledger had grown at one moment.
public struct ChangeMark: Sendable, Hashable {
  var file, event: Int64
}
