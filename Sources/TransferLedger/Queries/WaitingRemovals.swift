public import TransferModel

/// Removals that were put off for what is wrong with the folder of their sources or its file system.
public struct FolderWait: Sendable, Hashable {
  public var folder: NameBytes
  /// The first of them that nothing else holds up; nil if there is none.
  public var due: DueRemoval?
}

/// A source whose removal was put off until a destination has the file.
public struct AwaitingSource: Sendable, Hashable {
  public var file: FileID
  public var batch: BatchID
  public var path: NameBytes
  /// How much of the path may lead through symbolic links.
  package var root: Int?
}

/// What is to be known before an engine is started for removals. The cost does not depend on how many wait.
extension LedgerReader {
  private static let atOnce = 100
  /// How long a removal is delayed at most for an error that passes by itself, in milliseconds.
  static let longestRemovalDelayMs: Int64 = 3_600_000

  /// Whether an engine could remove a source now, or has not yet determined why it cannot. A removal that was put off
  /// does not count, unless something has changed since about its source or the destinations of a job.
  /// - Parameter job: only sources of this job.
  public func hasDueRemoval(ofJob job: String? = nil) throws -> Bool {
    try firstDue { last in
      try db.rows(Self.removalsToLookAt, .int(last), .int(Self.atOnce), .string(job)) { $0.id(0) }
    } != nil
  }

  /// Those that wait for nothing, but which another file may hold up.
  static let removalsToLookAt: StaticString = """
    SELECT m.file_id FROM removal m
    WHERE m.state = 'pending' AND m.waits_for IS NULL AND m.file_id > ?1 AND (?3 IS NULL OR EXISTS (
      SELECT 1 FROM file f CROSS JOIN batch b ON b.id = f.batch_id WHERE f.id = m.file_id AND b.job = ?3))
    ORDER BY m.file_id LIMIT ?2
    """

  /// The next folder after `folder`, in the order of their bytes, that removals wait for. However many these are, one
  /// shows whether an engine can do something about them.
  /// Those that are delayed are left out, unless the clock was set back since.
  public func nextFolderWait(after folder: NameBytes?, nowMs: Int64) throws -> FolderWait? {
    let next = try db.first(Self.nextFolder, .name(folder ?? NameBytes(""))) { $0.name(0) }
    guard let next else { return nil }
    return FolderWait(
      folder: next,
      due: try firstDue { last in
        try db.rows(
          Self.removalsOfFolder, .name(next), .int(last), .int(Self.atOnce), .integer(nowMs),
          .integer(nowMs + Self.longestRemovalDelayMs)
        ) { $0.id(0) }
      })
  }

  static let nextFolder: StaticString =
    "SELECT waits_for FROM removal WHERE waits_for > ? ORDER BY waits_for LIMIT 1"
  static let removalsOfFolder: StaticString = """
    SELECT file_id FROM removal
    WHERE waits_for = ?1 AND file_id > ?2 AND (due_at IS NULL OR due_at <= ?4 OR due_at > ?5) ORDER BY file_id LIMIT ?3
    """

  private func firstDue(_ page: (_ after: Int64) throws -> [FileID]) throws -> DueRemoval? {
    var last: Int64 = 0
    while true {
      let files = try page(last)
      for file in files {
        if let due = try db.dueRemoval(file) { return due }
      }
      guard let final = files.last else { return nil }
      last = final.rawValue
    }
  }

  /// The lowest and the highest number of a file whose removal waits for a destination; nil if none does.
  public func filesAwaitingDestination() throws -> ClosedRange<Int64>? {
    try db.first(
      """
      SELECT (SELECT min(file_id) FROM removal WHERE waits_for = x''),
        (SELECT max(file_id) FROM removal WHERE waits_for = x'')
      """
    ) { row in
      row.int64OrNil(0).flatMap { least in row.int64OrNil(1).map { least...$0 } }
    } ?? nil
  }

  /// Sources whose removal was put off until a destination has the file: `limit` of the files after `after` up to
  /// `last`, without those that an engine would not look at, because another file needs the source.
  public func sourcesAwaitingDestination(after: Int64, through last: Int64, limit: Int) throws -> [AwaitingSource] {
    try db.rows(Self.awaitingDestination, .integer(after), .integer(last), .int(limit)) { row in
      AwaitingSource(file: row.id(0), batch: row.id(1), path: row.name(2), root: row.intOrNil(3))
    }
  }

  static let awaitingDestination: StaticString = """
    SELECT m.file_id, f.batch_id, f.path, f.root
    FROM (SELECT file_id FROM removal WHERE waits_for = x'' AND file_id > ?1 AND file_id <= ?2 ORDER BY file_id LIMIT ?3) m
      CROSS JOIN file f ON f.id = m.file_id
    WHERE NOT EXISTS (SELECT 1 FROM file o WHERE o.path = f.path AND o.finished_at IS NULL AND o.is_download IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.path = f.path AND o.state = 'failed' AND o.is_download IS NULL AND o.hidden IS NULL)
    ORDER BY m.file_id
    """
}
