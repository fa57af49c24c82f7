public import TransferModel

/// Files of batches with `dedupe`.
extension LedgerTransaction {
  /// Records the content of a file that this transaction has completed.
  func recordContent(_ file: FileID, _ digest: Digest) throws {
    try db.run("INSERT INTO content (file_id, digest) VALUES (?, ?)", .id(file), .digest(digest))
  }

  /// active → superseded: another file has delivered the same content. `.lost` if ``isDelivered(_:by:)`` does not hold.
  /// No attempt may be open.
  public func endDuplicate(_ file: FileID, _ run: RunID, of other: DeliveredFile) throws -> TransitionResult {
    guard try isDelivered(file, by: other) else { return .lost(to: nil) }
    let result = try endSuperseded(file, run, .policyDuplicate, other.reason, event: "duplicate")
    guard result.isApplied else { return result }
    try db.run(
      "INSERT INTO content (file_id, digest, same_as) VALUES (?, ?, ?)", .id(file), .digest(other.digest),
      .id(other.id))
    return .applied
  }

  /// Records a new generation, in its own batch, of each duplicate of a file whose object is about to be replaced, so
  /// that its content is sent. Skips those that a person removed or that have a newer generation.
  func sendDuplicates(of original: FileID) throws -> [(file: FileID, batch: BatchID)] {
    let duplicates = try db.rows(Self.duplicatesQuery, .id(original)) { row in
      (
        id: row.id(0, FileID.self), batch: row.id(1, BatchID.self),
        file: NewFile(
          path: row.name(2), key: row.name(3), identity: row.identity(from: 6),
          mode: UInt32(truncatingIfNeeded: row.int64(4)), properties: storedProperties(row.textOrNil(5)),
          isCompared: row.flag(12), root: row.intOrNil(13))
      )
    }
    return try duplicates.map { old in
      let home = try home(of: old.batch)
      let generation = try nextGeneration(home.destination, old.file.key)
      let next = try insertNext(old.file, home, old.batch, generation: generation, notBeforeMs: nil)
      let reason = "\(original), which delivered its content, is being replaced; \(next) follows"
      try recordEvent("superseded", batch: old.batch, file: old.id, detail: reason)
      return (next, old.batch)
    }
  }

  static let duplicatesQuery: StaticString = """
    SELECT f.id, f.batch_id, f.path, f.key, f.mode, f.properties, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.device, f.boot,
      f.expected IS NOT NULL, f.root
    FROM content c CROSS JOIN file f ON f.id = c.file_id
    WHERE c.same_as = ?1 AND f.hidden IS NOT 1
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live = 1 AND n.generation > f.generation)
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live IS NULL AND n.generation > f.generation)
    """

  /// Whether the other file has delivered the content and is still the current generation of its key, and nothing of
  /// this file can have arrived.
  public func isDelivered(_ file: FileID, by other: DeliveredFile) throws -> Bool {
    let holds = try db.first(
      "SELECT 1 FROM chunk WHERE file_id = ? AND (state = 'done' OR acked > 0 OR uncertain = 1) LIMIT 1", .id(file)
    ) { _ in true }
    guard holds == nil else { return false }
    return try LedgerReader(db: db).delivered(other.digest, like: file).contains { $0.id == other.id }
  }
}
