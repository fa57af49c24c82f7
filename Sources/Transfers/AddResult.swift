import TransferLedger
public import TransferModel

/// What an `add` recorded.
public struct AddResult: Sendable, Hashable {
  /// nil when nothing had to be recorded because everything was recorded already.
  public var batch: BatchID?
  public var counts: SourceCounts
  /// The files that were recorded or found queued, for looking them up later.
  public var files: AddedFiles
  /// The failures among ``counts`` of which this `add` has recorded no row.
  var failedBefore = EarlierFailures()

  /// How many files failed, or may have arrived, of which no row is shown that says so.
  package var unrecorded: (failed: Int, unknown: Int) {
    let unknown = failedBefore.withoutRow(.protoLostAnswer)
    return (failedBefore.withoutRow() - unknown, unknown)
  }

  /// The path of one of these.
  package var unrecordedPath: NameBytes? { failedBefore.pathWithoutRow }

  package init(batch: BatchID?, counts: SourceCounts = SourceCounts(), files: AddedFiles) {
    self.batch = batch
    self.counts = counts
    self.files = files
  }

  /// The results of one `add` for several destinations. A file counts once for each of them; files that the scan left
  /// out count once.
  package init(of all: [AddResult]) {
    let batches = all.compactMap(\.batch)
    batch = batches.count == 1 ? batches[0] : nil
    counts = SourceCounts(of: all.map(\.counts))
    files = all.count == 1 ? all[0].files : AddedFiles(of: all.map(\.files))
    for one in all { failedBefore.append(one.failedBefore) }
  }
}

extension SourceCounts {
  init(of all: [SourceCounts]) {
    self = all.first ?? SourceCounts()
    for one in all.dropFirst() {
      added += one.added
      changed += one.changed
      unchanged += one.unchanged
      staying += one.staying
      queued += one.queued
      busy += one.busy
      requeued += one.requeued
      repeated += one.repeated
      unknown += one.unknown
      failed += one.failed
      settling += one.settling
      known += one.known
      bytes +|= one.bytes
    }
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

  package init() {}

  /// What one `add` would record for several destinations.
  init(of all: [PlanResult]) {
    counts = SourceCounts(of: all.map(\.counts))
    chunks = all.reduce(0) { $0 + $1.chunks }
    requests = all.reduce(0) { $0 + $1.requests }
    for one in all { hosts += one.hosts.filter { !hosts.contains($0) } }
    variables = Set(all.flatMap(\.variables)).sorted()
  }
}
