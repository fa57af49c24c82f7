package import TransferModel

/// A file that waits for a time, in the order in which such files are examined.
package struct WaitingFile: Sendable, Hashable {
  package var batch: BatchID
  package var file: FileID
}

extension LedgerTransaction {
  /// The longest possible wait in milliseconds, except for files that wait for the next run: `Retry-After` with its
  /// jitter, the circuit breaker and every backoff are shorter.
  static let longestWaitMs = 2 * RetryAfter.longestMs

  /// Makes files and chunks due now that are due later than the longest possible wait: the clock was moved after the
  /// time was set. Applies to files and chunks that no engine has; the cost grows with the number found. Writes one
  /// event if it found any.
  func endFarWaits() throws {
    let latest = wallMs + Self.longestWaitMs
    try db.run(Self.endWaitsForThisRun, .int(wallMs))
    let files = try db.run(Self.endFarWaitsOfFiles, .int(latest))
    let chunks = try db.run(Self.endFarWaitsOfChunks, .int(latest))
    guard files + chunks > 0 else { return }
    try recordEvent(
      "clock", batch: nil, file: nil,
      detail:
        "\(files) files, \(chunks) chunks were due later than the longest wait: the clock was moved, they are due now"
    )
  }

  /// Makes files and chunks due earlier if the clock is behind that of the previous run, by the difference: it was
  /// corrected, or the ledger continues on a host with another clock. Writes one event if it found any.
  func shiftWaits(atStartOf run: RunID) throws {
    let previousMs = try db.first(
      """
      SELECT max(heartbeat_at, started_at, coalesce(ended_at, 0)) FROM engine_run WHERE id < ? ORDER BY id DESC LIMIT 1
      """, .id(run)
    ) { $0.int64(0) }
    guard let aheadMs = previousMs.map({ $0 - wallMs }), aheadMs > 0 else { return }
    let files = try db.run(Self.shiftWaitsOfFiles, .int(aheadMs), .int(wallMs))
    let chunks = try db.run(Self.shiftWaitsOfChunks, .int(aheadMs), .int(wallMs))
    guard files + chunks > 0 else { return }
    try recordEvent(
      "clock", batch: nil, file: nil,
      detail: "the clock is \(aheadMs) ms behind that of the previous run: "
        + "\(files) files, \(chunks) chunks are due that much earlier")
  }

  /// The machine slept: of `limit` waiting files behind `last`, those that back off after a failure of the network are
  /// due now; with nil of the first ones, and all such chunks. Each waiting file is examined once, however many there
  /// are.
  /// - Returns: the last file that was examined; nil if no further one waits.
  package func endNetworkWaits(_ run: RunID, after last: WaitingFile?, limit: Int) throws -> WaitingFile? {
    try requireLease(run)
    if last == nil { try db.run(Self.endNetworkWaitsOfChunks, .int(wallMs)) }
    let (batch, file) = (last?.batch.rawValue ?? 0, last?.file.rawValue ?? 0)
    var found = try db.rows(
      Self.waitingOfBatch, .int(wallMs), .integer(batch), .integer(file), .int(limit), row: Self.waiting)
    if found.count < limit {
      found += try db.rows(
        Self.waitingOfLaterBatches, .int(wallMs), .integer(batch), .int(limit - found.count), row: Self.waiting)
    }
    for one in found where one.isOfNetwork { try db.run(Self.endWait, .id(one.file.file)) }
    return found.count < limit ? nil : found.last?.file
  }

  private static func waiting(_ row: SQLRow) -> (file: WaitingFile, isOfNetwork: Bool) {
    (WaitingFile(batch: row.id(0), file: row.id(1)), row.flag(2))
  }

  // Each reads the index in its own order, so that a page begins where the last one ended.
  static let waitingOfBatch: StaticString = """
    SELECT batch_id, id,
      (SELECT error_code FROM attempt WHERE file_id = file.id ORDER BY id DESC LIMIT 1) GLOB 'net.*'
    FROM file INDEXED BY file_backing_off
    WHERE state = 'pending' AND not_before IS NOT NULL AND not_before > ?1 AND batch_id = ?2 AND id > ?3
    ORDER BY id LIMIT ?4
    """
  static let waitingOfLaterBatches: StaticString = """
    SELECT batch_id, id,
      (SELECT error_code FROM attempt WHERE file_id = file.id ORDER BY id DESC LIMIT 1) GLOB 'net.*'
    FROM file INDEXED BY file_backing_off
    WHERE state = 'pending' AND not_before IS NOT NULL AND not_before > ?1 AND batch_id > ?2
    ORDER BY batch_id, id LIMIT ?3
    """
  static let endWait: StaticString = "UPDATE file SET not_before = NULL WHERE id = ? AND state = 'pending'"
  static let endNetworkWaitsOfChunks: StaticString = """
    UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before > ?
      AND (SELECT error_code FROM attempt WHERE file_id = chunk.file_id AND chunk_id = chunk.id
        ORDER BY id DESC LIMIT 1) GLOB 'net.*'
    """
  /// These files waited for the next run (`RetryPolicy.nextRunMs`), which is this one.
  static let endWaitsForThisRun: StaticString = """
    UPDATE file SET not_before = NULL
    WHERE state = 'pending' AND not_before > ? AND cause IN ('auth.needs_url', 'local.disk_full')
    """
  static let shiftWaitsOfFiles: StaticString =
    "UPDATE file SET not_before = max(?2, not_before - ?1) WHERE state = 'pending' AND not_before > ?2"
  static let shiftWaitsOfChunks: StaticString =
    "UPDATE chunk SET not_before = max(?2, not_before - ?1) WHERE state = 'waiting' AND not_before > ?2"
  static let endFarWaitsOfFiles: StaticString =
    "UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ?"
  static let endFarWaitsOfChunks: StaticString =
    "UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before > ?"
}
