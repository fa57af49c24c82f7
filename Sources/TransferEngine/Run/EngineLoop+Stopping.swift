import TransferLedger
import TransferModel
import TransferProtocols

extension EngineLoop {
  func stopAsked(_ wish: StopSignal.Wish) {
    guard stop.ask(wish), wish == .drain else { return }
    hosts.measureAnew(inFlight: requests.bytesInFlightByHost())
    engine.observer.notice(.draining(requests: hosts.scheduler.sendingCount))
  }

  /// The ledger cannot be written at the moment: nothing new begins, and what was sent is waited for and recorded.
  func diskTroubled(_ error: TransferError) {
    guard stop.note(diskTrouble: error) else { return }
    engine.observer.notice(.diskTrouble(error, waitMs: engine.configuration.diskWaitMs))
    stopAsked(.drain)
  }

  /// Moves a stop forward: gives back what was not sent, ends what runs too long, lets every file go.
  func keepStopping() {
    if stop.sequence.leavesRows { return cancelSending() }
    for (id, job) in requests.all where job.phase == .ready { outcomes.interrupt(id, nil) }
    hosts.dropReady()
    for (id, work) in files.all {
      work.machine.end(.requeue(notBeforeMs: nil, nil, isFailure: false))
      // What little space there is belongs to the ends of requests.
      if stop.sequence.diskTrouble != nil && work.machine.openCount == 0 { files.forget(id) } else { files.advance(id) }
    }
    if stop.sequence.isOver(nowMs: bootMs) { cancelSending() } else { makeRoom() }
    commits.writeGathered()
  }

  /// Ends bodies that cannot end before the drain does, so that others can: side by side on a slow line all would be
  /// cut off.
  private func makeRoom() {
    guard stop.takesLook() else { return }
    let out = requests.bytesInFlight()
    let sending = requests.all.filter { $0.value.phase == .sending && $0.value.range != nil }
    for (host, ofHost) in Dictionary(grouping: sending, by: { $0.value.host }) {
      let bodies = ofHost.map { id, job in
        let length = job.range?.length ?? 0
        let abilities = files[job.file]?.machine.abilities
        return DrainPlan.Body(
          job: id, left: max(0, length - (out[id] ?? 0)), mayBeCut: abilities?.repeatable ?? false)
      }
      let inFlight = bodies.reduce(0) { $0 + (out[$1.job] ?? 0) }
      guard let pace = hosts.scheduler.gate(host: host)?.line.bytesPerMs(inFlight: inFlight, nowMs: bootMs) else {
        continue
      }
      for id in DrainPlan.hopeless(bodies, bytesPerMs: pace, withinMs: stop.sequence.leftMs(nowMs: bootMs)) {
        guard let job = requests[id] else { continue }
        job.destination.resolved.transport.cancel(ExchangeID(rawValue: id))
      }
    }
  }

  func cancelSending() {
    for (id, job) in requests.all where job.phase == .sending && !mustEnd(job) {
      guard let work = files[job.file] else { continue }
      work.destination.resolved.transport.cancel(ExchangeID(rawValue: id))
    }
    aborts.cancel()
  }
}

extension EngineLoop {
  /// Its answer is worth waiting for although the run is over.
  private func mustEnd(_ job: Job) -> Bool {
    guard stop.sequence.awaitsUnrepeatable, let work = files[job.file] else { return false }
    return work.machine.abilities.unrepeatable.contains(job.step.step.operation)
  }
}
