extension LedgerReader {
  /// Not an SQL statement: SQL cannot read the lists in a sum.
  public static let attemptSumRule = "I38 sums of attempts match the attempts"

  /// Blocks whose sums do not match their attempts.
  func damagedAttemptSums() throws -> [String] {
    try summedBlocks().filter { block in
      let written = try db.rows(
        """
        SELECT batch_id, block, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at, last_at, errors,
          latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff FROM attempt_sum WHERE block = ? ORDER BY batch_id
        """, .integer(block), row: AttemptSumRow.init)
      return try written != attemptSumRows(of: block)
    }.map { "attempts \(SumBlock.first($0)) to \(SumBlock.last($0))" }
  }
}
