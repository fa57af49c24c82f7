import TransferLedger
import TransferModel

/// The batches of one run: where each goes, made once, with the hosts and refusals that they share, and what holds it
/// back: owner of the ``BatchHolds``. Used by the engine's thread.
final class Batches {
  /// Begun requests of a batch for each that it may have at a time: enough that its share is never idle.
  static let aheadOfShare = 6

  private let engine: Engine
  private let hosts: Hosts
  private let claims: Claims
  private var destinations: [BatchID: BatchDestination] = [:]
  private var refusals: [BatchSettings: DestinationRefusals] = [:]
  private let rate: RunRate
  /// Transports that know the rate of this run.
  private var limitedTransports: Set<ObjectIdentifier> = []
  /// Batches for which nothing can be sent in this run, and why.
  private(set) var blocked: [BatchID: TransferError] = [:]
  private var holds = BatchHolds()
  /// Those with a share of the connections.
  private var sharing: [BatchDestination] = []

  init(_ engine: Engine, rate: RunRate, hosts: Hosts, claims: Claims) {
    (self.engine, self.rate, self.hosts, self.claims) = (engine, rate, hosts, claims)
  }

  // MARK: - Destinations

  /// Those of which a file was claimed, or looked at.
  var all: Dictionary<BatchID, BatchDestination>.Values { destinations.values }

  /// Each transport once, whichever batches use it.
  var transports: [any Transport] {
    var seen: Set<ObjectIdentifier> = []
    return all.map(\.resolved.transport).filter { seen.insert(ObjectIdentifier($0 as AnyObject)).inserted }
  }

  /// The destination of a batch, made from its frozen settings when it is asked for the first time in this run.
  /// - Throws: why nothing can be sent for the batch, errors of the store, `.bug` when its row is missing.
  func destination(of batch: BatchID) throws(TransferError) -> BatchDestination {
    if let known = destinations[batch] { return known }
    let destination = try make(batch)
    destinations[batch] = destination
    limit(destination.resolved.transport)
    hold(destination, sending: 0)
    return destination
  }

  /// False when the batch was blocked before: the first reason stands.
  func block(_ batch: BatchID, _ error: TransferError) -> Bool {
    guard blocked[batch] == nil else { return false }
    blocked[batch] = error
    return true
  }

  /// Unblocks the batches that were blocked with this error: their files are claimed again.
  func unblock(_ error: TransferError) {
    blocked = blocked.filter { $0.value != error }
    claims.wake()
  }

  private func make(_ batch: BatchID) throws(TransferError) -> BatchDestination {
    let settings = try settings(of: batch)
    let refused = refusals[settings] ?? DestinationRefusals(settings: settings)
    refusals[settings] = refused
    if let error = refused.error { throw error }
    let resolved = try engine.resolver.resolve(settings)
    return BatchDestination(
      batch: batch, resolved: resolved, host: hosts.host(resolved.host), refusals: refused)
  }

  private func limit(_ transport: any Transport) {
    guard limitedTransports.insert(ObjectIdentifier(transport as AnyObject)).inserted else { return }
    transport.setRate(bytesPerSecond: rate.bytesPerSecond)
  }

  /// The rate of the run is another one now.
  func rateHasChanged() {
    for transport in transports { transport.setRate(bytesPerSecond: rate.bytesPerSecond) }
  }

  private func settings(of batch: BatchID) throws(TransferError) -> BatchSettings {
    if let settings = try engine.ledger.read({ reader in try reader.batchSettings(batch) }) { return settings }
    throw TransferError(
      .bug, "read the settings of batch", NameBytes(batch.description), cause: "the row is missing",
      remedy: "run \"transfers store check\"")
  }

  // MARK: - Limits

  /// Takes the limits that people want now; gives the destinations whose limits changed, to be held to them. Batches
  /// whose first file is still to come get theirs with their destination.
  func take(_ limits: [BatchID: BatchLimits]) -> [BatchDestination] {
    holds.take(limits).compactMap { destinations[$0] }
  }

  /// Holds a batch to its limits. `sending` of its requests run already.
  func hold(_ destination: BatchDestination, sending: @autoclosure () -> Int) {
    let limits = holds[destination.batch]
    if destination.rate != limits?.rate {
      destination.rate = limits?.rate
      let group = RateGroup(rawValue: destination.batch.rawValue)
      destination.resolved.transport.setRate(bytesPerSecond: limits?.rate, of: group)
    }
    let share = limits?.workers.flatMap { $0 < engine.configuration.workers ? $0 : nil }
    guard share != destination.share else { return }
    destination.share = share
    claims.wake()
    hosts.setLimit(share, of: destination.batch, sending: sending())
    sharing.removeAll { $0 === destination }
    if share != nil { sharing.append(destination) }
  }

  /// Requests that no connection may have yet because their batches have their share: no reason to begin fewer of
  /// others.
  func heldCount(_ host: HostState) -> Int {
    sharing.isEmpty
      ? 0 : sharing.reduce(0) { $1.host === host ? $0 + max(0, $1.requests - ($1.share ?? .max)) : $0 }
  }

  /// A file of the batch has left the engine. A claim that came back empty because the batch was held back says nothing
  /// any more.
  func fileLeft(_ destination: BatchDestination) {
    destination.files -= 1
    if destination.share != nil, destination.files == Self.filesAhead(destination) - 1 { claims.wake() }
  }

  private static func filesAhead(_ destination: BatchDestination) -> Int {
    (destination.share ?? .max / aheadOfShare) * aheadOfShare
  }

  // MARK: - Deadlines

  /// When bodies have to have ended, by batch, in milliseconds of the boot clock; nil when nothing is to be set.
  func takeEnds() -> [BatchID: Int64]? { holds.takeEnds(civilMs: engine.civilMs, bootMs: engine.bootMs) }

  /// Notes which deadlines have passed. nil when that is as it was at the last look; else the batches that are new.
  func takeOverdue() -> Set<BatchID>? {
    guard let new = holds.takeOverdue(civilMs: engine.civilMs) else { return nil }
    claims.wake()
    return new
  }

  var hasOverdue: Bool { !holds.overdue.isEmpty }

  func isOverdue(_ batch: BatchID) -> Bool { holds.overdue.contains(batch) }

  // MARK: - What is claimed

  /// Batches whose files are not begun in this run, or not any more.
  var resting: Set<BatchID> { holds.overdue.union(blocked.keys) }

  /// Batches that have enough files in work for their share: others are claimed before more of theirs.
  var held: [BatchID] { sharing.filter { $0.files >= Self.filesAhead($0) }.map(\.batch) }

  func batches(ofHosts names: Set<String>) -> Set<BatchID> {
    names.isEmpty ? [] : Set(all.filter { names.contains($0.host.name) }.map(\.batch))
  }
}
