public import TransferModel
public import TransferReports

/// Looks at the store; each is one consistent state, and works while an engine runs in whichever process. Lists come a
/// page at a time: rows by number, after the number that the page before ended with.
extension TransferClient {
  /// What is happening now.
  public func status(of files: RowFilter = RowFilter()) async throws(TransferError) -> StoreStatus {
    try await read { [clock] in try $0.status(files, clock) }
  }

  public func batches(
    _ filter: RowFilter = RowFilter(), after: BatchID? = nil, limit: Int = 500
  ) async throws(TransferError) -> [BatchRow] {
    try await read { try $0.batches(filter, after: after?.rawValue ?? 0, limit: limit) }
  }

  public func files(
    _ filter: RowFilter = RowFilter(), after: FileID? = nil, limit: Int = 500
  ) async throws(TransferError) -> [FileRow] {
    try await read { try $0.files(filter, after: after?.rawValue ?? 0, limit: limit) }
  }

  public func chunks(
    _ filter: RowFilter = RowFilter(), after: ChunkID? = nil, limit: Int = 500
  ) async throws(TransferError) -> [ChunkRow] {
    try await read { try $0.chunks(filter, after: after?.rawValue ?? 0, limit: limit) }
  }

  public func attempts(
    _ filter: RowFilter = RowFilter(), after: AttemptID? = nil, limit: Int = 500
  ) async throws(TransferError) -> [AttemptRow] {
    try await read { try $0.attempts(filter, after: after?.rawValue ?? 0, limit: limit) }
  }

  /// The batch of this name, or with this id (`b12`).
  public func batch(named name: String) async throws(TransferError) -> BatchID? {
    try await read { try $0.batch(named: name) }
  }

  /// How a done file was confirmed; nil for a file that is not done.
  public func receipt(of file: FileID) async throws(TransferError) -> ReceiptRow? {
    try await read { try $0.receipt(of: file) }
  }

  /// How did it go? Also of what people tidied away.
  public func summary(of filter: RowFilter = RowFilter()) async throws(TransferError) -> SummaryFigures {
    try await read { try $0.summary(filter.withHidden) }
  }

  /// What went wrong, by error code.
  public func failures(of filter: RowFilter = RowFilter()) async throws(TransferError) -> [FailureRow] {
    try await read { try $0.failures(filter.withHidden) }
  }

  /// How fast it was, over time; without `step` in at most 120 stretches.
  public func throughput(
    of filter: RowFilter = RowFilter(), step: Duration? = nil
  ) async throws(TransferError) -> [ThroughputRow] {
    try await read { [clock] reader in
      try reader.throughput(filter.withHidden, nowMs: clock.wallMs) { spanMs in
        step.map { max(1, $0.milliseconds) } ?? ThroughputSeries.automaticStepMs(spanMs)
      }
    }
  }

  /// The store itself: whether the file is intact and every rule holds. Reads everything.
  public func check() async throws(TransferError) -> StoreCheck {
    try await read { try $0.wholeCheck() }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreReader) throws -> Value
  ) async throws(TransferError) -> Value {
    try await pool.run { [store] () throws(TransferError) in try store.read(body) }
  }
}
