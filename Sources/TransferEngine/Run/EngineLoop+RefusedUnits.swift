import TransferLedger
import TransferModel

/// What the rules of the ledger refuse concerns one file. The units of a write that was refused are applied again one
/// by one; the file of one that is refused again fails with the reason, and the others go on.
extension EngineLoop {
  /// Whether the failure of a write is that of a unit, and was dealt with.
  func refusesUnits(_ error: TransferError, _ batch: [FileUnit], isRepeat: Bool) -> Bool {
    guard error.kind == .bug || error.kind == .leaseLost, !batch.isEmpty else { return false }
    guard isRepeat else {
      // Also one that is alone: what it builds on may be among those that were refused, and comes first now.
      for unit in batch { commits.write([unit], isRepeat: true) }
      return true
    }
    guard let unit = batch.first, error.kind == .bug || refused.contains(unit.file) else { return false }
    files[unit.file]?.destination.requests -= unit.requestCount
    tally.takeBack(unit)
    if refused.insert(unit.file).inserted { giveUp(unit, "the ledger refused a change: \(error.cause)") }
    return true
  }

  /// Nothing is done for the file any more; it ends in the ledger when its requests have.
  private func giveUp(_ unit: FileUnit, _ reason: String) {
    tally.refused()
    guard let work = files[unit.file] else { return files.abandon(unit.file, reason) }
    work.refusal = reason
    for id in hosts.takeReady(where: work.jobs.contains) { drop(id) }
    for id in work.jobs where jobs[id]?.phase == .sending {
      work.destination.resolved.transport.cancel(ExchangeID(rawValue: id))
    }
    for id in work.jobs where jobs[id]?.inquiry?.held != nil { dropHeld(id) }
    files.endRefused(work)
  }

  /// A request of a refused file is over; nobody interprets what came of it.
  func drop(_ id: JobID) {
    guard let job = jobs.removeValue(forKey: id), let work = files[job.file] else { return }
    work.jobs.remove(id)
    work.destination.requests -= 1
    let undecided = job.destination.takeUndecided(after: job.step.step)
    files.endRefused(work)
    for file in undecided { files.advance(file) }
  }

  /// Its reply came, and waited for a question that will not end any more.
  private func dropHeld(_ id: JobID) {
    if let job = jobs[id] { requestEnded(job, .interrupted) }
    drop(id)
  }

  /// Where even that is refused, the file stays as it is: recovery tries again.
  func abandoned(_ result: Result<AbandonedFile, TransferError>, _ file: FileID, _ reason: String) {
    commits.ended()
    if case .failure(let error) = result, error.kind != .bug { return fail(error) }
    tally.abandoned(try? result.get(), file, reason: reason)
  }
}
