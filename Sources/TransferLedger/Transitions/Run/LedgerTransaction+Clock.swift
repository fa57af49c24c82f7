import TransferModel

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

  /// The machine slept: chunks, and up to `limit` files, that back off after a failure of the network are due now. The
  /// cost grows with the number of waiting files.
  /// - Returns: the number of files.
  public func endNetworkWaits(_ run: RunID, limit: Int) throws -> Int {
    try requireLease(run)
    try db.run(Self.endNetworkWaitsOfChunks, .int(wallMs))
    return try db.run(Self.endNetworkWaitsOfFiles, .int(wallMs), .int(limit))
  }

  static let endNetworkWaitsOfFiles: StaticString = """
    UPDATE file SET not_before = NULL WHERE id IN (SELECT id FROM file WHERE state = 'pending' AND not_before > ?1
      AND (SELECT error_code FROM attempt WHERE file_id = file.id ORDER BY id DESC LIMIT 1) GLOB 'net.*' LIMIT ?2)
    """
  static let endNetworkWaitsOfChunks: StaticString = """
    UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before > ?
      AND (SELECT error_code FROM attempt WHERE file_id = chunk.file_id AND chunk_id = chunk.id
        ORDER BY id DESC LIMIT 1) GLOB 'net.*'
    """
  /// These files waited for the next run (`RetryPolicy.nextRunMs`), which is this one.
  static let endWaitsForThisRun: StaticString = """
    UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ? AND cause = 'auth.needs_url'
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
