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
      for unit in batch { commit([unit], isRepeat: true) }
      return true
    }
    guard let unit = batch.first, error.kind == .bug || refused.contains(unit.file) else { return false }
    beginning -= unit.requestCount
    works[unit.file]?.destination.requests -= unit.requestCount
    takeBack(unit)
    if refused.insert(unit.file).inserted { giveUp(unit, "the ledger refused a change: \(error.cause)") }
    return true
  }

  /// What was counted when the unit was made has not come true.
  private func takeBack(_ unit: FileUnit) {
    for change in unit.changes {
      switch change {
      case .complete: summary.done -= 1
      case .fail(let code, _, _):
        summary.failed -= 1
        if code == .integrityMismatch { summary.mismatched -= 1 }
      case .unknown: summary.unknown -= 1
      default: break
      }
    }
  }

  /// Nothing is done for the file any more; it ends in the ledger when its requests have.
  private func giveUp(_ unit: FileUnit, _ reason: String) {
    summary.failed += 1
    guard let work = works[unit.file] else { return abandon(unit.file, reason) }
    work.refusal = reason
    for id in scheduler.takeReady(where: work.jobs.contains) { drop(id) }
    for id in work.jobs where jobs[id]?.phase == .sending {
      work.destination.resolved.transport.cancel(ExchangeID(rawValue: id))
    }
    for id in work.jobs where jobs[id]?.inquiry?.held != nil { dropHeld(id) }
    endRefused(work)
  }

  /// A request of a refused file is over; nobody interprets what came of it.
  func drop(_ id: JobID) {
    guard let job = jobs.removeValue(forKey: id), let work = works[job.file] else { return }
    work.jobs.remove(id)
    work.destination.requests -= 1
    let undecided = takeUndecided(job)
    endRefused(work)
    for file in undecided { advance(file) }
  }

  /// Its reply came, and waited for a question that will not end any more.
  private func dropHeld(_ id: JobID) {
    if let job = jobs[id] { requestEnded(job, .interrupted) }
    drop(id)
  }

  private func endRefused(_ work: Work) {
    guard let reason = work.refusal, work.jobs.isEmpty else { return }
    let file = work.machine.claimed.id
    guard works.removeValue(forKey: file) != nil else { return }
    work.destination.files -= 1
    wakeIfBelowShare(work.destination)
    sessionSlots.release(file)
    waiting.remove(file)
    progress.needsCount()
    abandon(file, reason)
  }

  private func abandon(_ file: FileID, _ reason: String) {
    commits.writeBegan()
    let run = engine.run
    let mailbox = mailbox
    engine.ledger.write(
      { tx in try tx.abandonFile(file, run, message: reason) },
      then: { mailbox.put(.abandoned($0, file, reason: reason)) })
  }

  /// Where even that is refused, the file stays as it is: recovery tries again.
  func abandoned(_ result: Result<AbandonedFile, TransferError>, _ file: FileID, _ reason: String) {
    commits.writeEnded()
    if case .failure(let error) = result, error.kind != .bug { return fail(error) }
    let end = try? result.get()
    let path = end?.path ?? NameBytes(file.description)
    guard end?.state == .unknown else {
      return engine.observer.notice(.failed(path: path, Failure(.engineBug, reason)))
    }
    summary.failed -= 1
    summary.unknown += 1
    engine.observer.notice(.unknown(path: path, Failure(.engineBug, reason)))
  }
}

extension FileUnit {
  /// Requests that it begins, at most.
  var requestCount: Int { begin?.requestCount ?? 0 }
}
