public import TransferModel

/// Downloads that no longer need a server: they are completely fetched, and only have to be placed.
public struct FetchedFiles: Sendable {
  public var batches: Set<BatchID>
  /// Files of these batches that need a server nevertheless.
  public var except: Set<FileID>

  public init(of batches: Set<BatchID> = [], except: Set<FileID> = []) {
    (self.batches, self.except) = (batches, except)
  }
}

extension LedgerReader {
  /// Whether any of them is ready.
  public func hasFetchedFiles(_ wanted: FetchedFiles) throws -> Bool { try !db.fetchedFiles(wanted, limit: 1).isEmpty }
}

extension Connection {
  /// Those that are ready. The cost grows with the number of files of these batches that are not active and hold bytes.
  func fetchedFiles(_ wanted: FetchedFiles, limit: Int) throws(SQLiteError) -> [FileID] {
    var found: [FileID] = []
    for batch in wanted.batches.sorted() where found.count < limit {
      let files = try rows(Self.fetchedOfBatch, .id(batch), .int(limit + wanted.except.count)) {
        $0.id(0, FileID.self)
      }
      found += files.filter { !wanted.except.contains($0) }.prefix(limit - found.count)
    }
    return found
  }

  static let fetchedOfBatch: StaticString = """
    SELECT id FROM file
    WHERE batch_id = ?1 AND state = 'pending' AND state <> 'done' AND holds IS NOT NULL AND run_id IS NULL
      AND not_before IS NULL AND is_download IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = file.id AND c.state <> 'done')
      AND (SELECT count(*) FROM chunk c WHERE c.file_id = file.id AND c.state = 'done') = chunk_count
    LIMIT ?2
    """
}
