import TransferLedger
import TransferModel
import TransferProtocols

/// The batches of one run: their destinations, each set up once; the hosts and refusals that they share; and the
/// reasons to hold them back. Owner of the ``BatchHolds`` and the ``JobQuotas``. Used by the engine's thread.
final class Batches {
  /// Requests to begin ahead for each concurrent request of a limited batch: enough that its share is never idle.
  static let aheadOfShare = 6

  private let engine: Engine
  private let hosts: Hosts
  private let claims: Claims
  private var destinations: [BatchID: BatchDestination] = [:]
  private var refusals: [BatchSettings: DestinationRefusals] = [:]
  /// By the place of the keys, with the credential.
  private var collections: [String: KnownCollections] = [:]
  private let rate: RunRate
  /// Transports that already have the rate limit of this run.
  private var limitedTransports: Set<ObjectIdentifier> = []
  /// Batches that cannot be sent in this run, with their errors.
  private(set) var blocked: [BatchID: TransferError] = [:]
  /// Batches without a destination because their server refused another batch with the same settings.
  private var refused: Set<BatchID> = []
  private var holds = BatchHolds()
  let quotas: JobQuotas
  let left: LeftBatches
  /// Destinations with a share of the connections.
  private var sharing: [BatchDestination] = []

  init(_ engine: Engine, rate: RunRate, hosts: Hosts, claims: Claims) {
    (self.engine, self.rate, self.hosts, self.claims) = (engine, rate, hosts, claims)
    quotas = JobQuotas(engine, claims)
    left = LeftBatches(engine)
  }

  // MARK: - Destinations

  /// Destinations of batches with a file that was claimed or examined.
  var all: Dictionary<BatchID, BatchDestination>.Values { destinations.values }

  /// Each transport once, even if several batches use it.
  var transports: [any Transport] {
    var seen: Set<ObjectIdentifier> = []
    return all.map(\.resolved.transport).filter { seen.insert(ObjectIdentifier($0 as AnyObject)).inserted }
  }

  /// The destination of a batch, set up from its frozen settings at the first use in this run.
  /// - Throws: the reason why the batch cannot be sent; errors of the store; `.bug` if its row is missing.
  func destination(of batch: BatchID) throws(TransferError) -> BatchDestination {
    if let known = destinations[batch] { return known }
    let destination = try make(batch, evenRefused: false)
    adopt(destination)
    return destination
  }

  /// The same for a file that no longer needs its server. Works even if the server refuses the batch.
  func destination(ofFetched batch: BatchID) throws(TransferError) -> BatchDestination {
    guard destinations[batch] == nil else { return try destination(of: batch) }
    refused.remove(batch)
    let destination = try make(batch, evenRefused: true)
    adopt(destination)
    if let error = destination.refusals.error { _ = block(batch, error) }
    return destination
  }

  /// The name of the host of a batch, which need not have a destination for this.
  func hostName(of batch: BatchID) throws(TransferError) -> String {
    if let known = destinations[batch] { return known.host.name }
    return try engine.resolver.host(of: settings(of: batch))
  }

  private func adopt(_ destination: BatchDestination) {
    destinations[destination.batch] = destination
    limit(destination.resolved.transport)
    hold(destination, sending: 0)
  }

  /// False if the batch was blocked before: the first reason is kept.
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

  private func make(_ batch: BatchID, evenRefused: Bool) throws(TransferError) -> BatchDestination {
    let settings = try settings(of: batch)
    let refusal = refusals[settings] ?? DestinationRefusals(settings: settings)
    refusals[settings] = refusal
    if !evenRefused, let error = refusal.error {
      refused.insert(batch)
      throw error
    }
    let resolved = try engine.resolver.resolve(settings)
    let job = try engine.ledger.read { reader in try reader.job(of: batch) }
    return BatchDestination(
      batch: batch, resolved: resolved, host: hosts.host(resolved.host), refusals: refusal,
      collections: knownCollections(resolved.transferProtocol, auth: settings.auth), isOfJob: job != nil)
  }

