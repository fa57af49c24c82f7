import TransferLedger
import TransferModel

/// Handles refused changes, each of which affects one file. The units of a refused write are applied again
/// individually. The file of a unit that is refused again fails with the reason, and the others continue. Used by the
/// engine's thread.
final class RefusedUnits {
  private let stop: RunStop
  private let tally: RunTally
  private let hosts: Hosts
  private let commits: Commits
  private let files: FilesInWork
  private let requests: Requests
  private let outcomes: RequestOutcomes
  /// Files with a refused change.
  private var refused: Set<FileID> = []
  /// Files whose failure the ledger refused as well, with its reason.
  private(set) var unrecorded: [FileID: String] = [:]

  init(
    stop: RunStop, tally: RunTally, hosts: Hosts, commits: Commits, files: FilesInWork, requests: Requests,
    outcomes: RequestOutcomes
  ) {
    (self.stop, self.tally, self.hosts, self.commits) = (stop, tally, hosts, commits)
    (self.files, self.requests, self.outcomes) = (files, requests, outcomes)
  }

  /// A write of these units failed. An error that is not caused by a unit ends the run.
  func failed(_ error: TransferError, _ units: [FileUnit], isRepeat: Bool) {
    if !isOfUnit(error, units, isRepeat: isRepeat) { stop.fail(error) }
  }

  /// Whether a failed write was caused by a unit, and was handled.
  private func isOfUnit(_ error: TransferError, _ units: [FileUnit], isRepeat: Bool) -> Bool {
    guard error.kind == .bug, !units.isEmpty else { return false }
    guard isRepeat else {
      // This includes a single unit: it may depend on one of the refused units, which is now applied before it.
      for unit in units { commits.write([unit], isRepeat: true) }
      return true
    }
    guard let unit = units.first else { return false }
    files[unit.file]?.destination.requests -= unit.requestCount
    tally.takeBack(unit)
    if refused.insert(unit.file).inserted { giveUp(unit.file, "the ledger refused a change: \(error.cause)") }
    return true
  }

  /// Stops all work for the file; it ends in the ledger after its requests have ended.
  private func giveUp(_ file: FileID, _ reason: String) {
    tally.refused()
    guard let work = files[file] else { return files.abandon(file, reason) }
    work.refusal = reason
    for id in hosts.takeReady(where: work.requests.contains) { outcomes.drop(id) }
    for id in work.requests {
      if let pending = requests[id], pending.phase == .sending { pending.cancel() }
    }
    for id in work.requests where requests[id]?.inquiry?.held != nil { dropHeld(id) }
    files.endRefused(work)
  }

  /// Drops a reply that waits for a query that will never end.
  private func dropHeld(_ id: PendingRequest.ID) {
    if let pending = requests[id] { outcomes.connectionIsFree(pending, .interrupted) }
    outcomes.drop(id)
  }

  /// A refused file has ended in the ledger. If even that was refused, it stays as it is for recovery.
  func abandoned(_ result: Result<AbandonedFile, TransferError>, _ file: FileID, reason: String) {
    commits.ended()
    if case .failure(let error) = result {
      guard error.kind == .bug else { return stop.fail(error) }
      unrecorded[file] = error.cause
    }
    tally.abandoned(try? result.get(), file, reason: reason)
  }
}
