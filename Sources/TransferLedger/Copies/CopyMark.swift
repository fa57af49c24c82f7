import TransferModel

/// The mark in a copy of a ledger: that it is a copy, and which files its original may have sent since.
enum CopyMark {
  /// Gives the copy its own uid and marks every file as doubtful that may be sent without a person deciding so: those
  /// that are not at rest, and failed ones, which a push retries. The connection must be the only one.
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
      INSERT INTO doubt (file_id, after_event) SELECT id, coalesce((SELECT max(id) FROM event), 0) FROM file
      WHERE state IN ('settling', 'pending', 'paused', 'active', 'finishing', 'failed')
        AND id NOT IN (SELECT file_id FROM doubt)
      """)
  }

  /// Makes the copy a different ledger. `bornNs` is the birth time of the file that it stays in; nil if it may first be
  /// renamed or moved.
  static func rename(_ copy: Connection, wallMs: Int64, bornNs: Int64?) throws {
    try copy.run(
      """
      UPDATE store_meta SET origin_uid = coalesce(origin_uid, uid), uid = ?, copied_at = max(?, coalesce(copied_at, 0) + 1),
        born_ns = ?
      """, .uid(.makeChecked(wallMs: wallMs)), .int(wallMs), .int(bornNs))
  }
}

extension LedgerReader {
  /// How many files of a copy are in doubt and are not at rest now.
  public func doubtfulFiles() throws -> Int {
    try db.first(Self.doubtful) { $0.int(0) } ?? 0
  }

  private static let doubtful: StaticString = """
    SELECT count(*) FROM doubt d CROSS JOIN file f ON f.id = d.file_id
    WHERE f.state IN ('settling', 'pending', 'paused', 'active', 'finishing')
    """
}

extension LedgerTransaction {
  /// Which of `files` are in doubt: marked when this copy of a ledger was made, and not resolved since. Costs nothing
  /// if the ledger is not a copy.
  func doubtful(_ files: [FileID]) throws -> Set<FileID> {
    guard try db.first("SELECT 1 FROM doubt LIMIT 1", row: { _ in true }) != nil else { return [] }
    var found: Set<FileID> = []
    for file in files where try db.first("SELECT 1 FROM doubt WHERE file_id = ?", .id(file), row: { _ in true }) != nil
    {
      found.insert(file)
    }
    return found
  }

  /// Ends all doubts: a person says that the original was not used since. Returns how many files were in doubt.
  public func trustCopy(_ run: RunID) throws -> Int {
    try requireLease(run)
    let count = try db.first("SELECT count(*) FROM doubt") { $0.int(0) } ?? 0
    guard count > 0 else { return 0 }
    try recordEvent("recovered", batch: nil, file: nil, detail: "the copy is trusted: \(count) files will resume")
    return try db.run("DELETE FROM doubt")
  }
}
