import TransferLedger
import TransferModel
import TransferProtocols

/// What a host has of the engine, over all batches.
final class HostState {
  let name: String
  /// Files in work, and requests that were asked of the ledger and have not ended.
  var files = 0
  var requests = 0
  /// Requests at a time, as the ledger knows it.
  var notedConcurrency: Int?
  var bodyLength = BodyLength()
  var pauses = PauseMemory()

  init(name: String) { self.name = name }
}

/// A batch of this run and where it goes.
final class BatchDestination {
  let batch: BatchID
  let resolved: ResolvedDestination
  let host: HostState
  let refusals: DestinationRefusals
  var learned = LearnedFacts()
  /// Its files in work, and its requests that were asked of the ledger and have not ended.
  var files = 0 { didSet { host.files += files - oldValue } }
  var requests = 0 { didSet { host.requests += requests - oldValue } }
  /// Requests at a time, when that is fewer than the engine may have.
  var share: Int?
  /// Bytes a second, when it has a limit of its own.
  var rate: Int64?
  /// Which file asks what can be done there.
  var discovery = Discovery()

  init(batch: BatchID, resolved: ResolvedDestination, host: HostState, refusals: DestinationRefusals) {
    self.batch = batch
    self.refusals = refusals
    self.resolved = resolved
    self.host = host
  }
}

extension BatchDestination {
  /// Keeps what the answer taught about the destination, for all its files.
  func learn(from meaning: Interpretation) {
    if let new = meaning.learned { learned = new }
  }
}
