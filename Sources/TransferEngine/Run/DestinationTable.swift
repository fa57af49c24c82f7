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

/// What the batches with the same settings were refused.
final class DestinationRefusals {
  let settings: BatchSettings
  var watch = RefusalWatch()
  /// Why they are held back.
  var error: TransferError?

  init(settings: BatchSettings) { self.settings = settings }
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
  /// The file whose request asks what can be done there, and those that wait for what it learns.
  var discoverer: FileID?
  var undecided: [FileID] = []

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

/// The destinations of the batches of one run, each made once, with the hosts and refusals that they share. Used by the
/// engine's thread.
final class DestinationTable {
  private let engine: Engine
  private var byBatch: [BatchID: BatchDestination] = [:]
  private var byHost: [String: HostState] = [:]
  private var refusals: [BatchSettings: DestinationRefusals] = [:]
  /// Transports that know the rate of this run.
  private var limitedTransports: Set<ObjectIdentifier> = []
  /// Batches for which nothing can be sent in this run, and why.
  private(set) var blocked: [BatchID: TransferError] = [:]

  init(_ engine: Engine) { self.engine = engine }

  var all: Dictionary<BatchID, BatchDestination>.Values { byBatch.values }
  var hosts: Dictionary<String, HostState>.Values { byHost.values }

  subscript(batch: BatchID) -> BatchDestination? { byBatch[batch] }

  /// Makes what a batch needs from its frozen settings.
  /// - Throws: why nothing can be sent for the batch, errors of the store, `.bug` when its row is missing.
  func make(_ batch: BatchID) throws(TransferError) -> BatchDestination {
    let settings = try settings(of: batch)
    let refused = refusals[settings] ?? DestinationRefusals(settings: settings)
    refusals[settings] = refused
    if let error = refused.error { throw error }
    let resolved = try engine.resolver.resolve(settings)
    let host = byHost[resolved.host] ?? HostState(name: resolved.host)
    byHost[resolved.host] = host
    let destination = BatchDestination(batch: batch, resolved: resolved, host: host, refusals: refused)
    byBatch[batch] = destination
    limit(resolved.transport)
    return destination
  }

  /// False when the batch was blocked before: the first reason stands.
  func block(_ batch: BatchID, _ error: TransferError) -> Bool {
    guard blocked[batch] == nil else { return false }
    blocked[batch] = error
    return true
  }

  /// Each transport once, whichever batches use it.
  var transports: [any Transport] {
    var seen: Set<ObjectIdentifier> = []
    return all.map(\.resolved.transport).filter { seen.insert(ObjectIdentifier($0 as AnyObject)).inserted }
  }

  private func limit(_ transport: any Transport) {
    guard limitedTransports.insert(ObjectIdentifier(transport as AnyObject)).inserted else { return }
    transport.setRate(bytesPerSecond: engine.configuration.rate)
  }

  private func settings(of batch: BatchID) throws(TransferError) -> BatchSettings {
    if let settings = try engine.ledger.read({ reader in try reader.batchSettings(batch) }) { return settings }
    throw TransferError(
      .bug, "read the settings of batch", NameBytes(batch.description), cause: "the row is missing",
      remedy: "run \"transfers store check\"")
  }
}
