import TransferLedger
import TransferModel

/// Renews the run's lease, and records information for the next run with it. Used by the engine's thread.
final class Heartbeat {
  private static let everyMs: Int64 = 5_000

  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let hosts: Hosts
  private var nextMs: Int64 = 0
  /// A sleep that is not yet recorded.
  private var slept: MachineSleep?

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, hosts: Hosts) {
    (self.engine, self.mailbox, self.stop, self.hosts) = (engine, mailbox, stop, hosts)
  }

  /// The machine slept: recorded with the next heartbeat, which is due now.
  func note(_ sleep: MachineSleep) {
    slept = MachineSleep(lengthMs: (slept?.lengthMs ?? 0) + sleep.lengthMs)
    nextMs = engine.bootMs
  }

  func beatIfDue() {
    guard engine.bootMs >= nextMs else { return }
    nextMs = engine.bootMs + Self.everyMs
    let (run, mailbox) = (engine.run, mailbox)
    let (civilMs, bootMs, processorMs) = (engine.civilMs, engine.bootMs, engine.clock.processorMs)
    let slept = slept
    self.slept = nil
    let learned = hosts.takeLearnedConcurrency()
    engine.ledger.write(
      { tx in
        for (host, count) in learned { try tx.noteHost(host, requestsAtOnce: count, run) }
        _ = try tx.addUpAttempts()
        let beat = try tx.heartbeat(run, civilMs: civilMs, bootMs: bootMs, processorMs: processorMs)
        if let slept, beat == .applied { try tx.noteSleep(slept, run) }
        return beat
      }, then: { mailbox.put(.heartbeat($0)) })
  }

  /// The heartbeat was written, or failed.
  func ended(_ result: Result<TransitionResult, TransferError>) {
    switch result {
    case .success(.applied): break
    case .success(.lost):
      stop.fail(
        TransferError(
          .leaseLost, "keep the lease of run", NameBytes(engine.run.description),
          cause: "another engine took over", remedy: "nothing was lost; see \"transfers status\""))
    case .failure(let error): stop.fail(error)
    }
  }
}
