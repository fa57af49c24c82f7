import TransferLedger
import TransferModel

/// Batches that may not have all that the engine has: their rate, their requests at a time, their deadline.
extension EngineLoop {
  /// Deadlines that have passed since the last look, and those that were moved away.
  func noteDeadlines() {
    if let ends = batches.takeEnds() {
      hosts.setEnds(ends, inFlight: ends.isEmpty ? [:] : requests.bytesInFlightByHost())
    }
    guard let new = batches.takeOverdue() else { return }
    for batch in new { stopBeginning(batch) }
  }

  /// What runs is finished; everything else of the batch goes back to the ledger.
  private func stopBeginning(_ batch: BatchID) {
    for (file, work) in files.all where work.destination.batch == batch {
      outcomes.letGo(file, notBeforeMs: nil, .policyDeadline)
    }
    markOverdue(OverduePart(batch))
  }

  /// One part after the other, each a transaction of its own: others come between them.
  private func markOverdue(_ part: OverduePart) {
    commits.write({ tx in try tx.markOverdue(part) }, then: { .markedOverdue($0) })
  }

  func markedOverdue(_ result: Result<OverduePart, TransferError>) {
    commits.ended()
    switch result {
    case .failure(let error): fail(error)
    case .success(let part):
      if !part.isLast, !isStopping, batches.isOverdue(part.batch) { markOverdue(part) }
    }
  }

  /// Why a run that came to its end by itself leaves files.
  func whyLeft(_ left: WorkLeft) -> StopCause? {
    if left.files > 0 { return batches.hasOverdue ? .deadline : nil }
    return left.paused > 0 ? .paused : nil
  }
}
