import TransferModel

extension LedgerReader {
  /// When the attempts or the row of a file were deleted; nil if they were not.
  package func pruned(_ file: FileID) throws -> PrunedRow? {
    let atMs = try prunedMs("history", file.rawValue) ?? prunedMs("file", file.rawValue)
    return atMs.map { PrunedRow(id: file.description, atMs: $0) }
  }

  /// The first deleted row that the filter names, and when it was deleted; nil if there is none.
  package func firstPruned(_ filter: RowFilter) throws -> PrunedRow? {
    let named = [
      ("file", filter.files, FileID.letter), ("chunk", filter.chunks, ChunkID.letter),
      ("attempt", filter.attempts, AttemptID.letter), ("session", filter.sessions, SessionID.letter),
    ]
    for (kind, ranges, letter) in named {
      for range in ranges {
        let id = range.lowerBound
        if let atMs = try prunedMs(kind, id) { return PrunedRow(id: "\(letter)\(id)", atMs: atMs) }
      }
    }
    return nil
  }

  private func prunedMs(_ kind: String, _ id: Int64) throws -> Int64? {
    let found = try db.first(
      """
      SELECT r.last_id, p.at FROM pruned_range r CROSS JOIN prune p ON p.id = r.prune_id
      WHERE r.kind = ?1 AND r.first_id <= ?2 ORDER BY r.first_id DESC LIMIT 1
      """, .text(kind), .integer(id)
    ) { (lastID: $0.int64(0), atMs: $0.int64(1)) }
    return found.flatMap { $0.lastID >= id ? $0.atMs : nil }
  }
}
