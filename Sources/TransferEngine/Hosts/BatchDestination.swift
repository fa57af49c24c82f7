import TransferLedger
import TransferModel
import TransferProtocols

/// The engine's state for a host, over all batches.
final class HostState {
  let name: String
  /// Active files, and requests that were requested from the ledger and have not ended.
  var files = 0
  var requests = 0
  /// Concurrent requests, as recorded in the ledger.
  var notedConcurrency: Int?
  var bodyLength = BodyLength()
  var pauses = PauseMemory()

  init(name: String) { self.name = name }
}

/// A batch of this run and its destination.
final class BatchDestination {
  let batch: BatchID
  let resolved: ResolvedDestination
  let host: HostState
  let refusals: DestinationRefusals
  /// A job made the batch.
  let isOfJob: Bool
  var learned = LearnedFacts()
  /// Its active files, and its requests that were requested from the ledger and have not ended.
  var files = 0 { didSet { host.files += files - oldValue } }
  var requests = 0 { didSet { host.requests += requests - oldValue } }
  /// Concurrent requests, if limited to fewer than the engine may have.
  var share: Int?
  /// Bytes per second, if it has its own limit.
  var rate: Int64?
  /// See ``ProtocolInUse/largestWhole``.
  private(set) lazy var largestWhole = resolved.transferProtocol.largestWhole
  /// Which file queries the abilities of the server.
  var discovery = Discovery()
  /// Shared by the batches for one place; nil if the protocol creates no collections.
  let collections: KnownCollections?

  init(
    batch: BatchID, resolved: ResolvedDestination, host: HostState, refusals: DestinationRefusals,
    collections: KnownCollections? = nil, isOfJob: Bool = false
  ) {
    (self.batch, self.collections, self.isOfJob) = (batch, collections, isOfJob)
    self.refusals = refusals
    self.resolved = resolved
    self.host = host
  }
}

extension BatchDestination {
  /// Stores facts about the destination from an answer, for all its files.
  func learn(from meaning: Interpretation) {
    if let new = meaning.learned { learned = new }
  }
}
