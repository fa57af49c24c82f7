public import TransferModel

/// Credits the bytes that a query found on the server to the attempts that sent them.
extension LedgerTransaction {
  /// Counts `bytes` more of a chunk, which the query `asker` found, as acknowledged bytes of the attempts that sent
  /// them: the newest first, because the bytes of an older one were queried before. What an attempt of a crashed engine
  /// sent was not recorded; it sent at least what was found. Bytes that none of our attempts sent are not credited.
  func creditSenders(of chunk: ChunkID, _ bytes: Int64, asker: AttemptID) throws {
    var left = bytes
    guard left > 0 else { return }
    let senders = try db.rows(Self.senders, .id(chunk), .id(asker)) { row in
      (
        attempt: row.id(0, AttemptID.self), isCutOff: row.flag(1), isOfRun: row.flag(2),
        counts: SentCounts(transferred: row.int64(3), acked: row.int64(4))
      )
    }
    for sender in senders where left > 0 {
      let found = sender.isCutOff ? left : min(left, sender.counts.transferred - sender.counts.acked)
      try db.run(Self.credit, .int(found), .id(sender.attempt))
      logs(credited: sender.attempt, before: sender.counts)
      left -= found
      if sender.isOfRun { notes.credited += found }
    }
  }

  /// Credits what a query found below `offset`, except what its own answer acknowledged of its own body.
  func creditSenders(of file: FileID, through offset: Int64, asker: AttemptID) throws {
    var own = try db.first("SELECT bytes_acked FROM attempt WHERE id = ?", .id(asker)) { $0.int64(0) } ?? 0
    let found = try db.rows(Self.foundBytes, .id(file), .int(offset)) { ($0.id(0, ChunkID.self), $0.int64(1)) }
    for (chunk, bytes) in found {
      let ownHere = min(own, bytes)
      own -= ownHere
      try creditSenders(of: chunk, bytes - ownHere, asker: asker)
    }
  }

  static let foundBytes: StaticString = """
    SELECT id, iif(offset + length < ?2, length, ?2 - offset) - acked FROM chunk
    WHERE file_id = ?1 AND state <> 'done' AND offset + acked < ?2 ORDER BY seq
    """

  /// Bytes that were credited to attempts of the querying run since the last call in this transaction.
  public func takeCredited() -> Int64 {
    defer { notes.credited = 0 }
    return notes.credited
  }

  /// Bytes of a file that were acknowledged for attempts of this run.
  public func bytesAcked(of file: FileID, by run: RunID) throws -> Int64 {
    try db.first(
      "SELECT coalesce(sum(bytes_acked), 0) FROM attempt WHERE file_id = ? AND operation IN ('part', 'create') AND run_id = ?",
      .id(file), .id(run)
    ) { $0.int64(0) } ?? 0
  }

  /// At least as many attempts as can lose their answers between two queries.
  static let senders: StaticString = """
    SELECT a.id, a.outcome = 'crashed', a.run_id = q.run_id, a.bytes_transferred, a.bytes_acked
    FROM attempt q CROSS JOIN attempt a ON a.file_id = q.file_id AND a.operation = 'part' AND a.chunk_id = ?1
    WHERE q.id = ?2 AND a.id < q.id AND +a.outcome <> 'open' AND +a.outcome <> 'ok'
      AND (a.bytes_transferred > a.bytes_acked OR +a.outcome = 'crashed')
    ORDER BY a.n DESC LIMIT 32
    """

  static let credit: StaticString = """
    UPDATE attempt SET bytes_acked = bytes_acked + ?1,
      bytes_transferred = iif(bytes_transferred < bytes_acked + ?1, bytes_acked + ?1, bytes_transferred)
    WHERE id = ?2
    """
}
