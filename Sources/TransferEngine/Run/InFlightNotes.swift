import TransferLedger
import TransferModel

/// Publishes once a second, for other processes, how many bytes of running bodies were sent. Used by the engine's
/// thread.
final class InFlightNotes {
  private let engine: Engine
  private let requests: Requests
  private let file: InFlightFile?
  private var nextMs: Int64 = 0
  /// The previous values: a request that has just ended has no counter any more, but its answer was not processed yet.
  private var last: [Job.ID: Int64] = [:]

  init(_ engine: Engine, requests: Requests) {
    (self.engine, self.requests) = (engine, requests)
    file = engine.ledger.inFlightFile(engine.run)
  }

  func noteIfDue() {
    guard let file, engine.bootMs >= nextMs else { return }
    nextMs = engine.bootMs + InFlightFile.everyMs
    let counters = requests.isEmpty ? [:] : requests.bytesInFlight()
    var bytes: [AttemptID: Int64] = [:]
    var now: [Job.ID: Int64] = [:]
    for (id, job) in requests.all where job.isSendingBody {
      let out = min((counters[id] ?? last[id] ?? 0) - Int64(job.prefixLength), job.range?.length ?? 0)
      guard out > 0 else { continue }
      (now[id], bytes[job.step.attempt]) = (counters[id] ?? last[id], out)
    }
    last = now
    file.note(bytes, bootMs: engine.bootMs)
  }

  /// Publishes that no request is running.
  func end() { file?.note([:], bootMs: engine.bootMs) }
}
