public import TransferModel

extension LedgerReader {
  /// The runs that continued the file, each with the time of its first request and the bytes that earlier runs had
  /// stored in the same session; in order. What a local file had does not count. Reads the attempts of the file.
  public func resumptions(of file: FileID) throws -> [(run: RunID, atMs: Int64, storedBytes: Int64)] {
    var found: [(run: RunID, atMs: Int64, storedBytes: Int64)] = []
    var last: (run: RunID, session: Int64?)?
    var stored: Int64 = 0
    _ = try db.rows(
      """
      SELECT run_id, session_id, started_at, bytes_acked FROM attempt
      WHERE file_id = ?1 AND operation IN ('create', 'part') ORDER BY id
      """, .id(file)
    ) { row in
      let (run, session): (RunID, Int64?) = (row.id(0), row.int64OrNil(1))
      if let last, last.session != session { stored = 0 }
      if let last, last.run != run, stored > 0 { found.append((run, row.int64(2), stored)) }
      last = (run, session)
      stored +|= row.int64(3)
    }
    return found
  }
}
