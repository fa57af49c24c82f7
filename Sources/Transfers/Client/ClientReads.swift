public import TransferModel
public import TransferReports

/// Queries of the store. Each reads one consistent state, and works while an engine runs in any process. Lists are
/// returned in pages: rows in order of their numbers, after the last number of the previous page.
extension TransferClient {
  /// The current status.
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

  /// A summary of the results, including files that were cleaned.
  public func summary(of filter: RowFilter = RowFilter()) async throws(TransferError) -> SummaryFigures {
    try await read { try $0.summary(filter.withHidden) }
  }

  /// Failures by error code.
  public func failures(of filter: RowFilter = RowFilter()) async throws(TransferError) -> [FailureRow] {
    try await read { try $0.failures(filter.withHidden) }
  }

  /// Throughput over time; without `step`, in at most 120 intervals.
  public func throughput(
    of filter: RowFilter = RowFilter(), step: Duration? = nil
  ) async throws(TransferError) -> [ThroughputRow] {
    try await read { [clock] reader in
      try reader.throughput(filter.withHidden, nowMs: clock.wallMs) { spanMs in
        step.map { max(1, $0.milliseconds) } ?? ThroughputSeries.automaticStepMs(spanMs)
      }
    }
  }

  /// Checks the store itself: whether the file is intact and all invariants hold. Reads everything.
  public func check() async throws(TransferError) -> StoreCheck {
    try await read { try $0.wholeCheck() }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreReader) throws -> Value
  ) async throws(TransferError) -> Value {
    try await pool.run { [store] () throws(TransferError) in try store.read(body) }
  }
}
