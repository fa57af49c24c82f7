import TransferLedger
import TransferModel
import TransferProtocols

/// What people ask while the engine runs. It looks at the rows rather than being told: whoever writes them needs to
/// know nothing of the engine, and a wish is as durable as everything else. The ledger honours a wish in the
/// transaction that releases the file, so all that is left to do here is to let go.
extension EngineLoop {
  /// A quarter of the second within which everything that was asked takes effect.
  static let controlPeriodMs: Int64 = 250

  func obeyPeople() {
    guard bootMs >= nextControlMs else { return }
    nextControlMs = bootMs + Self.controlPeriodMs
    guard stop.sequence.fatal == nil else { return }
    do throws(TransferError) {
      let nowMs = wallMs
      obey(try engine.ledger.read { reader in try reader.controlState(nowMs: nowMs) })
    } catch {
      fail(error)
    }
  }

  private func obey(_ state: ControlState) {
    for (file, wish) in state.wishes { obey(wish, file) }
    for destination in batches.take(state.limits) {
      batches.hold(
        destination, sending: requests.sendingCount(of: destination))
    }
    noteDeadlines()
    // At the end of a run the passes are counted; here the work keeps it alive anyway.
    if state.hasDueAborts, stop.sequence.wish == nil, !files.isEmpty, aborts.isIdle {
      aborts.beginPass(counts: false)
    }
  }

  private func obey(_ wish: Wish, _ file: FileID) {
    guard let work = files[file], work.wish != wish else { return }
    work.wish = wish
    outcomes.letGo(file, notBeforeMs: nil)
    guard files[file] != nil else { return }
    let transport = work.destination.resolved.transport
    for id in work.jobs {
      guard let job = requests[id], job.phase == .sending, job.mayBeCut(by: wish, work.machine.abilities) else {
        continue
      }
      transport.cancel(ExchangeID(rawValue: id))
    }
  }
}
