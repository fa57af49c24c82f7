import TransferModel

extension LedgerReader {
  /// The chunks of one file in byte order, at most `limit`, read through the index on (file, seq).
  package func chunkMap(of file: FileID, limit: Int) throws -> [ChunkMapRow] {
    try db.rows(
      """
      SELECT c.id, c.seq, c.offset, c.length, c.state, iif(c.state = 'done', c.length, c.acked),
        (SELECT count(*) FROM attempt p WHERE p.file_id = c.file_id AND p.operation = 'part' AND p.chunk_id = c.id),
        (SELECT min(p.started_at) FROM attempt p
          WHERE p.file_id = c.file_id AND p.operation = 'part' AND p.chunk_id = c.id),
        a.ended_at, a.http_status, c.digest, c.etag, c.losses, c.reused IS NOT NULL
      FROM chunk c LEFT JOIN attempt a ON a.id = c.done_attempt WHERE c.file_id = ?1 ORDER BY c.seq LIMIT ?2
      """, .id(file), .int(limit)
    ) { row in
      ChunkMapRow(
        id: row.id(0), seq: row.int64(1), offset: row.int64(2), length: row.int64(3), state: row.text(4),
        bytesAcked: row.int64(5), attempts: row.int64(6), firstMs: row.int64OrNil(7), ackedMs: row.int64OrNil(8),
        httpStatus: row.int64OrNil(9), digest: row.textOrNil(10), etag: row.textOrNil(11), losses: row.int64(12),
        isReused: row.flag(13))
    }
  }
}
