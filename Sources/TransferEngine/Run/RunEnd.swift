import TransferLedger
import TransferModel

/// Decides when a run is finished, and why it leaves files; begins what must still be done before. Used by the
/// engine's thread.
final class RunEnd {
  /// The parts of the run that it queries, and makes continue.
  struct Parts {
    let stop: RunStop
    let claims: Claims
    let commits: Commits
    let batches: Batches
    let room: HostRoom
    let files: FilesInWork
    let intake: FileIntake
    let requests: Requests
    let aborts: SessionAborts
    let closed: ClosedHosts
    let upkeep: SourceUpkeep
    let limits: RunLimits
    let patience: RunPatience
  }

  private let engine: Engine
  private let parts: Parts

  init(_ engine: Engine, _ parts: Parts) { (self.engine, self.parts) = (engine, parts) }

  /// Nothing is running that could still post events.
  var isQuiet: Bool {
    parts.requests.areAllReady && parts.aborts.isQuiet && !parts.commits.isWriting && !parts.claims.isClaiming
      && parts.upkeep.isQuiet
  }

  /// Whether the run is finished. If work is left that nobody has begun, this wakes the claims or begins a pass over
  /// the uploads to be aborted. Before a run ends, for whatever reason, the files of hosts that pause are postponed.
  func isReached() throws(TransferError) -> Bool {
    guard try hasNothingToDo() else { return false }
    return try !parts.closed.postpone()
  }

  private func hasNothingToDo() throws(TransferError) -> Bool {
    let (aborts, stop) = (parts.aborts, parts.stop)
    guard parts.files.isEmpty, parts.requests.isEmpty, parts.commits.isEmpty, aborts.isIdle, isQuiet else {
      return false
    }
    if stop.sequence.level != nil || !engine.configuration.claimsFiles { return true }
    guard parts.claims.nextMs > engine.wallMs else { return false }
    try parts.patience.look()
    return try isNothingLeft(try outlook())
  }

  /// What the ledger has for this run.
  private struct Outlook {
    var left: (files: Bool, aborts: Bool)
    /// Files may be begun now.
    var isReady: Bool
    /// Completely fetched files may be placed now.
    var isFetched: Bool
    /// When the next file or session is due; nil for none.
    var nextFileMs: Int64?
    var nextAbortMs: Int64?
  }

  private func outlook() throws(TransferError) -> Outlook {
    let without = parts.batches.resting
    // An abort that failed this often waits for another run; its retry time must not keep this one alive.
    let countsAborts = parts.aborts.hasPassesLeft
    let (fetched, leftOut) = (parts.intake.fetched, parts.batches.sizesLeftOut)
    return try engine.ledger.read { reader in
      Outlook(
        left: try reader.isAnythingLeft(), isReady: try reader.hasReadyFiles(without: without, leftOut: leftOut),
        isFetched: try reader.hasFetchedFiles(fetched),
        nextFileMs: try reader.nextDueMs(without: without, countsAborts: false),
        nextAbortMs: countsAborts ? try reader.nextAbortMs() : nil)
    }
  }

  private func isNothingLeft(_ found: Outlook) throws(TransferError) -> Bool {
    let (claims, aborts, wallMs) = (parts.claims, parts.aborts, engine.wallMs)
    if found.isFetched {
      claims.wake()
      return false
    }
    if found.isReady {
      // Files were added since the last empty claim, or wait for a host that is closed at the moment.
      if try parts.room.hasClaimableFiles() { claims.wake() } else { _ = try parts.closed.postpone() }
      return false
    }
    let settles = try settlesSoon()
    let dues = [found.nextFileMs, found.nextAbortMs].compactMap(\.self)
    guard let due = dues.min(), found.left.files || (found.left.aborts && aborts.hasPassesLeft) else { return !settles }
    if let nextAbort = found.nextAbortMs, nextAbort <= wallMs {
      aborts.beginPass(counts: true)
      return false
    }
    let awaitsAbort = found.nextAbortMs.map { $0 - wallMs <= parts.patience.abortMs } ?? false
    if due - wallMs > parts.patience.ms, !awaitsAbort {
      if settles { return false }
      parts.stop.end(for: parts.limits.leavesFiles ? .limit : .notDue)
      return true
    }
    claims.wake(atMs: max(due, wallMs))
    return false
  }

  /// Whether a source may settle soon enough to wait for.
  private func settlesSoon() throws(TransferError) -> Bool {
    guard let due = try parts.upkeep.awaitedMs() else { return false }
    return due - engine.bootMs <= parts.patience.ms
  }

  /// Why a run that ended without a stop request leaves files.
  func whyLeft(_ left: WorkLeft) -> StopCause? {
    if left.files > 0 {
      if parts.batches.hasOverdue { return .deadline }
      if !parts.batches.quotas.fullDisks.batches.isEmpty { return .notDue }
      return parts.batches.quotas.resting.isEmpty ? parts.limits.leavesFiles ? .limit : nil : .quota
    }
    return left.paused > 0 ? .paused : left.settling > 0 ? .settling : nil
  }
}
