import TransferModel

extension LedgerReader {
  /// The removal of the source of a file that was revoked after an attempt had begun it whose end is not known; nil for
  /// any other.
  package func revokedRemoval(of file: FileID) throws -> DueRemoval? {
    try db.first(Self.revokedRemoval, .id(file)) { row throws(SQLiteError) in
      var due = DueRemoval(
        file: file, batch: row.id(0), path: row.name(1), identity: row.identity(from: 2), isBegun: true,
        confirmation: try row.named(8), isByHand: false, isLost: false)
      due.root = row.intOrNil(9)
      return due
    }
  }

  static let revokedRemoval: StaticString = """
    SELECT f.batch_id, f.path, f.size, f.mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), f.inode,
      coalesce(s.device, f.device), coalesce(s.boot, f.boot), r.confirmation, f.root
    FROM removal m CROSS JOIN file f ON f.id = m.file_id CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      LEFT JOIN sighting s ON s.file_id = f.id
    WHERE m.file_id = ? AND m.state = 'skipped' AND m.cause = 'policy.cancelled' AND m.attempts >= 1
    """
}
