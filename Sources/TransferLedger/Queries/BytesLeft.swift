extension LedgerReader {
  /// Bytes of all files that an engine still has to bring to an end. Reads each of their rows: once a run, not in a loop.
  public func bytesLeft() throws -> Int64 {
    try db.first(
      """
      SELECT coalesce((SELECT sum(size) FROM file WHERE state = 'pending' AND not_before IS NULL), 0)
        + coalesce((SELECT sum(size) FROM file WHERE state = 'pending' AND not_before IS NOT NULL), 0)
        + coalesce((SELECT sum(size) FROM file WHERE state IN ('active', 'finishing')), 0)
      """
    ) { $0.int64(0) } ?? 0
  }
}
