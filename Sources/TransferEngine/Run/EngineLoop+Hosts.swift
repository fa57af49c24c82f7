import TransferLedger
import TransferModel

/// Files of hosts that take no requests.
extension EngineLoop {
  /// Gives the files of hosts that stay closed for long (`Retry-After`) back to the ledger until then; those of hosts
  /// that refuse connections too, but for a few that find out when they take some again.
  func releaseClosed() {
    guard hosts.scheduler.hasClosedGate(nowMs: bootMs) else { return }
    for host in hosts.all where host.files > 0 {
      if let openingMs = hosts.longClosed(host) {
        for file in files(of: host) { outcomes.letGo(file, notBeforeMs: openingMs) }
      } else if hosts.gate(host)?.isOpen == true, host.files > HostRoom.probingFiles {
        for file in files(of: host).dropFirst(HostRoom.probingFiles) { outcomes.letGo(file, notBeforeMs: nil) }
      }
    }
  }

  /// Those with a request that could go out come first.
  private func files(of host: HostState) -> [FileID] {
    let all = files.all.filter { $0.value.destination.host === host && $0.value.machine.ending == nil }
    let isReady = { (work: FileWork) in work.jobs.contains { self.requests[$0]?.phase == .ready } }
    return all.filter { isReady($0.value) }.map(\.key) + all.filter { !isReady($0.value) }.map(\.key)
  }

  /// All that is left is for hosts that take no connections.
  func giveUpWhenUnreachable() {
    guard !isStopping else { return }
    let dead = hosts.scheduler.hopelessHosts(afterOpens: engine.configuration.breakerOpensBeforeGivingUp)
    guard !dead.isEmpty, hosts.all.allSatisfy({ $0.files == 0 || dead.contains($0.name) }),
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
    let without = batches.resting.union(batches.batches(ofHosts: dead))
    let lastMs = wallMs + engine.configuration.patienceMs
    return try engine.ledger.read { reader in
      if try reader.hasReadyFiles(without: without) { return true }
      return try reader.nextDueMs(without: without, countsAborts: false).map { $0 <= lastMs } ?? false
    }
  }
}
