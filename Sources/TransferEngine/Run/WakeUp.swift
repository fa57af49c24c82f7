import TransferLedger
import TransferModel

/// What follows a sleep of the machine: owner of the ``SleepWatch``. The connections are probably dead, and nothing has
/// reported it. So running requests end with a cause of their own, which is no failure, everything that waits because
/// of the network continues at once, over new connections, and the time asleep counts for no limit of the run. Used by
/// the engine's thread.
final class WakeUp {
  /// Waiting files that one transaction makes due.
  private static let filesAtOnce = 2_000

  private let engine: Engine
  private let stop: RunStop
  private let claims: Claims
  private let commits: Commits
  private let hosts: Hosts
  private let batches: Batches
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private let heartbeat: Heartbeat
  private var watch: SleepWatch

  init(
    _ engine: Engine, stop: RunStop, claims: Claims, commits: Commits, hosts: Hosts, batches: Batches,
    requests: Requests, outcomes: RequestOutcomes, heartbeat: Heartbeat
  ) {
    (self.engine, self.stop, self.claims, self.commits) = (engine, stop, claims, commits)
    (self.hosts, self.batches, self.requests, self.outcomes) = (hosts, batches, requests, outcomes)
    self.heartbeat = heartbeat
    watch = SleepWatch(engine.clock)
  }

  /// Call before handling events, so that the errors of connections that died in a sleep are recognised.
  func look() {
    guard let sleep = watch.look(engine.clock) else { return }
    heartbeat.note(sleep)
    hosts.slept(ms: sleep.lengthMs, inFlight: requests.bytesInFlightByHost())
    for transport in batches.transports { transport.dropConnections() }
    outcomes.endBySleep()
    guard !stop.isStopping else { return }
    // What was decided before the sleep comes first.
    commits.writeGathered()
    endNetworkWaits()
  }

  private func endNetworkWaits() {
    let (run, limit) = (engine.run, Self.filesAtOnce)
    commits.write({ tx in try tx.endNetworkWaits(run, limit: limit) }, then: { .networkWaitsEnded($0) })
  }

  /// A part of the waiting files is due.
  func networkWaitsEnded(_ result: Result<Int, TransferError>) {
    commits.ended()
    switch result {
    case .failure(let error): stop.fail(error)
    case .success(let count):
      claims.wake()
      if count == Self.filesAtOnce, !stop.isStopping { endNetworkWaits() }
    }
  }
}
