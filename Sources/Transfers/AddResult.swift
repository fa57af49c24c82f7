public import TransferModel

/// What an `add` recorded.
public struct AddResult: Sendable, Hashable {
  /// nil when nothing had to be recorded because everything was recorded already.
  public var batch: BatchID?
  public var counts: SourceCounts
  /// The files that were recorded or found queued, for looking them up later.
  public var files: AddedFiles

  public init(batch: BatchID?, counts: SourceCounts = SourceCounts(), files: AddedFiles) {
    self.batch = batch
    self.counts = counts
    self.files = files
  }
}

/// What an `add` would record, and what sending it would require.
public struct PlanResult: Sendable, Hashable {
  public var counts = SourceCounts()
  public var chunks = 0
  /// Assuming that nothing is retried and that the server supports everything that the protocol uses.
  public var requests = 0
  /// The hosts that receive requests, as far as known before the first request: `https://host`. The destination is
  /// first.
  public var hosts: [String] = []
  /// Environment variables that hold credentials and inputs, sorted.
  public var variables: [String] = []

  public init() {}
}
