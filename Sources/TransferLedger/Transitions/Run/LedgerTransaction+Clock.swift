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

  /// These files waited for the next run (`RetryPolicy.nextRunMs`), which is this one.
  static let endWaitsForThisRun: StaticString = """
    UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ? AND cause = 'auth.needs_url'
    """
  static let endFarWaitsOfFiles: StaticString =
    "UPDATE file SET not_before = NULL WHERE state = 'pending' AND not_before > ?"
  static let endFarWaitsOfChunks: StaticString =
    "UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before > ?"
}
