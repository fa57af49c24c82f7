import TransferModel

/// The mark in a copy of a ledger: that it is a copy, and which files its original may have sent since.
enum CopyMark {
  /// Gives the copy its own uid and marks every file as doubtful that may be sent without a person deciding so: those
  /// that are not at rest, and failed ones, which a push retries; and those whose source is to be removed. The
  /// connection must be the only one.
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
      WHERE (state IN ('settling', 'pending', 'paused', 'active', 'finishing', 'failed')
          OR state = 'done' AND id IN (SELECT file_id FROM removal WHERE state = 'pending'))
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
    WHERE f.state IN ('settling', 'pending', 'paused', 'active', 'finishing') AND d.is_decided IS NULL
    """
}

extension LedgerTransaction {
  /// Which of `files` are in doubt: marked when this copy of a ledger was made, and not decided since. Costs nothing
  /// if the ledger is not a copy.
  func doubtful(_ files: [FileID]) throws -> Set<FileID> {
    guard try db.first("SELECT 1 FROM doubt LIMIT 1", row: { _ in true }) != nil else { return [] }
    let query: StaticString = "SELECT 1 FROM doubt WHERE file_id = ? AND is_decided IS NULL"
    return Set(try files.filter { try db.first(query, .id($0), row: { _ in true }) != nil })
  }

  /// Nobody has to decide any more whether this copy sends the file.
  func decideDoubt(of file: FileID) throws {
    try db.run("UPDATE doubt SET is_decided = 1 WHERE file_id = ? AND is_decided IS NULL", .id(file))
  }

  /// Ends all doubts: a person says that the original was not used since. Returns how many files were in doubt. The
  /// removals of sources that were left to the original are looked at again.
  public func trustCopy(_ run: RunID) throws -> Int {
    try requireLease(run)
    let counts = try db.first("SELECT count(*), coalesce(sum(is_decided IS NULL), 0) FROM doubt") {
      (all: $0.int(0), open: $0.int(1))
    }
    guard let counts, counts.all > 0 else { return 0 }
    try recordEvent("recovered", batch: nil, file: nil, detail: "the copy is trusted: \(counts.open) files will resume")
    try db.run("UPDATE removal SET waits_for = NULL WHERE waits_for = x'' AND file_id IN (SELECT file_id FROM doubt)")
    try db.run("DELETE FROM doubt")
    return counts.open
  }
}
