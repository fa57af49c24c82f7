import TransferLedger
import TransferModel

/// The share of each host in the engine's capacity, so that a dead or slow host does not delay the others. Owner of the
/// ``HostShares``. Used by the engine's thread.
final class HostRoom {
  /// Active files of a host while its circuit breaker is open: any of them can become the one request that is let
  /// through.
  static let probingFiles = 8

  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let batches: Batches
  private var shares = HostShares()
  /// Number of hosts that have work now and accept requests.
  private var hostsInUse = 0

  init(_ engine: Engine, stop: RunStop, hosts: Hosts, batches: Batches) {
    (self.engine, self.stop, self.hosts, self.batches) = (engine, stop, hosts, batches)
    let configuration = engine.configuration
    mostOpenFiles = OpenFileLimit(configuration.openFileLimit).files(
      workers: configuration.workers, threads: configuration.preparingThreads)
  }

  /// Requests to keep begun ahead for a host that is alone: the number sent while two commits are gathered and run, so
  /// that many files share a commit and no connection waits for one.
  private var targetAhead: Int { max(64, hosts.reach * 16) }

  /// Active files of a host that is alone.
  var mostFiles: Int { min(targetAhead * 4, mostOpenFiles) }

  /// Active files of all hosts: each has one open file at most.
  let mostOpenFiles: Int

  /// Counts the hosts that have, or could now have, active files.
  func countHosts() {
    hostsInUse = hosts.all.count { host in
      (host.files > 0 || shares.awaited.contains(host.name)) && !hosts.isClosed(host)
    }
  }

  /// Maximum number of files of one host with an upload session at the same time.
  var sessionsPerHost: Int { max(1, engine.configuration.sessionsAtOnce / max(1, hostsInUse)) }

  /// Requests to begin for a host now, so that its connections have enough to do.
  func requests(for host: HostState) -> Int {
    let sending = hosts.gate(host)?.sending ?? 0
    return HostShares.share(of: targetAhead, among: hostsInUse)
      - (host.requests - sending - batches.heldCount(host) - hosts.scheduler.tooLongCount(host: host.name))
  }

  // MARK: - Claims

  /// Hosts for which no more files are claimed now: they have used their share, or accept no requests at the moment.
  var fullHosts: Set<String> { Set(hosts.all.filter(isFull).map(\.name)) }

  /// The same, and also the closed hosts, for which only a few files are claimed as probes.
  var hostsWithoutRoom: Set<String> { Set(hosts.all.filter { isFull($0) || hosts.isClosed($0) }.map(\.name)) }

  private func isFull(_ host: HostState) -> Bool {
    if let gate = hosts.gate(host) {
      if gate.opensAtMs(nowMs: engine.bootMs) != nil { return true }
      if gate.isOpen { return host.files > 0 }
    }
    let share = HostShares.share(of: targetAhead, among: hostsInUse)
    return requests(for: host) < max(1, share / 4) || host.files >= HostShares.share(of: mostFiles, among: hostsInUse)
  }

  /// The number of files to claim so that no host can exceed its share, whichever hosts they are for.
  var claimRoom: Int {
    let used = hosts.all.filter { $0.files > 0 && !hosts.isClosed($0) && !isFull($0) }
    return used.reduce(HostShares.share(of: targetAhead, among: hostsInUse)) { min($0, requests(for: $1)) }
  }

  /// Whether the host has too many active files. Checked for a file whose host was unknown when it was claimed.
  func hasTooMany(_ host: HostState) -> Bool {
    let most = hosts.isClosed(host) ? Self.probingFiles : HostShares.share(of: mostFiles, among: hostsInUse)
    return host.files >= most
  }

  /// Whether a claim would find ready files.
  func hasClaimableFiles() throws(TransferError) -> Bool {
    let without = batches.resting.union(batches.batches(ofHosts: fullHosts))
    let leftOut = batches.sizesLeftOut
    return try engine.ledger.read { reader in try reader.hasReadyFiles(without: without, leftOut: leftOut) }
  }

  /// Finds the hosts with ready files, before any are claimed.
  func lookForHosts() {
    guard engine.bootMs >= shares.nextLookMs else { return }
    let after = shares.lookedThrough
    do throws(TransferError) {
      let found = try engine.ledger.read { try $0.readyBatches(after: after, limit: HostShares.lookLimit) }
      let resting = batches.resting
      let names = found.compactMap { batch in resting.contains(batch) ? nil : hostName(of: batch) }
      shares.looked(
        Set(names), through: found.count < HostShares.lookLimit ? nil : found.last, nowMs: engine.bootMs)
      hosts.expect(shares.awaited)
      countHosts()
    } catch {
      stop.fail(error)
    }
  }

  /// A batch without a destination has no active files, so it has nothing to release.
  private func hostName(of batch: BatchID) -> String? {
    do throws(TransferError) {
      return try batches.destination(of: batch).host.name
    } catch {
      if error.concernsOneBatch { _ = batches.block(batch, error) } else { stop.fail(error) }
      return nil
    }
  }
}
