import TransferModel

extension LedgerTransaction {
  /// failed, cancelled, unknown → pending, and their failed and unknown chunks with them; returns how many files. Passed
  /// over: rows that never had a source (``admitFailed(path:key:code:message:to:)``) and those with a newer generation,
  /// which must both be pushed again.
  public func retryFiles(_ selection: FileSelection, resetsFailures: Bool) throws -> Int {
    try db.execute("CREATE TEMP TABLE IF NOT EXISTS retried (id INTEGER PRIMARY KEY); DELETE FROM temp.retried")
    try select(selection)
    let count = try db.run(
      """
      UPDATE file SET state = 'pending', live = 1, cause = NULL, message = NULL, finished_at = NULL, not_before = NULL,
        failures = iif(?, 0, failures) WHERE id IN (SELECT id FROM temp.retried)
      """, .flag(resetsFailures))
    try db.run(
      """
      UPDATE chunk SET state = 'pending', failures = iif(?, 0, failures)
      WHERE file_id IN (SELECT id FROM temp.retried) AND state IN ('failed', 'unknown')
      """, .flag(resetsFailures))
    try db.run(
      """
      INSERT INTO event (at, verb, batch_id, file_id, detail)
      SELECT ?, 'retried', f.batch_id, f.id, '' FROM temp.retried r JOIN file f ON f.id = r.id
      """, .int(wallMs))
    return count
  }

  /// Lists of ids and states go in as JSON: one bound value each, so that the statement stays the same.
  private func select(_ s: FileSelection) throws {
    try db.run(
      """
      INSERT INTO temp.retried SELECT id FROM file f
      WHERE f.state IN ('failed', 'cancelled', 'unknown') AND f.size IS NOT NULL
        AND (?1 IS NULL OR f.id IN (SELECT value FROM json_each(?1)))
        AND (?2 IS NULL OR f.batch_id IN (SELECT value FROM json_each(?2)))
        AND (?3 IS NULL OR f.state IN (SELECT value FROM json_each(?3)))
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
          AND g.live = 1 AND g.id <> f.id)
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
          AND g.live IS NULL AND g.generation > f.generation)
      """, .string(try s.files.map { try jsonText($0.map(\.rawValue)) }),
      .string(try s.batches.map { try jsonText($0.map(\.rawValue)) }),
      .string(try s.states.map { try jsonText($0.map(\.rawValue)) }))
  }
}
