import TransferModel

extension LedgerTransaction {
  /// Nobody waits for longer, in milliseconds, but for the next run: `Retry-After` with its jitter, the breaker and
  /// every backoff are below.
  static let longestWaitMs = 2 * RetryAfter.longestMs

  /// What is due further ahead than any wait was set by a clock that has been moved since: it is due now. Of files and
  /// chunks that no engine has; costs as much as it finds. Writes one event if it found any.
  func endFarWaits() throws {
    let latest = wallMs + Self.longestWaitMs
    try db.run(Self.endWaitsForThisRun, .int(wallMs))
    let files = try db.run(Self.endFarWaitsOfFiles, .int(latest))
    let chunks = try db.run(Self.endFarWaitsOfChunks, .int(latest))
    guard files + chunks > 0 else { return }
    try recordEvent(
      "clock", batch: nil, file: nil,
      detail:
        "\(files) files, \(chunks) chunks were due further ahead than any wait: the clock was moved, they are due now"
    )
  }

  /// These wait for the next run, which this is (`RetryPolicy.nextRunMs`).
  static let endWaitsForThisRun: StaticString = """
    UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ? AND cause = 'auth.needs_url'
    """
  static let endFarWaitsOfFiles: StaticString =
    "UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ?"
  static let endFarWaitsOfChunks: StaticString =
    "UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before > ?"
}
