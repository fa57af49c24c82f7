import TransferLedger
import TransferModel

/// Each host has its share of what the engine can hold and do, so that one that is dead or slow holds up no other.
extension EngineLoop {
  /// Files that a host may have in work while its breaker is open: each can be the one request that is let through.
  static let probingFiles = 8
  private static let longestHoldMs: Int64 = 60_000

  /// Files in work of a host that is alone.
  var mostFiles: Int { targetAhead * 4 }

  /// Counts the hosts that files are in work for, or could be, now.
  func countHosts() {
    hostsInUse = destinations.hosts.count { host in
      (host.files > 0 || shares.awaited.contains(host.name)) && !isClosed(host)
    }
  }

  private func isClosed(_ host: HostState) -> Bool {
    guard let gate = scheduler.gate(host: host.name) else { return false }
    return gate.isOpen || gate.opensAtMs(nowMs: bootMs) != nil
  }

  /// Requests to begin for a host now, so that its connections have enough to do.
  func room(_ host: HostState) -> Int {
    let sending = scheduler.gate(host: host.name)?.sending ?? 0
    return HostShares.share(of: targetAhead, among: hostsInUse) - (host.requests - sending - heldCount(host))
  }

  /// Connections that a host may have if all others want theirs.
  func connections(_ host: HostState) -> Int {
    min(scheduler.gate(host: host.name)?.limit ?? reach, scheduler.fairShare(nowMs: bootMs))
  }

  /// Hosts of which no more files are claimed now: they have their share, or take nothing for the time being.
  var fullHosts: Set<String> { Set(destinations.hosts.filter(isFull).map(\.name)) }

  private func isFull(_ host: HostState) -> Bool {
    if let gate = scheduler.gate(host: host.name) {
      if gate.opensAtMs(nowMs: bootMs) != nil { return true }
      if gate.isOpen { return host.files > 0 }
    }
    let share = HostShares.share(of: targetAhead, among: hostsInUse)
    return room(host) < max(1, share / 4) || host.files >= HostShares.share(of: mostFiles, among: hostsInUse)
  }

  /// So many files that no host gets more than its share, whosever they are.
  var claimRoom: Int {
    let used = destinations.hosts.filter { $0.files > 0 && !isClosed($0) && !isFull($0) }
    return used.reduce(HostShares.share(of: targetAhead, among: hostsInUse)) { min($0, room($1)) }
  }

  /// A file of a batch whose host was not known when it was claimed.
  func hasTooMany(_ host: HostState) -> Bool {
    let most = isClosed(host) ? Self.probingFiles : HostShares.share(of: mostFiles, among: hostsInUse)
    return host.files >= most
  }

  func batches(ofHosts names: Set<String>) -> Set<BatchID> {
    names.isEmpty ? [] : Set(destinations.all.filter { names.contains($0.host.name) }.map(\.batch))
  }

  /// Files are ready that a claim would get.
  func hasClaimableFiles() throws(TransferError) -> Bool {
    let without = restingBatches.union(batches(ofHosts: fullHosts))
    return try engine.ledger.read { reader in try reader.hasReadyFiles(without: without) }
  }

  /// Sees which hosts there is work for, before any of it is claimed.
  func lookForHosts() {
    guard bootMs >= shares.nextLookMs else { return }
    let after = shares.lookedThrough
    do throws(TransferError) {
      let found = try engine.ledger.read { try $0.readyBatches(after: after, limit: HostShares.lookLimit) }
      let names = found.compactMap { batch in restingBatches.contains(batch) ? nil : hostName(of: batch) }
      shares.looked(Set(names), through: found.count < HostShares.lookLimit ? nil : found.last, nowMs: bootMs)
      scheduler.expect(hosts: shares.awaited)
      countHosts()
    } catch {
      fail(error)
    }
  }

  private func hostName(of batch: BatchID) -> String? {
    do throws(TransferError) {
      return try destination(of: batch).host.name
    } catch {
      if error.concernsOneBatch { block(batch, error) } else { fail(error) }
      return nil
    }
  }

  /// What was learned since the last time of hosts that answer, to be noted for the next run.
  func takeLearnedConcurrency() -> [(host: String, count: Int)] {
    guard engine.configuration.startsSlowly else { return [] }
    return destinations.hosts.compactMap { host in
      guard let limit = scheduler.gate(host: host.name)?.learnedLimit, limit != host.notedConcurrency else {
        return nil
      }
      host.notedConcurrency = limit
      return (host.name, limit)
    }
  }

  // MARK: - Closed hosts

  /// When a host may be asked again, in wall milliseconds, if that is so far off that its files had better wait in the
  /// ledger than in memory with their attempts open.
  func longClosed(_ host: String) -> Int64? {
    guard let gate = scheduler.gate(host: host), let opening = gate.opensAtMs(nowMs: bootMs),
      opening - bootMs > Self.longestHoldMs, !gate.isOpen
    else { return nil }
    return wallMs + opening - bootMs
  }

  /// Gives the files of hosts that stay closed for long (`Retry-After`) back to the ledger until then; those of hosts
  /// that refuse connections too, but for a few that find out when they take some again.
  func releaseClosed() {
    guard scheduler.hasClosedGate(nowMs: bootMs) else { return }
    for host in destinations.hosts where host.files > 0 {
      if let openingMs = longClosed(host.name) {
        for file in files(of: host) { letGo(file, notBeforeMs: openingMs) }
      } else if scheduler.gate(host: host.name)?.isOpen == true, host.files > Self.probingFiles {
        for file in files(of: host).dropFirst(Self.probingFiles) { letGo(file, notBeforeMs: nil) }
      }
    }
  }

  /// Those with a request that could go out come first.
  private func files(of host: HostState) -> [FileID] {
    let all = works.filter { $0.value.destination.host === host && $0.value.machine.ending == nil }
    let isReady = { (work: FileWork) in work.jobs.contains { self.jobs[$0]?.phase == .ready } }
    return all.filter { isReady($0.value) }.map(\.key) + all.filter { !isReady($0.value) }.map(\.key)
  }

  /// All that is left is for hosts that take no connections.
  func giveUpWhenUnreachable() {
    guard !isStopping else { return }
    let dead = scheduler.hopelessHosts(afterOpens: engine.configuration.breakerOpensBeforeGivingUp)
    guard !dead.isEmpty, destinations.hosts.allSatisfy({ $0.files == 0 || dead.contains($0.name) }),
      unreachable.takesLook(nowMs: bootMs, isIdle: commits.isIdle && !claims.isClaiming)
    else { return }
    do throws(TransferError) {
      guard try !hasWork(without: dead) else { return }
    } catch {
      return fail(error)
    }
    stopAsked(.drain)
    stop.end(for: .unreachable)
    tally.unreachable(dead)
  }

  /// Files of other hosts are ready, or will be while this run has patience.
  private func hasWork(without dead: Set<String>) throws(TransferError) -> Bool {
    let without = restingBatches.union(batches(ofHosts: dead))
    let lastMs = wallMs + engine.configuration.patienceMs
    return try engine.ledger.read { reader in
      if try reader.hasReadyFiles(without: without) { return true }
      return try reader.nextDueMs(without: without, countsAborts: false).map { $0 <= lastMs } ?? false
    }
  }
}
