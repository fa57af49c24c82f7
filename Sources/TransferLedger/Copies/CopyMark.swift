import TransferModel

/// What a copy of a ledger says of itself: that it is one, and which files its original may have sent since.
enum CopyMark {
  /// Gives the copy a uid of its own and marks every file that may be sent by itself as doubtful: those that are not at
  /// rest, and those that failed, which a push lets go on. The connection must be the only one.
  static func set(_ copy: Connection) throws {
    try copy.execute("BEGIN IMMEDIATE")
    try doubtUnfinished(copy)
    let nowMs =
      try copy.first("SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)") { $0.int64(0) } ?? 0
    try rename(copy, wallMs: nowMs, bornNs: nil)
    try copy.execute("COMMIT")
  }

  static func doubtUnfinished(_ copy: Connection) throws {
    try copy.execute(
      """
      INSERT OR IGNORE INTO doubt SELECT id FROM file
      WHERE state IN ('settling', 'pending', 'paused', 'active', 'finishing', 'failed')
      """)
  }

  /// A copy is another ledger. `bornNs` is the birth of the file that it stays in; nil when it may get another name or
  /// place first.
  static func rename(_ copy: Connection, wallMs: Int64, bornNs: Int64?) throws {
    try copy.run(
      """
      UPDATE store_meta SET origin_uid = coalesce(origin_uid, uid), uid = ?, copied_at = max(?, coalesce(copied_at, 0) + 1),
        born_ns = ?
      """, .uid(.make(wallMs: wallMs)), .int(wallMs), .int(bornNs))
  }
}

extension LedgerReader {
  /// How many files of a copy were not at rest when it was made, and are not now.
  public func doubtfulFiles() throws -> Int {
    try db.first(Self.doubtful) { $0.int(0) } ?? 0
  }

  private static let doubtful: StaticString = """
    SELECT count(*) FROM doubt d CROSS JOIN file f ON f.id = d.file_id
    WHERE f.state IN ('settling', 'pending', 'paused', 'active', 'finishing')
    """
}

extension LedgerTransaction {
  /// Which of `files` were not at rest when this copy of a ledger was made, and have not been looked at since. Costs
  /// nothing where the ledger is not a copy.
  func doubtful(_ files: [FileID]) throws -> Set<FileID> {
    guard try db.first("SELECT 1 FROM doubt LIMIT 1", row: { _ in true }) != nil else { return [] }
    var found: Set<FileID> = []
    for file in files where try db.first("SELECT 1 FROM doubt WHERE file_id = ?", .id(file), row: { _ in true }) != nil
    {
      found.insert(file)
    }
    return found
  }

  /// Nothing is in doubt any more: a person says that nobody worked with the original since. Returns how many files
  /// were.
  public func trustCopy(_ run: RunID) throws -> Int {
    try requireLease(run)
    let count = try db.run("DELETE FROM doubt")
    if count > 0 {
      try recordEvent("recovered", batch: nil, file: nil, detail: "the copy is trusted: \(count) files go on")
    }
    return count
  }
}
