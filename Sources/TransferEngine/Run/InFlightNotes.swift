import TransferLedger
import TransferModel

/// Publishes once a second, for other processes, how many bytes of running bodies were sent, and how fast. Used by the
/// engine's thread.
final class InFlightNotes {
  private let engine: Engine
  private let requests: Requests
  private let file: InFlightFile?
  private var nextMs: Int64 = 0
  /// The previous values: a request that has just ended has no counter any more, but its answer was not processed yet.
  private var last: [PendingRequest.ID: (count: Int64, rate: RecentRate)] = [:]

  init(_ engine: Engine, requests: Requests) {
    (self.engine, self.requests) = (engine, requests)
    file = engine.ledger.inFlightFile(engine.run)
  }

  func noteIfDue() {
    guard let file, engine.bootMs >= nextMs else { return }
    nextMs = engine.bootMs + InFlightFile.everyMs
    let counters = requests.isEmpty ? [:] : requests.bytesInFlight()
    var bodies: [AttemptID: InFlight] = [:]
    var now: [PendingRequest.ID: (count: Int64, rate: RecentRate)] = [:]
    for (id, pending) in requests.all where pending.isSendingBody {
      guard let count = counters[id] ?? last[id]?.count else { continue }
      let out = min(count - Int64(pending.prefixLength), pending.range?.length ?? 0)
      guard out > 0 else { continue }
      var rate = last[id]?.rate ?? RecentRate(startedMs: pending.sentMs > 0 ? pending.sentMs : engine.bootMs)
      rate.record(bytes: out, atMs: engine.bootMs)
      now[id] = (count, rate)
      bodies[pending.step.attempt] = InFlight(bytes: out, bytesPerSecond: rate.bytesPerSecond)
    }
    last = now
    file.note(bodies, bootMs: engine.bootMs)
  }

  /// Publishes that no request is running.
  func end() { file?.note([:], bootMs: engine.bootMs) }
}
