import TransferLedger
import TransferModel

/// Files of hosts that accept no requests: they are released to the ledger, and wait there; the run ends when nothing
/// else is left. Owner of the ``UnreachableWatch``. Used by the engine's thread.
final class ClosedHosts {
  /// Files that one transaction postpones.
  private static let postponedAtOnce = 2_000

  private let engine: Engine
  private let stop: RunStop
  private let patience: RunPatience
  private let claims: Claims
  private let hosts: Hosts
  private let batches: Batches
  private let commits: Commits
  private let files: FilesInWork
  private let intake: FileIntake
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private var watch = UnreachableWatch()
  /// The hosts of batches that may have no destination in this run; nil where it could not be determined.
  private var others: [BatchID: String?] = [:]
  /// Transactions that postponed files.
  private var postponements: Int64 = 0

  init(
    _ engine: Engine, stop: RunStop, patience: RunPatience, claims: Claims, hosts: Hosts, batches: Batches,
    commits: Commits, files: FilesInWork, intake: FileIntake, requests: Requests, outcomes: RequestOutcomes
  ) {
    (self.engine, self.stop, self.patience, self.claims) = (engine, stop, patience, claims)
    (self.hosts, self.batches) = (hosts, batches)
    (self.commits, self.files, self.intake) = (commits, files, intake)
    (self.requests, self.outcomes) = (requests, outcomes)
  }

  /// Releases the files of hosts that stay closed for long (`Retry-After`) to the ledger until then. Also releases
  /// files of hosts that refuse connections, except a few that probe whether connections are accepted again.
  func release() {
    guard hosts.scheduler.hasClosedGate(nowMs: engine.bootMs) else { return }
    for host in hosts.all where host.files > 0 {
      if let openingMs = hosts.longClosed(host) {
        for file in files(of: host) { outcomes.release(file, notBeforeMs: openingMs) }
      } else if hosts.gate(host)?.isOpen == true, host.files > HostRoom.probingFiles {
        for file in files(of: host).dropFirst(HostRoom.probingFiles) { outcomes.release(file, notBeforeMs: nil) }
      }
    }
  }

  /// Files with a request that is ready to be sent come first. Without files that no longer need the server: they are
  /// being placed, or their chunks are being read for that.
  private func files(of host: HostState) -> [FileID] {
    let all = files.all.filter { _, work in
      work.destination.host === host && work.machine.ending == nil
        && !work.machine.needsNoServer(work.destination.resolved.transferProtocol)
    }
    let isReady = { [requests] (work: FileWork) in work.requests.contains { requests[$0]?.phase == .ready } }
    return all.filter { isReady($0.value) }.map(\.key) + all.filter { !isReady($0.value) }.map(\.key)
  }

  /// The hosts that accept no connections, if only their files are left; nil otherwise.
  func allThatIsLeft() -> Set<String>? {
    guard !stop.isStopping, !hosts.scheduler.hopelessHosts(afterOpens: 1).isEmpty else { return nil }
    do throws(TransferError) {
      try patience.look()
    } catch {
      stop.fail(error)
      return nil
    }
    let dead = hosts.scheduler.hopelessHosts(afterOpens: patience.opensBeforeGivingUp)
    guard !dead.isEmpty, !files.isPlacing, hosts.all.allSatisfy({ $0.files == 0 || dead.contains($0.name) }),
      watch.takesLook(nowMs: engine.bootMs, isIdle: commits.isIdle && !claims.isClaiming)
    else { return nil }
    do throws(TransferError) {
      return try hasWork(without: dead) ? nil : dead
    } catch {
      stop.fail(error)
      return nil
    }
  }

  /// Whether files of other hosts are ready, or will be within the patience of this run.
  private func hasWork(without dead: Set<String>) throws(TransferError) -> Bool {
    let without = batches.resting.union(batches.batches(ofHosts: dead.union(hosts.closed(beyondMs: patience.ms).keys)))
    let lastMs = engine.wallMs + patience.ms
    let (fetched, leftOut) = (intake.fetched, batches.sizesLeftOut)
    return try engine.ledger.read { reader in
      if try reader.hasReadyFiles(without: without, leftOut: leftOut) || reader.hasFetchedFiles(fetched) { return true }
      return try reader.nextDueMs(without: without, countsAborts: false).map { $0 <= lastMs } ?? false
    }
  }

  // MARK: - Postponing

  /// Postpones the ready files of hosts that stay closed for longer than this run waits, so that no other run sends
  /// requests before the pause is over; files that were never claimed as well. Called before a run ends, for whatever
  /// reason. Postpones nothing when the time of a drain is over, or while the ledger's disk cannot be written.
  /// Excludes batches with a file that only has to be placed, because that must not wait for the server. Batches that
  /// rest in this run for another reason are included, because another run may begin them; overdue ones, which no run
  /// begins, are not.
  /// - Returns: whether a part is being written; there may be more.
  func postpone() throws(TransferError) -> Bool {
    let opening = hosts.closed(beyondMs: patience.ms)
    guard !opening.isEmpty, !stop.sequence.isOver(nowMs: engine.bootMs), stop.sequence.diskTrouble == nil else {
      return false
    }
    try lookAtOthers()
    let known = batches.all.map { ($0.batch, Optional($0.host.name)) }
    let due = others.merging(known) { $1 }.compactMapValues { $0.flatMap { opening[$0] } }
      .filter { !batches.isOverdue($0.key) }
    let except = intake.fetched.except
    let ready = try engine.ledger.read { reader in
      try reader.readyBatches(among: Set(due.keys)).filter { batch in
        try !reader.hasFetchedFiles(FetchedFiles(of: [batch], except: except))
      }
    }
    guard !ready.isEmpty else { return false }
    // Behind the files that were released.
    postponements += 1
    let (run, number, limit) = (engine.run, postponements, Self.postponedAtOnce)
    commits.write(
      { tx in try tx.postponeFiles(run, until: due.filter { ready.contains($0.key) }, number: number, limit: limit) },
      then: { .postponed($0) })
    return true
  }

  /// Learns the hosts of batches with ready files that this run has not looked at, each once: the run may end before it
  /// has begun all. A batch whose host cannot be determined is left to the next run, which says why.
  private func lookAtOthers() throws(TransferError) {
    var last = BatchID(rawValue: 0)
    while true {
      let found = try engine.ledger.read { [last] in try $0.readyBatches(after: last, limit: HostShares.lookLimit) }
      for batch in found where batches.blocked[batch] == nil && others[batch] == nil {
        do throws(TransferError) {
          others[batch] = .some(try batches.hostName(of: batch))
        } catch {
          guard error.concernsOneBatch else { throw error }
          others[batch] = .some(nil)
        }
      }
      guard found.count == HostShares.lookLimit, let final = found.last else { return }
      last = final
    }
  }

  /// A part was postponed.
  func postponed(_ result: Result<Int, TransferError>) {
    commits.ended()
    if case .failure(let error) = result { stop.fail(error) }
  }
}
