import TransferLedger
import TransferModel
import TransferProtocols

extension EngineLoop {
  func stopAsked(_ new: StopSignal.Wish) {
    if let wish, wish.rawValue >= new.rawValue { return }
    wish = new
    summary.stop = new == .drain ? .drained : .interrupted
    if new == .drain {
      drainEndsMs = bootMs + engine.configuration.drainMs
      engine.observer.notice(.draining(requests: scheduler.sendingCount))
    } else {
      drainEndsMs = bootMs
    }
  }

  /// Moves a stop forward: gives back what was not sent, ends what runs too long, lets every file go.
  func keepStopping() {
    if let fatal, !fatal.leavesLedgerUsable { return cancelSending() }
    for (id, job) in jobs where job.phase == .ready { interrupt(id, nil) }
    _ = scheduler.takeAllReady()
    for (id, work) in works {
      work.machine.end(.requeue(notBeforeMs: nil, nil, isFailure: false))
      advance(id)
    }
    if bootMs >= drainEndsMs { cancelSending() }
    commitUnits()
  }

  func cancelSending() {
    for (id, job) in jobs where job.phase == .sending {
      guard let work = works[job.file] else { continue }
      work.destination.resolved.transport.cancel(ExchangeID(rawValue: id))
    }
    for (id, abort) in abortsRunning {
      destinations[abort.work.batch]?.resolved.transport.cancel(ExchangeID(rawValue: id))
    }
  }
}

extension TransferError {
  /// The rows can still be put in order before the run ends.
  var leavesLedgerUsable: Bool {
    switch kind {
    case .auth, .config, .usage, .noSource, .badList, .interrupted: true
    case .bug, .locked, .storeMissing, .storeCorrupt, .storeNewer, .storeReadOnly, .storeFull, .storeBusy,
      .storeUnsuitable, .storeIO, .leaseLost:
      false
    }
  }
}