  private func knownCollections(_ proto: ProtocolInUse, auth: String?) -> KnownCollections? {
    guard proto.parents != nil else { return nil }
    let place = proto.keyPlace(auth: auth)
    let known = collections[place] ?? KnownCollections()
    collections[place] = known
    return known
  }

  private func limit(_ transport: any Transport) {
    guard limitedTransports.insert(ObjectIdentifier(transport as AnyObject)).inserted else { return }
    transport.setRate(bytesPerSecond: rate.bytesPerSecond)
  }

  /// The rate of the run has changed.
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

  /// Takes the requested limits; returns the destinations whose limits changed, so that the caller can apply them. A
  /// batch that has no destination yet gets its limits when the destination is set up.
  func take(_ limits: [BatchID: BatchLimits]) -> [BatchDestination] {
    holds.take(limits).compactMap { destinations[$0] }
  }

  /// Applies the limits of a batch. `sending` of its requests are already running.
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

  /// Requests that may not have a connection yet because their batches have used their share; they do not reduce the
  /// requests begun for others.
  func heldCount(_ host: HostState) -> Int {
    sharing.isEmpty
      ? 0 : sharing.reduce(0) { $1.host === host ? $0 + max(0, $1.requests - ($1.share ?? .max)) : $0 }
  }

  /// A file of the batch was released. An earlier claim that was empty because the batch was held back is no longer
  /// conclusive.
  func fileLeft(_ destination: BatchDestination, _ file: FileID) {
    destination.files -= 1
    quotas.fileLeft(file, of: destination.batch)
    if destination.share != nil, destination.files == Self.filesAhead(destination) - 1 { claims.wake() }
  }

  private static func filesAhead(_ destination: BatchDestination) -> Int {
    (destination.share ?? .max / aheadOfShare) * aheadOfShare
  }

  // MARK: - Deadlines

  /// The time by which bodies must end, by batch, in milliseconds of the boot clock; nil if no time needs to be set.
  func takeEnds() -> [BatchID: Int64]? { holds.takeEnds(civilMs: engine.civilMs, bootMs: engine.bootMs) }

  /// Notes which deadlines have passed. nil if nothing changed since the last check; else the newly overdue batches.
  func takeOverdue() -> Set<BatchID>? {
    guard let new = holds.takeOverdue(civilMs: engine.civilMs) else { return nil }
    claims.wake()
    return new
  }

  var hasOverdue: Bool { !holds.overdue.isEmpty }

  func isOverdue(_ batch: BatchID) -> Bool { holds.overdue.contains(batch) }

  // MARK: - Claims

  /// Batches of which no file is begun in this run, or no further one.
  var resting: Set<BatchID> { holds.overdue.union(blocked.keys).union(quotas.resting).union(left.batches) }

  /// The sizes of files that are not claimed, by batch: each of their bodies is the whole file, and longer than what is
  /// left of the byte limit of the run.
  var sizesLeftOut: [BatchID: ClosedRange<Int64>] { hosts.scheduler.bytesLeft.map { wholeFiles(above: $0) } ?? [:] }

  /// The sizes above `bytes` of files that are sent in one body, by batch.
  func wholeFiles(above bytes: Int64) -> [BatchID: ClosedRange<Int64>] {
    all.reduce(into: [:]) { sizes, destination in
      if let largest = destination.largestWhole, bytes < largest { sizes[destination.batch] = bytes + 1...largest }
    }
  }

  /// Batches with enough active files for their share: files of other batches are claimed first.
  var held: [BatchID] { sharing.filter { $0.files >= Self.filesAhead($0) }.map(\.batch) }

  /// Batches from which nothing is claimed because of their servers or disks: their host is one of `names`, the server
  /// refused the batch, or its disk is full. Overdue batches are excluded.
  func heldByServers(hosts names: Set<String>) -> Set<BatchID> {
    let known = blocked.keys.filter { destinations[$0] != nil || refused.contains($0) }
    return batches(ofHosts: names).union(known).union(quotas.fullDisks.batches).subtracting(holds.overdue)
  }

  func batches(ofHosts names: Set<String>) -> Set<BatchID> {
    names.isEmpty ? [] : Set(all.filter { names.contains($0.host.name) }.map(\.batch))
  }
}
