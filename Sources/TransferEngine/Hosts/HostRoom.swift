import TransferLedger
import TransferModel

/// How much of what the engine can hold and do each host may have, so that one that is dead or slow holds up no other:
/// owner of the ``HostShares``. Used by the engine's thread.
final class HostRoom {
  /// Files that a host may have in work while its breaker is open: each can be the one request that is let through.
  static let probingFiles = 8

  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let batches: Batches
  private var shares = HostShares()
  /// Those that there is work for now, and that may be asked.
  private var hostsInUse = 0

  init(_ engine: Engine, stop: RunStop, hosts: Hosts, batches: Batches) {
    (self.engine, self.stop, self.hosts, self.batches) = (engine, stop, hosts, batches)
  }

  /// Begun requests to keep ahead of the connections of a host that is alone: what is sent while two commits gather and
  /// run, so that many files share a commit and no connection waits for one.
  private var targetAhead: Int { max(64, hosts.reach * 16) }

  /// Files in work of a host that is alone.
  var mostFiles: Int { targetAhead * 4 }

  /// Counts the hosts that files are in work for, or could be, now.
  func countHosts() {
    hostsInUse = hosts.all.count { host in
      (host.files > 0 || shares.awaited.contains(host.name)) && !hosts.isClosed(host)
    }
  }

  /// Files of one host that may have an upload session at a time.
  var sessionsPerHost: Int { max(1, engine.configuration.sessionsAtOnce / max(1, hostsInUse)) }

  /// Requests to begin for a host now, so that its connections have enough to do.
  func requests(for host: HostState) -> Int {
    let sending = hosts.gate(host)?.sending ?? 0
    return HostShares.share(of: targetAhead, among: hostsInUse)
      - (host.requests - sending - batches.heldCount(host))
  }

  // MARK: - Claims

  /// Hosts of which no more files are claimed now: they have their share, or take nothing for the time being.
  var fullHosts: Set<String> { Set(hosts.all.filter(isFull).map(\.name)) }

  private func isFull(_ host: HostState) -> Bool {
    if let gate = hosts.gate(host) {
      if gate.opensAtMs(nowMs: engine.bootMs) != nil { return true }
      if gate.isOpen { return host.files > 0 }
    }
    let share = HostShares.share(of: targetAhead, among: hostsInUse)
    return requests(for: host) < max(1, share / 4) || host.files >= HostShares.share(of: mostFiles, among: hostsInUse)
  }

  /// So many files that no host gets more than its share, whosever they are.
  var claimRoom: Int {
    let used = hosts.all.filter { $0.files > 0 && !hosts.isClosed($0) && !isFull($0) }
    return used.reduce(HostShares.share(of: targetAhead, among: hostsInUse)) { min($0, requests(for: $1)) }
  }

  /// A file of a batch whose host was not known when it was claimed.
  func hasTooMany(_ host: HostState) -> Bool {
    let most = hosts.isClosed(host) ? Self.probingFiles : HostShares.share(of: mostFiles, among: hostsInUse)
    return host.files >= most
  }

  /// Files are ready that a claim would get.
  func hasClaimableFiles() throws(TransferError) -> Bool {
    let without = batches.resting.union(batches.batches(ofHosts: fullHosts))
    return try engine.ledger.read { reader in try reader.hasReadyFiles(without: without) }
  }

  /// Sees which hosts there is work for, before any of it is claimed.
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

  /// A batch without a destination has no files in work, so that nothing of it is to be let go.
  private func hostName(of batch: BatchID) -> String? {
    do throws(TransferError) {
      return try batches.destination(of: batch).host.name
    } catch {
      if error.concernsOneBatch { _ = batches.block(batch, error) } else { stop.fail(error) }
      return nil
    }
  }
}
