public import TransferModel

/// What an `add` recorded.
public struct AddResult: Sendable, Hashable {
  /// nil when nothing had to be recorded: everything is there already.
  public var batch: BatchID?
  public var counts: SourceCounts
  /// The files that were recorded or found queued, to look for later.
  public var files: AddedFiles

  public init(batch: BatchID?, counts: SourceCounts = SourceCounts(), files: AddedFiles) {
    self.batch = batch
    self.counts = counts
    self.files = files
  }
}

/// What an `add` would record, and what sending it would take.
public struct PlanResult: Sendable, Hashable {
  public var counts = SourceCounts()
  public var chunks = 0
  /// When nothing has to be repeated, at a server that can all that the protocol makes use of.
  public var requests = 0
  /// Where requests go, as far as it is known before any is made: `https://host`. The destination is the first.
  public var hosts: [String] = []
  /// Variables of the environment that hold credentials and inputs, sorted.
  public var variables: [String] = []

  public init() {}
}
