public import TransferModel

extension LedgerReader {
  /// Chunks of the files that the filter selects, ordered by number, starting after `after`.
  public func chunks(_ filter: RowFilter, after: Int64, limit: Int) throws -> [ChunkRow] {
    try db.rows(
      """
      SELECT c.id, c.file_id, c.seq, c.offset, c.length, c.state, c.attempts, c.digest, c.reused
      FROM v_chunks c JOIN file f ON f.id = c.file_id
      WHERE c.id > ?1
        AND {chunks}
      ORDER BY c.id LIMIT ?2
      """, filter, .integer(after),
      .int(limit), row: Self.chunk)
  }

  public func chunk(_ id: ChunkID) throws -> ChunkRow? {
    try db.first(
      "SELECT c.id, c.file_id, c.seq, c.offset, c.length, c.state, c.attempts, c.digest, c.reused FROM v_chunks c WHERE c.id = ?1",
      .id(id), row: Self.chunk)
  }

  /// The chunks of one file in byte order.
  public func chunks(of file: FileID, limit: Int) throws -> [ChunkRow] {
    try db.rows(
      """
      SELECT c.id, c.file_id, c.seq, c.offset, c.length, c.state, c.attempts, c.digest, c.reused
      FROM v_chunks c WHERE c.file_id = ?1 ORDER BY c.seq LIMIT ?2
      """, .id(file), .int(limit), row: Self.chunk)
  }

  private static func chunk(_ row: SQLRow) -> ChunkRow {
    ChunkRow(
      id: row.id(0), file: row.id(1), seq: row.int64(2), offset: row.int64(3), length: row.int64(4),
      state: row.text(5), attempts: row.int64(6), digest: row.textOrNil(7), isReused: row.flag(8))
  }
}
