import TransferModel

/// Changes of all chunks of a file when the file changes, and reads of them.
extension LedgerTransaction {
  func endChunks(of file: FileID) throws {
    try db.run(
      "UPDATE chunk SET state = 'failed', not_before = NULL WHERE file_id = ? AND state IN ('pending', 'waiting')",
      .id(file))
  }

  /// waiting → pending: chunks in backoff are sent at once when their file resumes, and are not due until then.
  func wakeChunksOfChosen() throws {
    try db.run(
      """
      UPDATE chunk SET state = 'pending', not_before = NULL
      WHERE file_id IN (SELECT id FROM temp.chosen) AND state = 'waiting'
      """)
  }

  /// failed, unknown, waiting → pending; done → pending too with `startsOver`, or if the file has sessions and none is
  /// live: chunks stored in a session that has ended are no longer on the server.
  func reviveChunksOfChosen(startsOver: Bool) throws {
    try db.run(
      """
      UPDATE chunk SET state = 'pending', failures = 0, not_before = NULL
      WHERE file_id IN (SELECT id FROM temp.chosen) AND state IN ('failed', 'unknown', 'waiting')
      """)
    try db.run(
      """
      UPDATE chunk SET state = 'pending', failures = 0, losses = losses + (state = 'done'), etag = NULL, digest = NULL,
        md5 = NULL, confirmation = NULL, done_attempt = NULL, acked = 0, remote = NULL, uncertain = 0, reused = NULL
      WHERE file_id IN (SELECT id FROM temp.chosen) AND (state = 'done' OR acked > 0 OR remote IS NOT NULL OR uncertain)
        AND (?1 OR (EXISTS (SELECT 1 FROM session s WHERE s.file_id = chunk.file_id)
          AND NOT EXISTS (SELECT 1 FROM session s
            WHERE s.file_id = chunk.file_id AND s.state = 'open' AND s.abort_after IS NULL)))
      """, .flag(startsOver))
  }

  /// The stored chunks of a file, in order.
  package func parts(of file: FileID) throws -> [PartReceipt] {
    try db.rows(
      """
      SELECT seq, length, etag, digest, md5, confirmation, remote FROM chunk WHERE file_id = ? AND state = 'done' ORDER BY seq
      """, .id(file)
    ) { row throws(SQLiteError) in
      PartReceipt(
        seq: row.int(0), length: row.int64(1), etag: row.text(2), digest: row.digest(3), md5: row.digest(4),
        confirmation: try row.named(5), remote: values(row.textOrNil(6)))
    }
  }

  /// Chunks of a file that are not known to be stored and have notes (`remote`); in order.
  package func doubts(of file: FileID) throws -> [ChunkDoubt] {
    try db.rows(
      """
      SELECT seq, length, remote, state = 'waiting' OR failures > 0 FROM chunk
      WHERE file_id = ? AND state IN ('pending', 'waiting') AND remote IS NOT NULL ORDER BY seq
      """, .id(file)
    ) { row in
      ChunkDoubt(
        seq: row.int(0), length: row.int64(1), remote: values(row.textOrNil(2)), isBackingOff: row.flag(3))
    }
  }
}
