public import TransferModel

/// Chunks of downloads that are not fetched because a local file has their bytes.
extension LedgerTransaction {
  /// pending → done for a chunk of a download: what was not fetched of it was in a local file, and is in its place on
  /// the disk. No request fetched that; the request that opened the session identified the server's version. `.lost`
  /// for any other chunk; throws `.leaseLost` if the file does not belong to this run.
  package func reuseChunk(_ file: FileID, _ run: RunID, _ part: PartReceipt) throws -> TransitionResult {
    try requireWork(file, run)
    let changes = try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?1, digest = ?2, confirmation = ?3, failures = 0, uncertain = 0,
        reused = length - acked, acked = 0,
        done_attempt = (SELECT max(id) FROM attempt WHERE file_id = ?4 AND operation = 'create' AND outcome = 'ok')
      WHERE file_id = ?4 AND seq = ?5 AND state = 'pending'
      """, .text(part.etag), .digest(part.digest), .raw(part.confirmation), .id(file), .int(part.seq))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }

  /// Stores which ranges of a pending chunk of a download are still to be fetched: a local file had the others, and
  /// they are in their place on the disk. `.lost` for any other chunk, and if such ranges are stored already.
  public func noteMissing(
    _ file: FileID, _ run: RunID, seq: Int, remote: [String: String]
  ) throws -> TransitionResult {
    try requireWork(file, run)
    let changes = try db.run(
      """
      UPDATE chunk SET remote = ?1
      WHERE file_id = ?2 AND seq = ?3 AND state = 'pending' AND remote IS NULL
        AND EXISTS (SELECT 1 FROM file WHERE id = ?2 AND is_download = 1)
      """, try json(remote), .id(file), .int(seq))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }

  /// finishing: the local file of a download has its final name, and these times. They show a later fetch of the same
  /// URL that the file was not written since.
  package func notePlaced(_ file: FileID, _ run: RunID, _ identity: SourceIdentity) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE OR FAIL file SET mtime_ns = ?, ctime_ns = ?
      WHERE id = ? AND run_id = ? AND state = 'finishing' AND is_download = 1
      """, .int(identity.mtimeNs), .int(identity.ctimeNs), .id(file), .id(run))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }
}

extension LedgerReader {
  /// The pending chunks of `file` of which parts may be taken from a local file; in order.
  package func incompleteChunks(of file: FileID) throws -> [IncompleteChunk] {
    try db.rows(
      """
      SELECT seq, offset, length, acked FROM chunk
      WHERE file_id = ?1 AND state = 'pending' AND remote IS NULL ORDER BY seq
      """, .id(file)
    ) { row in
      IncompleteChunk(
        seq: row.int(0), range: ByteRange(offset: row.int64(1), length: row.int64(2)), acked: row.int64(3))
    }
  }

  /// Chunks of `file` of which nothing is stored, and which `past` has with the same range; in order.
  package func reusableChunks(of file: FileID, from past: FileID) throws -> [PastChunk] {
    let found = try db.rows(
      """
      SELECT c.seq, c.offset, c.length, p.digest
      FROM chunk c CROSS JOIN chunk p ON p.file_id = ?2 AND p.seq = c.seq
      WHERE c.file_id = ?1 AND c.state = 'pending' AND c.acked = 0
        AND p.state = 'done' AND p.digest IS NOT NULL AND p.offset = c.offset AND p.length = c.length
      ORDER BY c.seq
      """, .id(file), .id(past)
    ) { row in
      row.digest(3).map {
        PastChunk(seq: row.int(0), range: ByteRange(offset: row.int64(1), length: row.int64(2)), digest: $0)
      }
    }
    return found.compactMap(\.self)
  }
}
