import TransferLedger
import TransferModel

/// What follows a sleep of the machine: owner of the ``SleepWatch``. The time asleep counts for no limit of the run.
/// After half a minute the connections are probably dead, and nothing has reported it. So the running requests that may
/// be repeated end with a cause of their own, which does not count as a failure, and network backoffs are cut short:
/// the run continues at once over new connections. Used by the engine's thread.
final class WakeUp {
  /// Waiting files that one transaction examines.
  private static let filesAtOnce = 2_000

  private let engine: Engine
  private let stop: RunStop
  private let claims: Claims
  private let commits: Commits
  private let hosts: Hosts
  private let batches: Batches
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private let aborts: SessionAborts
  private let heartbeat: Heartbeat
  private var watch: SleepWatch

  init(
    _ engine: Engine, stop: RunStop, claims: Claims, commits: Commits, hosts: Hosts, batches: Batches,
    requests: Requests, outcomes: RequestOutcomes, aborts: SessionAborts, heartbeat: Heartbeat
  ) {
    (self.engine, self.stop, self.claims, self.commits) = (engine, stop, claims, commits)
    (self.hosts, self.batches, self.requests, self.outcomes) = (hosts, batches, requests, outcomes)
    (self.aborts, self.heartbeat) = (aborts, heartbeat)
    watch = SleepWatch(engine.clock)
  }

  /// Call before handling events, so that the errors of connections that died in a sleep are recognised.
  func look() {
    guard let sleep = watch.look(engine.clock) else { return }
    heartbeat.note(sleep)
    stop.slept(ms: sleep.lengthMs)
    hosts.slept(ms: sleep.lengthMs, inFlight: requests.bytesInFlightByHost())
    guard sleep.endsConnections else { return }
    hosts.forgetFailures()
    for transport in batches.transports { transport.dropConnections() }
    outcomes.endBySleep(ms: sleep.lengthMs)
    aborts.endBySleep()
    guard !stop.isStopping else { return }
    // What was decided before the sleep comes first.
    commits.writeGathered()
    endNetworkWaits(after: nil)
  }

  private func endNetworkWaits(after last: WaitingFile?) {
    let (run, limit) = (engine.run, Self.filesAtOnce)
    commits.write(
      { tx in try tx.endNetworkWaits(run, after: last, limit: limit) }, then: { .networkWaitsEnded($0) })
  }

  /// Of a part of the waiting files, those are due that wait for the network; the result is the last of the part.
  func networkWaitsEnded(_ result: Result<WaitingFile?, TransferError>) {
    commits.ended()
    switch result {
    case .failure(let error): stop.fail(error)
    case .success(let last):
      claims.wake()
      if let last, !stop.isStopping { endNetworkWaits(after: last) }
    }
  }
}
