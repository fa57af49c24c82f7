import TransferLedger
import TransferModel
import TransferProtocols

/// Performs a stop: releases unsent requests, ends requests that take too long, and releases every file. Used by the
/// engine's thread.
final class Shutdown {
  private let engine: Engine
  private let stop: RunStop
  private let tally: RunTally
  private let hosts: Hosts
  private let commits: Commits
  private let files: FilesInWork
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private let aborts: SessionAborts

  init(
    _ engine: Engine, stop: RunStop, tally: RunTally, hosts: Hosts, commits: Commits, files: FilesInWork,
    requests: Requests, outcomes: RequestOutcomes, aborts: SessionAborts
  ) {
    (self.engine, self.stop, self.tally, self.hosts, self.commits) = (engine, stop, tally, hosts, commits)
    (self.files, self.requests, self.outcomes, self.aborts) = (files, requests, outcomes, aborts)
  }

  /// A stop was requested.
  func ask(_ level: StopSignal.Level) {
    guard stop.ask(level), level == .drain else { return }
    hosts.measureAnew(inFlight: requests.bytesInFlightByHost())
    engine.observer.notice(.draining(requests: hosts.scheduler.sendingCount))
  }

  /// Only files for hosts that accept no connections are left: `hosts`.
  func giveUp(on dead: Set<String>) {
    ask(.drain)
    stop.end(for: .unreachable)
    tally.unreachable(dead)
  }

  /// The ledger cannot be written at the moment: no request begins, and running ones are waited for and recorded.
  func diskTroubled(_ error: TransferError) {
    guard stop.note(diskTrouble: error) else { return }
    engine.observer.notice(.diskTrouble(error, waitMs: engine.configuration.diskWaitMs))
    ask(.drain)
  }

  /// Continues a stop.
  func goOn() {
    if stop.sequence.leavesRows { return cancelSending() }
    for (id, pending) in requests.all where pending.phase == .ready { outcomes.interrupt(id, nil) }
    hosts.dropReady()
    for (id, work) in files.all {
      work.machine.end(.release(notBeforeMs: nil, nil, isFailure: false))
      // The remaining space is reserved for the results of requests.
      if stop.sequence.diskTrouble != nil && work.machine.openCount == 0 { files.forget(id) } else { files.advance(id) }
    }
    if stop.sequence.isOver(nowMs: engine.bootMs) { cancelSending() } else { makeRoom() }
    commits.writeGathered()
  }

  /// Interrupts bodies that cannot complete before the drain ends, so that others can. Otherwise, on a slow network,
  /// all parallel bodies would be interrupted.
  private func makeRoom() {
    guard stop.takesLook() else { return }
    let nowMs = engine.bootMs
    let out = requests.bytesInFlight()
    let sending = requests.all.values.filter { $0.phase == .sending && $0.range != nil }
    for (host, running) in Dictionary(grouping: sending, by: \.host) {
      let bodies = running.map { body($0, sent: out[$0.id] ?? 0) }
      let inFlight = running.reduce(0) { $0 + (out[$1.id] ?? 0) }
      guard let pace = hosts.scheduler.gate(host: host)?.line.bytesPerMs(inFlight: inFlight, nowMs: nowMs) else {
        continue
      }
      let leftMs = stop.sequence.leftMs(nowMs: nowMs)
      for id in DrainPlan.hopeless(bodies, bytesPerMs: pace, withinMs: leftMs) { requests[id]?.cancel() }
    }
  }

  private func body(_ pending: PendingRequest, sent: Int64) -> DrainPlan.Body {
    DrainPlan.Body(
      request: pending.id, left: max(0, (pending.range?.length ?? 0) - sent),
      mayBeCut: files[pending.file]?.machine.abilities.repeatable ?? false)
  }

  private func cancelSending() {
    for pending in requests.all.values where pending.phase == .sending && !mustEnd(pending) { pending.cancel() }
    aborts.cancel()
  }

  /// Its answer is needed although the run has ended.
  private func mustEnd(_ pending: PendingRequest) -> Bool {
    guard stop.sequence.awaitsUnrepeatable, let work = files[pending.file] else { return false }
    return work.machine.abilities.unrepeatable.contains(pending.step.step.operation)
  }
}
