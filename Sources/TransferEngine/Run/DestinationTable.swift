import TransferLedger
import TransferModel

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
