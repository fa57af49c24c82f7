import TransferModel

/// The layout of a file: how it is divided into chunks.
extension LedgerTransaction {
  /// Stores the layout of the file and its chunks, all pending. Once in the life of a generation: `.lost` if it has a
  /// layout already.
  package func plan(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> TransitionResult {
    try planChunks(file, run, layout) == nil ? .lost(to: try stateOf(file, run)) : .applied
  }

  /// ``plan(_:_:_:)`` and ``beginChunks(_:_:limit:isRepeatable:)`` for a file without a session, without reading back
  /// the rows just written. nil if it has a layout already, or does not belong to this run.
  package func planAndBegin(
    _ file: FileID, _ run: RunID, _ layout: ChunkLayout, limit: Int, isRepeatable: Bool, opening: ChunkOpening = .none
  ) throws -> [ClaimedChunk]? {
    guard let chunks = try planChunks(file, run, layout) else { return nil }
    return try begin(
      Array(chunks.prefix(limit)), of: file, run, session: nil, isRepeatable: isRepeatable, opening: opening)
  }

  private func planChunks(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> [PendingChunk]? {
    let changes = try db.run(
      """
      UPDATE OR FAIL file SET chunk_size = ?, chunk_count = ?
      WHERE id = ? AND state = 'active' AND run_id = ? AND chunk_count IS NULL
      """, .int(layout.chunkSize), .int(layout.count), .id(file), .id(run))
    guard changes == 1 else { return nil }
    return try (0..<layout.count).map { try addChunk(file, layout, $0) }
  }

  /// Divides a file again, into shorter chunks, if nothing of it is stored and it has no live session; otherwise
  /// `.lost`.
  package func recut(_ file: FileID, _ run: RunID, _ layout: ChunkLayout) throws -> TransitionResult {
    let planned = try db.first("SELECT chunk_count FROM file WHERE id = ?", .id(file)) { $0.int(0) } ?? 0
    // A download may have a session, and stored bytes that are less than the new first chunk.
    let changes = try db.run(
      """
      UPDATE file SET first_chunk_size = coalesce(first_chunk_size, chunk_size), chunk_size = ?1, chunk_count = ?2
      WHERE id = ?3 AND state = 'active' AND run_id = ?4 AND chunk_size > ?1 AND chunk_count < ?2
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?3 AND (state <> 'pending'
          OR acked > 0 AND (file.is_download IS NULL OR seq > 0 OR acked >= ?1)))
        AND (is_download = 1 OR NOT EXISTS (SELECT 1 FROM session
          WHERE file_id = ?3 AND state IN ('intended', 'open') AND abort_after IS NULL))
      """, .int(layout.chunkSize), .int(layout.count), .id(file), .id(run))
    guard changes == 1 else { return .lost(to: try stateOf(file, run)) }
    for seq in 0..<planned {
      let range = layout.range(seq)
      try db.run(
        "UPDATE chunk SET offset = ?, length = ?, failures = 0 WHERE file_id = ? AND seq = ?", .int(range.offset),
        .int(range.length), .id(file), .int(seq))
    }
    for seq in planned..<layout.count { _ = try addChunk(file, layout, seq) }
    return .applied
  }

  private func addChunk(_ file: FileID, _ layout: ChunkLayout, _ seq: Int) throws -> PendingChunk {
    let range = layout.range(seq)
    let id = try db.insert(
      "INSERT OR FAIL INTO chunk (file_id, seq, offset, length, state) VALUES (?, ?, ?, ?, 'pending')", .id(file),
      .int(seq), .int(range.offset), .int(range.length))
    return PendingChunk(id: ChunkID(rawValue: id), facts: ChunkFacts(seq: seq, range: range))
  }
}
