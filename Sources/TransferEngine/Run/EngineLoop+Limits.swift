import TransferLedger
import TransferModel

/// Batches that may not have all that the engine has: their rate, their requests at a time, their deadline.
extension EngineLoop {
  /// Begun requests of a batch for each that it may have at a time: enough that its share is never idle.
  static let aheadOfShare = 6

  /// Batches whose files are not begun in this run, or not any more.
  var restingBatches: Set<BatchID> { holds.overdue.union(destinations.blocked.keys) }

  /// Batches that have enough files in work for their share: others are claimed before more of theirs.
  var heldBatches: [BatchID] { sharing.filter { $0.files >= Self.filesAhead($0) }.map(\.batch) }

  private static func filesAhead(_ destination: BatchDestination) -> Int {
    (destination.share ?? .max / aheadOfShare) * aheadOfShare
  }

  /// A claim that came back empty because the batch was held back says nothing any more.
  func wakeIfBelowShare(_ destination: BatchDestination) {
    if destination.share != nil, destination.files == Self.filesAhead(destination) - 1 {
      claims.wake()
    }
  }

  /// Requests that no connection may have yet because their batches have their share: no reason to begin fewer of
  /// others.
  func heldCount(_ host: HostState) -> Int {
    sharing.isEmpty
      ? 0 : sharing.reduce(0) { $1.host === host ? $0 + max(0, $1.requests - ($1.share ?? .max)) : $0 }
  }

  /// Batches whose first file is still to come get theirs with their destination.
  func hold(_ destination: BatchDestination, to limits: BatchLimits?) {
    if destination.rate != limits?.rate {
      destination.rate = limits?.rate
      let group = RateGroup(rawValue: destination.batch.rawValue)
      destination.resolved.transport.setRate(bytesPerSecond: limits?.rate, of: group)
    }
    let share = limits?.workers.flatMap { $0 < engine.configuration.workers ? $0 : nil }
    guard share != destination.share else { return }
    destination.share = share
    let sending = jobs.values.count { $0.phase == .sending && $0.destination === destination }
    claims.wake()
    scheduler.setLimit(share, of: destination.batch, sending: sending)
    sharing.removeAll { $0 === destination }
    if share != nil { sharing.append(destination) }
  }

  /// Deadlines that have passed since the last look, and those that were moved away.
  func noteDeadlines() {
    if let ends = holds.takeEnds(civilMs: civilMs, bootMs: bootMs) {
      scheduler.setEnds(ends, inFlight: ends.isEmpty ? [:] : bytesOut(), nowMs: bootMs)
    }
    guard let new = holds.takeOverdue(civilMs: civilMs) else { return }
    claims.wake()
    for batch in new { stopBeginning(batch) }
  }

  /// Body bytes that are out of what runs, by host.
  func bytesOut() -> [String: Int64] {
    var sums: [String: Int64] = [:]
    for (id, bytes) in counters() {
      if let job = jobs[id], job.range != nil { sums[job.host, default: 0] += bytes }
    }
    return sums
  }

  /// What runs is finished; everything else of the batch goes back to the ledger.
  private func stopBeginning(_ batch: BatchID) {
    for (file, work) in works where work.destination.batch == batch { letGo(file, notBeforeMs: nil, .policyDeadline) }
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
      if !part.isLast, !isStopping, holds.overdue.contains(part.batch) { markOverdue(part) }
    }
  }

  /// Why a run that came to its end by itself leaves files.
  func whyLeft(_ left: WorkLeft) -> StopCause? {
    if left.files > 0 { return holds.overdue.isEmpty ? nil : .deadline }
    return left.paused > 0 ? .paused : nil
  }
}
