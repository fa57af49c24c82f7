import TransferLedger
import TransferModel
import TransferProtocols

/// Applies control requests for files and batches while the engine runs. It polls the rows instead of being notified:
/// writers need to know nothing of the engine, and a request is as durable as everything else. The ledger applies a
/// request in the transaction that releases the file, so this class only has to release files. Used by the engine's
/// thread.
final class ControlRequests {
  /// A quarter of the second within which every request must take effect.
  private static let everyMs: Int64 = 250

  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let batches: Batches
  private let commits: Commits
  private let files: FilesInWork
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private let aborts: SessionAborts
  /// When the rows are polled again, by the boot clock.
  private(set) var nextMs: Int64 = 0

  init(
    _ engine: Engine, stop: RunStop, hosts: Hosts, batches: Batches, commits: Commits, files: FilesInWork,
    requests: Requests, outcomes: RequestOutcomes, aborts: SessionAborts
  ) {
    (self.engine, self.stop, self.hosts, self.batches, self.commits) = (engine, stop, hosts, batches, commits)
    (self.files, self.requests, self.outcomes, self.aborts) = (files, requests, outcomes, aborts)
  }

  func applyIfDue() {
    guard engine.bootMs >= nextMs else { return }
    nextMs = engine.bootMs + Self.everyMs
    guard stop.sequence.fatal == nil else { return }
    do throws(TransferError) {
      let nowMs = engine.wallMs
      apply(try engine.ledger.read { reader in try reader.controlState(nowMs: nowMs) })
    } catch {
      stop.fail(error)
    }
  }

  private func apply(_ state: ControlState) {
    for (file, requestedAction) in state.requestedActions { apply(requestedAction, file) }
    for destination in batches.take(state.limits) {
      batches.hold(destination, sending: requests.sendingCount(of: destination))
    }
    noteDeadlines()
    // Abort passes are limited at the end of a run; here files keep the run alive anyway.
    if state.hasDueAborts, stop.sequence.level == nil, !files.isEmpty, aborts.isIdle {
      aborts.beginPass(counts: false)
    }
  }

  private func apply(_ requestedAction: RequestedAction, _ file: FileID) {
    guard let work = files[file], work.requestedAction != requestedAction else { return }
    work.requestedAction = requestedAction
    outcomes.release(file, notBeforeMs: nil)
    guard files[file] != nil else { return }
    for id in work.requests {
      guard let pending = requests[id], pending.phase == .sending,
        pending.mayBeCut(by: requestedAction, work.machine.abilities)
      else {
        continue
      }
      pending.cancel()
    }
  }

  // MARK: - Deadlines

  /// Applies deadlines that have passed since the last check, and those that were postponed. Running requests are
  /// finished; all other files of the batch are released to the ledger.
  private func noteDeadlines() {
    let ends = batches.takeEnds() ?? (hosts.scheduler.hasEnd ? [:] : nil)
    if let ends {
      hosts.setEnds(ends, inFlight: ends.isEmpty && !hosts.scheduler.hasEnd ? [:] : requests.bytesInFlightByHost())
    }
    for batch in batches.takeOverdue() ?? [] {
      outcomes.release(batch, .policyDeadline)
      markOverdue(OverduePart(batch))
    }
  }

  /// Marks one part after the other, each in its own transaction, so that other writes can run in between.
  private func markOverdue(_ part: OverduePart) {
    commits.write({ tx in try tx.markOverdue(part) }, then: { .markedOverdue($0) })
  }

  /// A part of the files of an overdue batch was marked.
  func markedOverdue(_ result: Result<OverduePart, TransferError>) {
    commits.ended()
    switch result {
    case .failure(let error): stop.fail(error)
    case .success(let part):
      if !part.isLast, !stop.isStopping, batches.isOverdue(part.batch) { markOverdue(part) }
    }
  }
}
